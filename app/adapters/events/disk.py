"""The store -> the same, awaited: it works in a thread of its own, so that the event loop never waits for the disk."""

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from functools import partial
from pathlib import Path
from typing import TypeVar

from app.adapters.events.message import Message
from app.adapters.events.store import EventStore

T = TypeVar("T")


class Disk:
    """A store and the `thread` that it lives in; what changes it also tells how many messages there are then."""

    def __init__(self, thread: Executor, store: EventStore) -> None:
        self._thread = thread
        self._store = store
        self.name = store.name

    @classmethod
    async def open(cls, thread: Executor, path: Path, *, capacity: int) -> "Disk":
        """Open the store.

        Raises:
            ConfigurationError: the file cannot be used.
        """
        store = await _in(thread, partial(EventStore, path, capacity=capacity))
        return cls(thread, store)

    async def put(self, messages: Sequence[Message]) -> tuple[int, int]:
        """Keep the messages; return how many had to go for them, and how many there are."""
        return await self._do(lambda store: (store.put(messages), store.count()))

    async def first(self, limit: int) -> list[Message]:
        """Return the oldest messages, at most `limit`."""
        return await self._do(lambda store: store.first(limit))

    async def settle(self, id_: str) -> tuple[int, int]:
        """Take out a message and all before it; return how many these were, and how many are left."""
        return await self._do(lambda store: (store.settle(id_), store.count()))

    async def count(self) -> int:
        """Return the number of messages."""
        return await self._do(EventStore.count)

    async def claim(self) -> bool:
        """Return whether this process is the one that delivers."""
        return await self._do(EventStore.claim)

    async def close(self) -> None:
        """Close the file, and leave the delivery to another process."""
        await self._do(EventStore.close)

    async def _do(self, work: Callable[[EventStore], T]) -> T:
        return await _in(self._thread, partial(work, self._store))


async def _in(thread: Executor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(thread, work)
