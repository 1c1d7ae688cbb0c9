"""A ChatGroq that closes its streams when they are left, and reads them as plain data.

ChatGroq leaves the stream of Groq's client to the garbage collector, so the provider would go on writing to a reader
who has left. Groq's client also makes a model of each chunk, which ChatGroq turns back into a dict: a quarter of what
a stream costs. This module relies on ChatGroq calling only `create` of its `client`;
`tests/app/adapters/llm/test_groq_compat.py` fails where that changes.
"""

from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, ExitStack
from types import SimpleNamespace
from typing import Any

from groq import AsyncStream, Stream
from langchain_core.outputs import ChatGenerationChunk
from langchain_groq import ChatGroq


class ClosingChatGroq(ChatGroq):
    """ChatGroq whose streams are closed when they are left."""

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        with ExitStack() as opened:

            def create(**options: Any) -> Any:
                response = self.client.with_raw_response.create(**options)
                return opened.enter_context(response.parse(to=Stream[object]))

            model = self.model_copy(update={"client": SimpleNamespace(create=create)})
            yield from ChatGroq._stream(model, *args, **kwargs)

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        async with AsyncExitStack() as opened:

            async def create(**options: Any) -> Any:
                response = await self.async_client.with_raw_response.create(**options)
                return await opened.enter_async_context(await response.parse(to=AsyncStream[object]))

            model = self.model_copy(update={"async_client": SimpleNamespace(create=create)})
            async for chunk in ChatGroq._astream(model, *args, **kwargs):
                yield chunk
