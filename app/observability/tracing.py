"""Send traces and scores to a backend from a thread of their own, so that no backend delays or breaks an answer."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from chains.logs import get_logger

log = get_logger(__name__)

Item = TypeVar("Item")
SHUTDOWN_TIMEOUT_S = 2.0


class Export(Generic[Item]):
    """A bounded queue of items, sent in batches; what does not fit is dropped and counted.

    Args:
        send: Sends a batch; an error is logged once per outage, and the batch counts as dropped.
        waiting: How many items may wait, of which a `batch` is sent at once.
        pause_s: How long nothing is sent after an error.
    """

    def __init__(
        self,
        backend: str,
        send: Callable[[list[Item]], None],
        *,
        waiting: int = 256,
        batch: int = 8,
        pause_s: float = 5,
    ) -> None:
        self.backend = backend
        self.dropped = self.sent = 0
        self._send, self._limit, self._batch, self._pause_s = send, waiting, batch, pause_s
        self._items: deque[Item] = deque()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = self._failing = self._given_up = False

    def put(self, item: Item) -> None:
        """Queue an item, or drop it if the queue is full."""
        with self._changed:
            if self._closed or len(self._items) >= self._limit:
                self.dropped += 1
                return
            self._items.append(item)
            if self._thread is None:
                # A daemon: a backend that hangs must not keep the process alive.
                self._thread = threading.Thread(target=self._run, name=f"export to {self.backend}", daemon=True)
                self._thread.start()
            self._changed.notify()

    def finish(self) -> None:
        """Take no more items; the thread stops when the queue is empty."""
        with self._changed:
            self._closed = True
            self._changed.notify()

    def wait(self, seconds: float) -> None:
        """Wait for the thread to stop; what is still queued then counts as dropped."""
        if self._thread is not None:
            self._thread.join(max(seconds, 0))
        with self._changed:
            self.dropped += len(self._items)
            self._items.clear()
            self._given_up = True

    def _run(self) -> None:
        while batch := self._next_batch():
            try:
                self._send(batch)
            except Exception as error:  # Whatever it is, the next batch may succeed.
                with self._changed:
                    self.dropped += len(batch)
                if not self._failing and not self._given_up:
                    log.warning("traces_do_not_arrive", backend=self.backend, error=type(error).__name__)
                self._failing = True
                with self._changed:
                    self._changed.wait_for(lambda: self._closed, timeout=self._pause_s)
                continue
            self.sent += len(batch)
            if self._failing:
                log.info("traces_arrive_again", backend=self.backend, dropped=self.dropped)
            self._failing = False

    def _next_batch(self) -> list[Item]:
        with self._changed:
            self._changed.wait_for(lambda: self._items or self._closed)
            size = 1 if self._failing else self._batch  # One item shows whether the outage is over.
            return [self._items.popleft() for _ in range(min(size, len(self._items)))]


def close(exports: Iterable[Export[Any]], *, within_s: float) -> None:
    """Send what is queued, all backends at the same time, for at most `within_s`."""
    deadline = time.monotonic() + within_s
    for export in (closing := list(exports)):
        export.finish()
    for export in closing:
        export.wait(deadline - time.monotonic())
