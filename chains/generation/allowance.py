"""How long a reply may become: a few times the tokens that were asked for. One that goes on is ended there.

A provider is told the most tokens of a reply. One that does not keep to it, by mistake or on purpose, could write
until the time for the question is over, and all of it would be kept.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import Any

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from chains.logs import get_logger

log = get_logger(__name__)

# Tokens are estimated, and some providers do not count what a model thinks aloud.
TOLERANCE = 8
CHARACTERS_PER_TOKEN = 4
TOO_LONG = {"finish_reason": "length"}


class Allowance:
    """What is left of the tokens of one reply; each chunk counts as one token at least."""

    def __init__(self, max_tokens: int) -> None:
        self._left = float(TOLERANCE * max_tokens)

    def covers(self, chunk: ChatGenerationChunk) -> bool:
        """Take the chunk's tokens, and return whether there were as many left."""
        self._left -= max(1.0, len(chunk.text) / CHARACTERS_PER_TOKEN)
        return self._left >= 0


def within(chunks: Iterator[ChatGenerationChunk], max_tokens: int) -> Iterator[ChatGenerationChunk]:
    """Yield the chunks of a stream as far as the allowance goes, then one with the finish reason `length`."""
    allowance = Allowance(max_tokens)
    for chunk in chunks:
        if not allowance.covers(chunk):
            yield _end(max_tokens)
            return
        yield chunk


async def awithin(chunks: AsyncIterator[ChatGenerationChunk], max_tokens: int) -> AsyncGenerator[ChatGenerationChunk]:
    """Yield the chunks of a stream as far as the allowance goes, then one with the finish reason `length`."""
    allowance = Allowance(max_tokens)
    async for chunk in chunks:
        if not allowance.covers(chunk):
            yield _end(max_tokens)
            return
        yield chunk


def cut(result: ChatResult, max_tokens: int) -> ChatResult:
    """Return the result with a message that is no longer than the allowance."""
    most = TOLERANCE * max_tokens * CHARACTERS_PER_TOKEN
    if all(len(one.message.text) <= most for one in result.generations):
        return result
    log.warning("reply_cut", max_tokens=max_tokens)
    generations = [ChatGeneration(message=_shortened(one.message, most)) for one in result.generations]
    return ChatResult(generations=generations, llm_output=result.llm_output)


def _shortened(message: BaseMessage, most: int) -> BaseMessage:
    metadata: dict[str, Any] = message.response_metadata | TOO_LONG
    return message.model_copy(update={"content": message.text[:most], "response_metadata": metadata})


def _end(max_tokens: int) -> ChatGenerationChunk:
    log.warning("reply_cut", max_tokens=max_tokens)
    return ChatGenerationChunk(message=AIMessageChunk(content="", response_metadata=dict(TOO_LONG)))
