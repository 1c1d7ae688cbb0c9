"""Show pages of PDF files: as pictures, and where the quoted words stand on them."""

import threading
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from app.adapters.documents.process import LimitedProcess

CACHE_BYTES = 32 * 2**20


@dataclass(frozen=True, slots=True)
class IndexedPage:
    """A page of a file, counted from 1, and the words of its chunks, by which it is known to be the same page still."""

    path: Path
    number: int
    chunks: Sequence[str]


@dataclass
class PdfPages:
    """Draws pages in a worker process, one at a time; each may take `timeout_s` of the processor and `memory_mb`.

    What is returned is None where the file is gone or no longer has the page that was indexed, or cannot be drawn.
    """

    timeout_s: float
    memory_mb: int
    worker: LimitedProcess = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _pictures: LRUCache[Any, bytes] = field(default_factory=lambda: LRUCache(CACHE_BYTES, getsizeof=len), init=False)

    def __post_init__(self) -> None:
        self.worker = LimitedProcess("app.adapters.documents.page_worker", self.timeout_s, self.memory_mb)

    def picture(self, page: IndexedPage, width: int) -> bytes | None:
        """Return the page as PNG, `width` pixels wide."""
        try:
            state = page.path.stat()
        except OSError:
            return None
        key = (page.path, state.st_mtime_ns, state.st_size, page.number, tuple(page.chunks), width)
        with self._lock:
            if key in self._pictures:
                return self._pictures[key]
            reply = self._ask(page, width=width)
            if reply is None:
                return None
            picture = b64decode(reply["png"])
            if len(picture) <= CACHE_BYTES:
                self._pictures[key] = picture
            return picture

    def words(self, page: IndexedPage, quote: str) -> dict[str, Any] | None:
        """Return how many `pages` there are, `width` and `height` of this one in points, and the boxes of the `words`.

        A box is left, top, width and height, in parts of the page.
        """
        with self._lock:
            return self._ask(page, quote=quote)

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self.worker.stop()

    def _ask(self, page: IndexedPage, **wanted: Any) -> dict[str, Any] | None:
        task = {"path": str(page.path), "page": page.number, "chunks": list(page.chunks), **wanted}
        try:
            reply: dict[str, Any] = self.worker.ask(task)
        except (OSError, ValueError):
            return None
        return None if "problem" in reply else reply
