"""A stream and a reader who may leave it -> what the call holds open is closed then, and not some time later.

LangChain leaves the generators of such a stream to the garbage collector; a connection to a language model, which goes
on writing and being paid, cannot wait for that.
"""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from chains.around import Around

_END = object()


class Lifeline(BaseCallbackHandler):
    """Knows the streams that one call holds open; it is found, like the lap timer, among the call's callbacks."""

    run_inline = True

    def __init__(self) -> None:
        self.streams: list[Any] = []

    def cut(self) -> None:
        """Close the streams that are still open."""
        for stream in self.streams:
            with suppress(RuntimeError, ValueError):  # One that is running is closed by what stops it.
                stream.close()

    async def acut(self) -> None:
        """Close the streams that are still open."""
        for stream in self.streams:
            with suppress(RuntimeError):
                await stream.aclose()


def hold(callbacks: Any, stream: Any) -> None:
    """Have a generator closed when the reader of the call leaves to which the `callbacks` belong."""
    for handler in getattr(callbacks, "handlers", ()):
        if isinstance(handler, Lifeline):
            handler.streams.append(stream)


class Attended(Around):
    """The bound chain, whose streams hold nothing open once they are left."""

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Yield the answer's parts as they come."""
        lifeline = Lifeline()
        # LangChain reads the inputs of a stream that is left to their end: they have to be closed before the stream is,
        # which therefore has a name here.
        parts = super().stream(input, merge_configs(config, {"callbacks": [lifeline]}), **kwargs)
        try:
            for part in parts:
                yield part
        finally:
            lifeline.cut()

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield the answer's parts as they come.

        They are read in a task of their own, which is cancelled once when the reader leaves. A web server cancels a
        stream again and again until it has ended, and would so break off what closes the connection to the model.
        """
        parts: asyncio.Queue[Any] = asyncio.Queue()
        reading = asyncio.create_task(self._read(parts, input, config, **kwargs))
        try:
            while (part := await parts.get()) is not _END:
                yield part
            await reading
        finally:
            reading.cancel()

    async def _read(self, parts: asyncio.Queue[Any], input: Any, config: RunnableConfig | None, **kwargs: Any) -> None:
        lifeline = Lifeline()
        try:
            async for part in super().astream(input, merge_configs(config, {"callbacks": [lifeline]}), **kwargs):
                parts.put_nowait(part)
        finally:
            await lifeline.acut()
            parts.put_nowait(_END)
