"""Run one call for equal calls at the same time, and stream its parts to all callers."""

import asyncio
import copy
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from typing import Generic, TypeVar

from chains.errors import WaypointError

Part = TypeVar("Part")


class SingleFlight(Generic[Part]):
    """The calls that are under way, by event loop and key.

    A call runs in a task of its own: a reader that is slow, or leaves, holds nobody up. When the last reader has left,
    the call is cancelled.
    """

    def __init__(self) -> None:
        self._calls: dict[tuple[asyncio.AbstractEventLoop, str], _Call[Part]] = {}

    @contextmanager
    def join(self, key: str, source: Callable[[], AsyncGenerator[Part]]) -> Iterator[tuple[AsyncIterator[Part], bool]]:
        """Give the parts of the call that computes `key`, and whether it is new: then `source` computes it.

        Reading the parts of a call that was cancelled raises WaypointError; else any error of `source` itself.
        """
        place = (asyncio.get_running_loop(), key)
        call = self._calls.get(place)
        is_new = call is None or call.task.done()
        if call is None or is_new:
            call = self._calls[place] = _Call(source)
            call.task.add_done_callback(lambda _: self._forget(place, call))
        call.readers += 1
        try:
            yield call.read(), is_new
        finally:
            call.readers -= 1
            if not call.readers:
                self._forget(place, call)
                call.task.cancel()

    def _forget(self, place: tuple[asyncio.AbstractEventLoop, str], call: "_Call[Part]") -> None:
        if self._calls.get(place) is call:
            del self._calls[place]


class _Call(Generic[Part]):
    """The parts of one call so far, for any number of readers, each from the beginning."""

    def __init__(self, source: Callable[[], AsyncGenerator[Part]]) -> None:
        self.readers = 0
        self._parts: list[Part] = []
        self._changed = asyncio.Event()
        self.task = asyncio.get_running_loop().create_task(self._run(source))
        self.task.add_done_callback(lambda _: self._announce())

    async def read(self) -> AsyncIterator[Part]:
        """Yield the parts as they come; what a reader does to its copy reaches no other."""
        read = 0
        while read < len(self._parts) or not self.task.done():
            if read == len(self._parts):
                await self._changed.wait()
                continue
            yield copy.deepcopy(self._parts[read])
            read += 1
        if self.task.cancelled():
            raise WaypointError("the answer was cancelled; ask again")
        self.task.result()

    async def _run(self, source: Callable[[], AsyncGenerator[Part]]) -> None:
        async with aclosing(source()) as parts:
            async for part in parts:
                self._parts.append(part)
                self._announce()

    def _announce(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
