"""A queue of its own for pages of PDF files, so that a slow page holds up nothing but the pages behind it."""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from app.adapters.documents.process import LimitedProcess
from chains.errors import WaypointError

MOST_WAITING = 8


class PagesBusyError(WaypointError):
    """More pages are asked for than may wait."""

    stage = "pages"


class PageQueue:
    """Hands tasks to worker processes, one task to each at a time; `most_waiting` more wait in the order they came.

    A caller that is cancelled leaves the queue, and its task is given up. `waiting` is how many wait now.
    """

    def __init__(self, workers: Sequence[LimitedProcess], *, most_waiting: int = MOST_WAITING) -> None:
        self._workers = tuple(workers)
        self._idle = list(workers)
        self._most_waiting = most_waiting
        self.waiting = 0
        self._free = asyncio.Semaphore(len(workers))
        self._threads = ThreadPoolExecutor(len(workers), "pages")

    async def ask(self, task: dict[str, Any]) -> Any:
        """Return the reply to a task.

        Raises:
            PagesBusyError: too many wait already.
            OSError, ValueError: the process was ended because the task took more than it may.
        """
        if self._free.locked() and self.waiting >= self._most_waiting:
            msg = "too many pages are asked for at the moment"
            raise PagesBusyError(msg)
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        return await self._ask(self._idle.pop(), task)

    async def _ask(self, worker: LimitedProcess, task: dict[str, Any]) -> Any:
        given_up = False

        def give_back() -> None:
            if given_up:
                worker.stop()  # Else the next task might meet the process while it ends.
            self._idle.append(worker)
            self._free.release()

        loop = asyncio.get_running_loop()
        asked: Future[Any] = self._threads.submit(worker.ask, task)
        # The worker is free when its thread is, which may be later than a caller that leaves.
        asked.add_done_callback(lambda _: loop.call_soon_threadsafe(give_back))
        try:
            return await asyncio.wrap_future(asked)
        except asyncio.CancelledError:
            if not asked.done():
                given_up = True
                worker.interrupt()
            raise

    def close(self) -> None:
        """Give up what is under way, and end the workers."""
        for worker in self._workers:
            worker.interrupt()
        self._threads.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.stop()
