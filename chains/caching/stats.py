"""Count what happens in the caches, for metrics."""

import threading
from collections import Counter
from typing import Literal, get_args

from chains.callbacks.cache_hits import LEVELS, LevelName

__all__ = ["EVENTS", "LEVELS", "CacheStats", "Event", "LevelName"]

Event = Literal["hits", "misses", "shared", "errors"]
EVENTS: tuple[Event, ...] = get_args(Event)


class CacheStats:
    """Counts events since the start of the process, from any thread.

    hits    the value was there
    misses  it was not
    shared  of the misses: an equal call was under way, and its answer was used
    errors  the store failed, or a value could not be read or written; a failed read is also a miss
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[LevelName, Event]] = Counter()

    def add(self, level: LevelName, event: Event) -> None:
        """Count one event."""
        with self._lock:
            self._counts[level, event] += 1

    def of(self, level: LevelName, event: Event) -> int:
        """Return how often the event happened at the level."""
        return self._counts[level, event]
