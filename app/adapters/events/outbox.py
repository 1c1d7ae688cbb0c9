"""Messages from any thread -> the broker, in order; whoever hands one over never waits.

Two tasks: one writes what came to the store on disk, the other delivers from there. While the broker is away, only the
second stands still.
"""

import asyncio
import sqlite3
import threading
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import structlog

from app.adapters.events.disk import Disk
from app.adapters.events.message import Message
from app.adapters.events.publisher import Link, Publisher
from app.adapters.events.store import EventStore

log = structlog.get_logger(__name__)

BATCH = 100
CONFIRM_S = 30
LOOK_S = 0.5  # How often the store is looked at for what other processes left: messages, and the delivery itself.


class Outbox:
    """Takes messages at once, keeps at most `capacity` in the file at `path`, and delivers them in order.

    At the end of its life it delivers what is left for at most `flush_s`; the rest waits on disk for the next start.

    Attributes:
        sent: Messages that the broker has confirmed.
        dropped: Messages that had to go, the oldest first, because the store was full.
    """

    def __init__(
        self,
        path: Path,
        publisher: Publisher,
        *,
        capacity: int,
        flush_s: float = 5,
        pause_s: float = 0.25,
        longest_pause_s: float = 5,
    ) -> None:
        self._path = path
        self._publisher = publisher
        self._capacity = capacity
        self._flush_s = flush_s
        self._pause_s = pause_s
        self._longest_pause_s = longest_pause_s
        self._arrivals: deque[Message] = deque(maxlen=capacity)
        self._arriving = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._failures = 0
        self._on_disk = 0
        self.sent = 0
        self.dropped = 0

    @property
    def waiting(self) -> int:
        """Return the number of messages that the broker does not have yet."""
        return len(self._arrivals) + self._on_disk

    def put(self, message: Message) -> None:
        """Take the message, from any thread; outside of its life the outbox lets it go."""
        with self._arriving:
            if self._loop is None:
                return
            self.dropped += len(self._arrivals) == self._capacity
            self._arrivals.append(message)
            self._loop.call_soon_threadsafe(self._arrived.set)

    def check(self) -> None:
        """Open the file once.

        Raises:
            ConfigurationError: the file cannot be used.
        """
        EventStore(self._path, capacity=self._capacity).close()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Keep and deliver while the body runs.

        Raises:
            ConfigurationError: the file cannot be used.
        """
        with ThreadPoolExecutor(1, thread_name_prefix="events") as thread:
            disk = await Disk.open(thread, self._path, capacity=self._capacity)
            self._arrived, self._kept, self._closing = asyncio.Event(), asyncio.Event(), asyncio.Event()
            keeping = asyncio.create_task(self._keep(disk))
            sending = asyncio.create_task(self._send(disk, keeping))
            self._loop = asyncio.get_running_loop()
            try:
                yield
            finally:
                await self._end(keeping, sending)
                await disk.close()

    async def _end(self, *tasks: asyncio.Task[None]) -> None:
        with self._arriving:
            self._loop = None
        self._closing.set()
        self._arrived.set()
        await asyncio.wait(tasks, timeout=self._flush_s)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.waiting:
            log.warning("events_left_for_the_next_start", waiting=self.waiting)

    async def _keep(self, disk: Disk) -> None:
        """Write to disk whatever arrives, until the outbox closes."""
        while not self._closing.is_set() or self._arrivals:
            await self._arrived.wait()
            self._arrived.clear()
            if batch := self._take():
                await self._write(disk, batch)
        self._kept.set()

    def _take(self) -> list[Message]:
        with self._arriving:
            batch = list(self._arrivals)
            self._arrivals.clear()
            self._on_disk += len(batch)
        return batch

    async def _write(self, disk: Disk, batch: list[Message]) -> None:
        """Write the messages, again and again where the disk refuses; what comes meanwhile waits in memory."""
        while True:
            try:
                dropped, self._on_disk = await disk.put(batch)
            except sqlite3.Error as error:
                log.warning("events_cannot_be_kept", error=str(error), waiting=self.waiting)
                dropped = len(batch)
                if not await self._closes_within(self._longest_pause_s):
                    continue
            self.dropped += dropped
            self._kept.set()
            return

    async def _send(self, disk: Disk, keeping: asyncio.Task[None]) -> None:
        """Deliver, where no other process does, until the outbox closes; after a failure, from a new connection."""
        while True:
            try:
                if await disk.claim():
                    async with self._publisher.link(disk.name) as link:
                        await self._deliver(disk, link, keeping)
                    return
                self._on_disk = await disk.count()
            except Exception as error:  # Whatever it was: the messages are on disk, and it may pass.
                self._failed(error)
            if self._closing.is_set():
                return
            await self._closes_within(self._pause())

    async def _deliver(self, disk: Disk, link: Link, keeping: asyncio.Task[None]) -> None:
        """Send from disk in order until nothing can come any more, but first clear up what arrived before."""
        if (receipt := await link.receipt()) is not None:
            await self._settle(disk, receipt)
        while True:
            self._kept.clear()
            if batch := await disk.first(BATCH):
                async with asyncio.timeout(CONFIRM_S):
                    await link.publish(batch)
                await self._settle(disk, batch[-1].id)
            elif keeping.done():
                return
            else:
                await _set_within(self._kept, LOOK_S)
            self._succeeded()

    async def _settle(self, disk: Disk, id_: str) -> None:
        settled, self._on_disk = await disk.settle(id_)
        self.sent += settled

    def _failed(self, error: Exception) -> None:
        if self._failures == 0:
            log.warning("events_wait", error=type(error).__name__, waiting=self.waiting)
        self._failures += 1

    def _succeeded(self) -> None:
        if self._failures:
            log.info("events_flow_again", waiting=self.waiting)
        self._failures = 0

    def _pause(self) -> float:
        return min(self._longest_pause_s, self._pause_s * 2 ** min(self._failures, 16)) if self._failures else LOOK_S

    async def _closes_within(self, seconds: float) -> bool:
        return await _set_within(self._closing, seconds)


async def _set_within(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()
