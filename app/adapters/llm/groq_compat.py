"""A ChatGroq that closes its streams when they are left, and reads them as plain data.

ChatGroq leaves the stream of Groq's client to the garbage collector, so the provider would go on writing to a reader
who has left. Groq's client also makes a model of each chunk, which ChatGroq turns back into a dict: a quarter of what
a stream costs. This module relies on ChatGroq calling only `create` of its `client`;
`tests/app/adapters/llm/test_groq_compat.py` fails where that changes.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, closing
from typing import Any

from groq import AsyncStream, Stream
from langchain_core.outputs import ChatGenerationChunk
from langchain_groq import ChatGroq


class ClosingChatGroq(ChatGroq):
    """ChatGroq whose streams are closed when they are left."""

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        with closing(_ClosingCompletions(self.client)) as completions:
            yield from ChatGroq._stream(self.model_copy(update={"client": completions}), *args, **kwargs)

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        async with aclosing(_AsyncClosingCompletions(self.async_client)) as completions:
            model = self.model_copy(update={"async_client": completions})
            async for chunk in ChatGroq._astream(model, *args, **kwargs):
                yield chunk


class _ClosingCompletions:
    """Opens a stream by Groq's `completions`, and closes it."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions
        self._stream: Any = None

    def create(self, **options: Any) -> Any:
        self._stream = self._completions.with_raw_response.create(**options).parse(to=Stream[object])
        return self._stream

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()


class _AsyncClosingCompletions:
    """Opens a stream by Groq's asynchronous `completions`, and closes it."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions
        self._stream: Any = None

    async def create(self, **options: Any) -> Any:
        response = await self._completions.with_raw_response.create(**options)
        self._stream = await response.parse(to=AsyncStream[object])
        return self._stream

    async def aclose(self) -> None:
        if self._stream is not None:
            await self._stream.close()
