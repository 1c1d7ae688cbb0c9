"""Groq's chat completions -> the same, their streams read as plain data and closed at the end.

LangChain iterates over Groq's stream and leaves it to the garbage collector: a reader who leaves would be written to
for as long as that takes. Here the stream is closed in the moment in which it is left. And Groq's client makes a model
of each word that comes, which LangChain makes plain data again: a quarter of what a stream costs. Here it stays so.
"""

from typing import Any, Self

from groq import AsyncStream, Stream


class Kept:
    """Opens streams by `completions`, and closes the last one when the body ends."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions
        self._stream: Any = None

    def create(self, **options: Any) -> Any:
        """Return the stream of the events' data."""
        self._stream = self._completions.with_raw_response.create(**options).parse(to=Stream[object])
        return self._stream

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        if self._stream is not None:
            self._stream.close()


class AsyncKept:
    """The same for calls that await."""

    def __init__(self, completions: Any) -> None:
        self._completions = completions
        self._stream: Any = None

    async def create(self, **options: Any) -> Any:
        """Return the stream of the events' data."""
        response = await self._completions.with_raw_response.create(**options)
        self._stream = await response.parse(to=AsyncStream[object])
        return self._stream

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._stream is not None:
            await self._stream.close()
