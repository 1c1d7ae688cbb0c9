"""Take messages from any thread without waiting, store them, and deliver them in order.

Two tasks: one stores what arrives, the other delivers what is stored. While the broker is away, only the second stops.
"""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, closing, suppress
from typing import Any, TypeVar

from app.ports import EventStore, EventStoreError, Message
from app.wings.events.analytics import Events, message
from app.wings.events.publisher import Publisher, publish
from chains.logs import get_logger
from chains.observers import Observer

log = get_logger(__name__)

T = TypeVar("T")
BATCH = 100
POLL_S = 0.5  # How often the store is read for what other processes left there.


class Outbox:
    """Stores messages in what `open_store` opens, and delivers them in order, at least once.

    Up to `capacity` wait in memory until they are stored. A message whose confirm was lost is sent again, under the
    same id. When the outbox closes, it delivers what is left for at most `flush_s`; the rest waits in the store for the
    next start.

    Attributes:
        sent: Messages that the broker has confirmed.
        dropped: The oldest messages, dropped because the store was full, and those that could not be stored.
    """

    def __init__(
        self,
        open_store: Callable[[], EventStore],
        publisher: Publisher,
        *,
        capacity: int,
        flush_s: float = 5,
        pause_s: float = 0.25,
        max_pause_s: float = 5,
    ) -> None:
        self._open_store, self._publisher, self._capacity = open_store, publisher, capacity
        self._flush_s, self._pause_s, self._max_pause_s = flush_s, pause_s, max_pause_s
        self._arrivals: deque[Message] = deque(maxlen=capacity)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failures = self._stored = 0
        self.sent = self.dropped = 0

    @property
    def waiting(self) -> int:
        """Return the number of messages that the broker has not confirmed yet."""
        return len(self._arrivals) + self._stored

    def check(self) -> str:
        """Open the store once, and say where messages wait.

        Raises:
            ConfigurationError: the store cannot be used.
            EventStoreError: it does not answer now.
        """
        with closing(self._open_store()) as store:
            return store.check()

    async def ping(self, *, timeout_s: float) -> None:
        """Ask the broker; what `Publisher.ping` raises says that it does not answer."""
        await self._publisher.ping(timeout_s=timeout_s)

    def publish(self, event: str, payload: dict[str, Any], *, correlation_id: str) -> None:
        """Take an event, from any thread."""
        self.submit(message(event, payload, correlation_id=correlation_id))

    def leave(self, event: str, payload: dict[str, Any], *, correlation_id: str) -> None:
        """Publish an event, or, where nothing runs, store it for the next process that delivers."""
        if self._loop is not None:
            self.publish(event, payload, correlation_id=correlation_id)
            return
        with closing(self._open_store()) as store:
            store.put([message(event, payload, correlation_id=correlation_id)])

    def observer(self, model: str) -> Observer:
        """Return what publishes the events of each call; `model` is the one asked where a call names none."""
        return Events(self.submit, model=model)

    def submit(self, message: Message) -> None:
        """Take the message, from any thread; an outbox that is not running drops it."""
        with self._lock:
            if self._loop is None:
                return
            self.dropped += len(self._arrivals) == self._capacity
            self._arrivals.append(message)
            self._loop.call_soon_threadsafe(self._arrived.set)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Store and deliver while the body runs.

        Raises:
            ConfigurationError: the store cannot be opened.
        """
        self._arrived, self._changed, self._closing = asyncio.Event(), asyncio.Event(), asyncio.Event()
        with ThreadPoolExecutor(1, thread_name_prefix="events") as self._thread:
            self._store = await self._in_thread(self._open_store)
            storing = asyncio.create_task(self._keep_storing())
            sending = asyncio.create_task(self._keep_sending(storing))
            self._loop = asyncio.get_running_loop()
            try:
                yield
            finally:
                await self._finish(storing, sending)
                await self._in_thread(self._store.close)

    async def _finish(self, *tasks: asyncio.Task[None]) -> None:
        with self._lock:
            self._loop = None
        self._closing.set()
        self._arrived.set()
        await asyncio.wait(tasks, timeout=self._flush_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.waiting:
            log.warning("events_left_for_the_next_start", waiting=self.waiting)

    async def _keep_storing(self) -> None:
        while not self._closing.is_set() or self._arrivals:
            await self._arrived.wait()
            self._arrived.clear()
            if batch := self._take():
                await self._put(batch)
        self._changed.set()

    def _take(self) -> list[Message]:
        with self._lock:
            batch = list(self._arrivals)
            self._arrivals.clear()
            self._stored += len(batch)
        return batch

    async def _put(self, batch: list[Message]) -> None:
        """Store the messages, again and again where the store refuses; what arrives meanwhile waits in memory."""
        while True:
            try:
                dropped, self._stored = await self._in_thread(lambda: (self._store.put(batch), self._store.count()))
            except EventStoreError as error:
                log.warning("events_cannot_be_stored", error=str(error), waiting=self.waiting)
                dropped = len(batch)
                if not await _set_within(self._closing, self._max_pause_s):
                    continue
            self.dropped += dropped
            self._changed.set()
            return

    async def _keep_sending(self, storing: asyncio.Task[None]) -> None:
        """Deliver, unless another process does; after a failure, over a new connection."""
        while True:
            try:
                if await self._in_thread(self._store.claim):
                    await self._deliver(storing)
                    return
                self._stored = await self._in_thread(self._store.count)
                self._failures = 0
            except Exception as error:  # Whatever it was: the messages are stored, and it may pass.
                if self._failures == 0:
                    log.warning("events_wait", error=type(error).__name__, waiting=self.waiting)
                self._failures += 1
            if self._closing.is_set():
                return
            await _set_within(self._closing, self._pause())

    async def _deliver(self, storing: asyncio.Task[None]) -> None:
        async with self._publisher.connected() as exchange:
            while True:
                self._changed.clear()
                if batch := await self._in_thread(lambda: self._store.first(BATCH)):
                    await publish(exchange, batch)
                    await self._remove_through(batch[-1].id)
                elif storing.done():
                    return
                else:
                    await _set_within(self._changed, POLL_S)
                if self._failures:
                    log.info("events_flow_again", waiting=self.waiting)
                self._failures = 0

    async def _remove_through(self, id_: str) -> None:
        removed, self._stored = await self._in_thread(lambda: (self._store.remove_through(id_), self._store.count()))
        self.sent += removed

    def _pause(self) -> float:
        if not self._failures:
            return POLL_S
        return min(self._max_pause_s, self._pause_s * 2.0 ** min(self._failures, 16))

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run it in the store's own thread: the event loop never waits for disk or database."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
