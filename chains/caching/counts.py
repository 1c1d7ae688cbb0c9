"""What happens at the levels -> how often it happened, for those who watch."""

import threading
from collections import Counter
from typing import Literal, get_args

from chains.callbacks.cache_hits import LEVELS, LevelName

__all__ = ["EVENTS", "LEVELS", "CacheCounts", "Event", "LevelName"]

Event = Literal["hits", "misses", "shared", "errors"]
EVENTS: tuple[Event, ...] = get_args(Event)


class CacheCounts:
    """Counts, from any thread, since the start of the process.

    hits    what was asked for was there
    misses  it was not
    shared  of the misses: another call was making the answer already, and this one got it too
    errors  the store did not answer, or a value could not be read or written; a read that fails is also a miss
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
