"""Group the chunks of a model's stream into pieces: the first at once, then what has come within 20 ms.

A model writes a chunk for each word or less, and each piece costs its way to the reader: 200 words become some 30
pieces, which reads as fluently.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from chains.callbacks import register

PIECE_S = 0.02
MOST_UNREAD = 64

Chunk = TypeVar("Chunk")


def pieces(chunks: Iterator[Chunk], now: Callable[[], float]) -> Iterator[list[Chunk]]:
    """Yield the chunks in pieces. What came after a piece waits for the first chunk past its 20 ms, or for the end."""
    held: list[Chunk] = []
    due = float("-inf")
    for chunk in chunks:
        held.append(chunk)
        if now() >= due:
            yield held
            held, due = [], now() + PIECE_S
    if held:
        yield held


async def apieces(
    chunks: AsyncIterator[Chunk], callbacks: Any, limit: AbstractAsyncContextManager[None]
) -> AsyncIterator[list[Chunk]]:
    """Yield the chunks in pieces; they are read within `limit`.

    They are read in a task of their own. It is at most `MOST_UNREAD` chunks ahead of the reader, and it is cancelled
    once when the reader leaves: a web server cancels a stream again and again until it has ended, and would break off
    what closes the connection to the model.
    """
    held: list[Chunk] = []
    news, room = asyncio.Event(), asyncio.Event()

    async def read() -> None:
        async with limit:
            async for chunk in chunks:
                held.append(chunk)
                news.set()
                if len(held) >= MOST_UNREAD:
                    room.clear()
                    await room.wait()

    reading = asyncio.create_task(read())
    reading.add_done_callback(lambda _: news.set())
    register(callbacks, reading.cancel)
    try:
        while held or not reading.done():
            await news.wait()
            news.clear()
            if held:
                piece, held[:] = held[:], []
                room.set()
                yield piece
                await asyncio.wait((reading,), timeout=PIECE_S)
        await reading
    finally:
        reading.cancel()
        await asyncio.wait((reading,))  # A wait can be cancelled without the task that it is for.
