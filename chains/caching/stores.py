"""Stores of expiring bytes: the interface that the caches need, and one in memory."""

import math
import threading
from abc import ABC, abstractmethod
from typing import NamedTuple

from cachetools import TLRUCache

from chains.clock import Clock, SystemClock


class StoreError(Exception):
    """The store did not answer; the caches count a miss."""


class ExpiringStore(ABC):
    """Keeps bytes by name until they expire. Every method may raise StoreError; none takes long."""

    @abstractmethod
    def get(self, name: str) -> bytes | None:
        """Return the value; None if it is missing or expired."""

    @abstractmethod
    def set(self, name: str, data: bytes, *, ttl_s: float | None = None) -> None:
        """Keep the value for `ttl_s` seconds; by default, and for 0, as long as the store keeps values."""

    async def aget(self, name: str) -> bytes | None:
        """Return the same without blocking the event loop: a store that waits for another machine overrides this."""
        return self.get(name)

    async def aset(self, name: str, data: bytes, *, ttl_s: float | None = None) -> None:
        """Do the same without blocking the event loop."""
        self.set(name, data, ttl_s=ttl_s)


class MemoryStore(ExpiringStore):
    """Keeps up to `capacity` bytes, each value for `ttl_s` seconds (None: for ever); least recently used ones go."""

    def __init__(self, *, capacity: int, ttl_s: float | None = None, clock: Clock | None = None) -> None:
        self._ttl_s = ttl_s
        self._lock = threading.Lock()
        timer = (clock or SystemClock()).now
        self._values: TLRUCache[str, _Value] = TLRUCache(capacity, _expiry, timer, getsizeof=lambda value: value.size)

    @property
    def size(self) -> int:
        """Return the bytes that the names and values take."""
        return int(self._values.currsize)

    def get(self, name: str) -> bytes | None:
        """Return the value; None if it is missing or expired."""
        with self._lock:
            value = self._values.get(name)
        return value and value.data

    def set(self, name: str, data: bytes, *, ttl_s: float | None = None) -> None:
        """Keep the value, unless it is larger than the capacity."""
        value = _Value(data, len(name) + len(data), ttl_s or self._ttl_s or math.inf)
        with self._lock:
            self._values.pop(name, None)
            if value.size <= self._values.maxsize:
                self._values[name] = value


class _Value(NamedTuple):
    data: bytes
    size: int
    ttl_s: float


def _expiry(_: str, value: _Value, now: float) -> float:
    return math.nextafter(now + value.ttl_s, math.inf)  # At the end of its time a value is still there.
