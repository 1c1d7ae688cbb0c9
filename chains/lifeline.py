"""A stream and a reader who may leave it -> what the call holds open is closed then, and not some time later.

LangChain leaves the generators of such a stream to the garbage collector; a connection to a language model, which goes
on writing and being paid, cannot wait for that.
"""

from contextlib import suppress
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler


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
