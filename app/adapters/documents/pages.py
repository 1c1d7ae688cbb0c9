"""Show pages of PDF files: pictures, and places of quoted words; a slow page holds up only the pages behind it."""

import asyncio
import hashlib
import json
from base64 import b64decode
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cachetools import LRUCache, TTLCache

from app.adapters.documents.process import LimitedProcess
from chains.caching.single_flight import SingleFlight
from chains.errors import WaypointError

MOST_WAITING = 8  # Tasks, while all workers are busy.


class PagesBusyError(WaypointError):
    """More pages are asked for than may wait."""

    stage = "pages"


CACHE_BYTES = 32 * 2**20
BOX_BYTES = 200
# What could not be drawn is not tried again for so long: it may take its ten seconds each time.
FAILED_S = 600
MOST_FAILURES = 1000
# While one is busy with a slow page, the other draws.
WORKERS = 2

Reply = dict[str, Any]


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """A page of a file, counted from 1, and the words of its chunks, by which it is known to be the same page still."""

    path: Path
    number: int
    chunks: Sequence[str]

    def state(self) -> str | None:
        """Return what changes whenever the file or the chunks do; None where the file is gone."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        known = [str(self.path), found.st_mtime_ns, found.st_size, self.number, *self.chunks]
        return hashlib.sha256(json.dumps(known).encode()).hexdigest()


@dataclass
class PdfPages:
    """Draws pages in worker processes; each page may take `timeout_s` of the processor and `memory_mb`.

    What is returned is None where the file is gone or no longer has the page that was indexed, or cannot be drawn.
    Equal requests at the same time are one task. Pictures and failures are remembered until the file changes.
    """

    timeout_s: float
    memory_mb: int
    _workers: list[LimitedProcess] = field(init=False)
    _idle: asyncio.Queue[LimitedProcess] = field(default_factory=asyncio.Queue, init=False)
    _waiting: int = field(default=0, init=False)
    _calls: SingleFlight[Reply | None] = field(default_factory=SingleFlight, init=False)
    _replies: LRUCache[str, Reply] = field(default_factory=lambda: LRUCache(CACHE_BYTES, getsizeof=_bytes), init=False)
    _failures: TTLCache[str, bool] = field(default_factory=lambda: TTLCache(MOST_FAILURES, FAILED_S), init=False)

    def __post_init__(self) -> None:
        module = f"{__package__}.page_worker"
        self._workers = [LimitedProcess(module, self.timeout_s, self.memory_mb) for _ in range(WORKERS)]
        for worker in self._workers:
            self._idle.put_nowait(worker)

    async def picture(self, page: IndexedPage, width: int) -> bytes | None:
        """Return the page as PNG, `width` pixels wide. Raise PagesBusyError if too many pages wait already."""
        reply = await self._reply(page, width=width)
        return None if reply is None else b64decode(reply["png"])

    async def words(self, page: IndexedPage, quote: str) -> dict[str, Any] | None:
        """Return how many `pages` there are, `width` and `height` of this one in points, and the boxes of the `words`.

        A box is left, top, width and height, in parts of the page. Raise PagesBusyError if too many pages wait already.
        """
        return await self._reply(page, quote=quote)

    def close(self) -> None:
        """End the workers; pages that are drawn at the moment are given up."""
        for worker in self._workers:
            worker.stop()

    async def ask(self, task: dict[str, Any]) -> Any:
        """Return the reply of a worker to a task, which waits for one that is idle; a caller that leaves gives it up.

        Raise PagesBusyError if too many wait already; OSError, ValueError if the process was ended because the task
        took more than it may.
        """
        if self._idle.empty() and self._waiting >= MOST_WAITING:
            raise PagesBusyError("too many pages are asked for at the moment")
        self._waiting += 1
        try:
            worker = await self._idle.get()
        finally:
            self._waiting -= 1
        reply = asyncio.create_task(asyncio.to_thread(worker.ask, task))
        # The worker is free when its thread is, which may be later than a caller that leaves.
        reply.add_done_callback(lambda _: self._idle.put_nowait(worker))
        try:
            return await asyncio.shield(reply)
        except asyncio.CancelledError:
            if not reply.done():
                worker.interrupt()
                reply.add_done_callback(lambda left: left.cancelled() or left.exception())  # Nobody asks for it.
            raise

    async def _reply(self, page: IndexedPage, **wanted: Any) -> Reply | None:
        state = page.state()
        if state is None:
            return None
        key, kind = f"{state} {json.dumps(wanted)}", f"{state} {' '.join(wanted)}"
        if kind in self._failures:
            return None
        if key in self._replies:
            return self._replies[key]
        task = {"path": str(page.path), "page": page.number, "chunks": list(page.chunks), **wanted}
        with self._calls.join(key, lambda: self._ask(task, key, kind)) as (parts, _):
            return await anext(parts)

    async def _ask(self, task: dict[str, Any], key: str, kind: str) -> AsyncGenerator[Reply | None]:
        try:
            reply: Reply = await self.ask(task)
        except (OSError, ValueError):
            reply = {"problem": "it takes more than it may"}
        if "problem" in reply:
            self._failures[kind] = True
            yield None
            return
        if _bytes(reply) <= CACHE_BYTES:
            self._replies[key] = reply
        yield reply


def _bytes(reply: Reply) -> int:
    return len(reply.get("png", "")) + BOX_BYTES * (1 + len(reply.get("words", "")))
