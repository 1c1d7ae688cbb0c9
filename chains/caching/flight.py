"""Equal calls at the same time -> one call, whose parts reach all of them as they come.

The call runs by itself, in a task or a thread: a reader that is slow, or leaves, holds nobody up. When the last reader
has left, it is stopped. Calls with and without an event loop share it.
"""

import asyncio
import copy
import threading
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator
from contextlib import aclosing, closing, contextmanager, suppress
from contextvars import copy_context
from typing import Generic, TypeVar

from chains.errors import WaypointError

Part = TypeVar("Part")


class Flight(Generic[Part]):
    """The parts of one call so far, for any number of readers, each from the beginning."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.readers = 0
        self.left = threading.Event()
        self.stop: Callable[[], None] = self.left.set
        self._parts: list[Part] = []
        self._ended = False
        self._error: BaseException | None = None
        self._news = threading.Condition()
        self._sleepers: list[Callable[[], object]] = []

    def add(self, part: Part) -> None:
        """Hand a part to the readers."""
        with self._news:
            self._parts.append(part)
            self._wake()

    def end(self, error: BaseException | None = None) -> None:
        """Tell the readers that no more comes, because all is said or because of an error."""
        with self._news:
            self._ended, self._error = True, error
            self._wake()

    def read(self) -> Iterator[Part]:
        """Yield the parts as they come, and raise what broke the call off."""
        place, ended = 0, False
        while not ended:
            with self._news:
                while not self._ended and len(self._parts) == place:
                    self._news.wait()
                parts, ended = self._parts[place:], self._ended
            place += len(parts)
            yield from map(copy.deepcopy, parts)  # What one reader does to its own reaches no other.
        self._raise()

    async def aread(self) -> AsyncIterator[Part]:
        """Yield the same without blocking the event loop."""
        place, ended = 0, False
        while not ended:
            news = asyncio.Event()
            with self._news:
                parts, ended = self._parts[place:], self._ended
                if not parts and not ended:
                    self._sleepers.append(_from_any_thread(news.set))
            if not parts and not ended:
                await news.wait()
            place += len(parts)
            for part in parts:
                yield copy.deepcopy(part)
        self._raise()

    def _wake(self) -> None:
        self._news.notify_all()
        for wake in self._sleepers:
            wake()
        self._sleepers = []

    def _raise(self) -> None:
        if isinstance(self._error, asyncio.CancelledError):
            msg = "the answer was broken off; ask again"
            raise WaypointError(msg) from self._error
        if self._error is not None:
            raise self._error


class Flights(Generic[Part]):
    """The calls that are under way, by what they ask."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._flights: dict[str, Flight[Part]] = {}
        self._tasks: set[asyncio.Task[None]] = set()  # The event loop itself holds its tasks weakly.

    @contextmanager
    def boarded(self, key: str, source: Callable[[], Generator[Part]]) -> Iterator[tuple[Flight[Part], bool]]:
        """Give the flight of `key` for the body to read, and whether it is new: then it brings what `source` yields."""
        # Whoever blocks the event loop cannot wait for what runs in it.
        with self._seat(f"{key} blocking" if _in_event_loop() else key) as (flight, leads):
            if leads:
                self._start(flight, source)
            yield flight, leads

    @contextmanager
    def aboarded(self, key: str, source: Callable[[], AsyncGenerator[Part]]) -> Iterator[tuple[Flight[Part], bool]]:
        """Do the same in an event loop."""
        with self._seat(key) as (flight, leads):
            if leads:
                self._astart(flight, source)
            yield flight, leads

    @contextmanager
    def _seat(self, key: str) -> Iterator[tuple[Flight[Part], bool]]:
        with self._lock:
            leads = key not in self._flights
            flight = self._flights.setdefault(key, Flight(key))
            flight.readers += 1
        try:
            yield flight, leads
        finally:
            with self._lock:
                flight.readers -= 1
                deserted = flight.readers == 0
                if deserted:
                    self._forget(flight)
            if deserted:
                flight.stop()

    def _start(self, flight: Flight[Part], source: Callable[[], Generator[Part]]) -> None:
        thread = threading.Thread(target=copy_context().run, args=(self._fly, flight, source), daemon=True)
        try:
            thread.start()
        except RuntimeError as error:  # The system has no more threads.
            self._land(flight, error)

    def _astart(self, flight: Flight[Part], source: Callable[[], AsyncGenerator[Part]]) -> None:
        task = asyncio.get_running_loop().create_task(self._afly(flight, source))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        flight.stop = _from_any_thread(task.cancel)

    def _fly(self, flight: Flight[Part], source: Callable[[], Generator[Part]]) -> None:
        try:
            with closing(source()) as parts:
                for part in parts:
                    flight.add(part)
                    if flight.left.is_set():
                        break
        except BaseException as error:  # Whatever it was, the readers raise it.
            self._land(flight, error)
        else:
            self._land(flight)

    async def _afly(self, flight: Flight[Part], source: Callable[[], AsyncGenerator[Part]]) -> None:
        try:
            async with aclosing(source()) as parts:
                async for part in parts:
                    flight.add(part)
        except BaseException as error:
            self._land(flight, error)
            if isinstance(error, asyncio.CancelledError):
                raise
        else:
            self._land(flight)

    def _land(self, flight: Flight[Part], error: BaseException | None = None) -> None:
        """Take the flight off the list, then tell its readers: who asks from now on asks anew."""
        with self._lock:
            self._forget(flight)
        flight.end(error)

    def _forget(self, flight: Flight[Part]) -> None:
        if self._flights.get(flight.key) is flight:
            del self._flights[flight.key]


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _from_any_thread(action: Callable[[], object]) -> Callable[[], None]:
    """Return what does the action in the running event loop, if that is still open."""
    loop = asyncio.get_running_loop()

    def act() -> None:
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(action)

    return act
