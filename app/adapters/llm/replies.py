"""What a client library read -> the same, or the error that it is not whole."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any, cast

from langchain_core.outputs import ChatGenerationChunk, ChatResult

from app.adapters.llm.error_mapping import UNREADABLE
from chains.errors import LLMReplyError, LLMUnavailableError

FINISH_REASON = "finish_reason"


def complete(result: ChatResult) -> ChatResult:
    """Return the result.

    Raises:
        LLMReplyError: it holds no answer.
    """
    if not result.generations:
        raise LLMReplyError(UNREADABLE)
    message = result.generations[0].message
    reason = ((result.generations[0].generation_info or {}) | message.response_metadata).get(FINISH_REASON)
    message.response_metadata.setdefault(FINISH_REASON, reason)
    return result


def whole(chunks: Iterator[ChatGenerationChunk]) -> Iterator[ChatGenerationChunk]:
    """Yield the chunks, and close the stream when they are left.

    Raises:
        LLMReplyError: there was none.
        LLMUnavailableError: the stream ended before the answer did.
    """
    seen, finished = False, False
    with closing(cast("Any", chunks)):
        for chunk in chunks:
            seen, finished = True, finished or is_last(chunk)
            yield chunk
    _check(seen, finished)


async def awhole(chunks: AsyncIterator[ChatGenerationChunk]) -> AsyncIterator[ChatGenerationChunk]:
    """Yield the chunks, and close the stream when they are left; errors as in `whole`."""
    seen, finished = False, False
    async with aclosing(cast("Any", chunks)):
        async for chunk in chunks:
            seen, finished = True, finished or is_last(chunk)
            yield chunk
    _check(seen, finished)


def is_last(chunk: ChatGenerationChunk) -> bool:
    """Return whether the provider says with this chunk why it stopped."""
    return bool(chunk.message.response_metadata.get(FINISH_REASON) or (chunk.generation_info or {}).get(FINISH_REASON))


def _check(seen: bool, finished: bool) -> None:
    if not seen:
        raise LLMReplyError(UNREADABLE)
    if not finished:
        msg = "the language model's stream ended before its answer did; try again"
        raise LLMUnavailableError(msg)
