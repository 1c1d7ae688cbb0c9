"""Keep what was fetched last, by chunk id."""

import threading
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from cachetools import LRUCache

# Decoding a chunk's metadata or its vector costs more than finding it, so some are kept, at about 3 kB each.
CAPACITY = 2_000

Value = TypeVar("Value")


class FetchCache(Generic[Value]):
    """The values fetched last, by chunk id, for any number of threads.

    An id is the hash of its chunk, so the value of an id never changes. Whether it still exists, the searches say.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._kept: LRUCache[str, Value] = LRUCache(capacity)
        self._lock = threading.Lock()

    def get(self, ids: Sequence[str], fetch: Callable[[list[str]], dict[str, Value]]) -> dict[str, Value]:
        """Return the values of the `ids`; `fetch` is asked for those that are not kept."""
        with self._lock:
            found = {id_: self._kept[id_] for id_ in ids if id_ in self._kept}
        missing = [id_ for id_ in ids if id_ not in found]
        fetched = fetch(missing) if missing else {}
        with self._lock:
            self._kept.update(fetched)
        return found | fetched

    def clear(self) -> None:
        """Keep nothing of what was fetched so far."""
        with self._lock:
            self._kept.clear()
