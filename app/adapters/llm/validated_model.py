"""A vendor's chat model with this project's errors, whose replies are checked to be complete."""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from types import ModuleType
from typing import Any, ClassVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGenerationChunk, ChatResult

from app.adapters.llm.error_mapping import UNREADABLE, map_errors
from chains.errors import LLMReplyError, LLMUnavailableError

FINISH_REASON = "finish_reason"


class ValidatedModel(BaseChatModel):
    """Mixin; list it before the vendor's class. `vendor` is the client library.

    Raises:
        LLMReplyError: a reply without an answer, or one that cannot be read.
        LLMUnavailableError: a stream that ended before the answer did.
    """

    vendor: ClassVar[ModuleType]

    async def aclose(self) -> None:
        """Close the connections to the provider; the model cannot be called any more."""
        model = cast("Any", self)  # Both vendors' classes keep the clients under these names.
        model.http_client.close()
        await model.http_async_client.aclose()

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with map_errors(self.vendor):
            return _complete(super()._generate(*args, **kwargs))  # type: ignore[safe-super]

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        with map_errors(self.vendor):
            return _complete(await super()._agenerate(*args, **kwargs))

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        check = _StreamCheck()
        with map_errors(self.vendor):
            with closing(cast("Any", super()._stream(*args, **kwargs))) as chunks:
                yield from map(check.seen, chunks)
            check.end()

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        check = _StreamCheck()
        with map_errors(self.vendor):
            async with aclosing(cast("Any", super()._astream(*args, **kwargs))) as chunks:
                async for chunk in chunks:
                    yield check.seen(chunk)
            check.end()


def _complete(result: ChatResult) -> ChatResult:
    """Return the result, its finish reason where a stream's is."""
    if not result.generations:
        raise LLMReplyError(UNREADABLE)
    message = result.generations[0].message
    reason = ((result.generations[0].generation_info or {}) | message.response_metadata).get(FINISH_REASON)
    message.response_metadata.setdefault(FINISH_REASON, reason)
    return result


class _StreamCheck:
    """Whether a stream had chunks, and one that gave the finish reason."""

    def __init__(self) -> None:
        self._any = self._finished = False

    def seen(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk:
        """Return the chunk."""
        info = (chunk.generation_info or {}) | chunk.message.response_metadata
        self._any, self._finished = True, self._finished or bool(info.get(FINISH_REASON))
        return chunk

    def end(self) -> None:
        """Raise where the stream had no chunks, or ended too early."""
        if not self._any:
            raise LLMReplyError(UNREADABLE)
        if not self._finished:
            msg = "the language model's stream ended before its answer did; try again"
            raise LLMUnavailableError(msg)
