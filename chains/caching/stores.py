"""Stores of bytes that expire: what the caches need of a store, and one in the memory of the process."""

import math
import threading
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from cachetools import TLRUCache
from langchain_core.stores import ByteStore

from chains.clock import Clock, SystemClock


class StoreError(Exception):
    """The store did not answer; the caches take it for a miss."""


class ExpiringStore(ByteStore):
    """A ByteStore of LangChain whose values expire. Every method may raise StoreError; none takes long."""

    @abstractmethod
    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]], *, ttl_s: float | None = None) -> None:
        """Keep the values for `ttl_s` seconds; by default, and for 0, as long as the store keeps values."""

    @abstractmethod
    async def amset(self, key_value_pairs: Sequence[tuple[str, bytes]], *, ttl_s: float | None = None) -> None:
        """Do the same without blocking the event loop."""


class MemoryStore(ExpiringStore):
    """Keeps up to `capacity` bytes, each value for `ttl_s` seconds (None: for ever); least recently used ones go."""

    def __init__(self, *, capacity: int, ttl_s: float | None = None, clock: Clock | None = None) -> None:
        self._ttl_s = ttl_s
        self._lock = threading.Lock()
        timer = (clock or SystemClock()).now
        self._values: TLRUCache[str, _Value] = TLRUCache(capacity, _expiry, timer, getsizeof=lambda value: value.size)

    @property
    def size(self) -> int:
        """Return the bytes that the keys and values take."""
        return int(self._values.currsize)

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values, None for what is not there or has expired."""
        with self._lock:
            found = [self._values.get(key) for key in keys]
        return [value and value.data for value in found]

    async def amget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the same; it does not block long."""
        return self.mget(keys)

    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]], *, ttl_s: float | None = None) -> None:
        """Keep the values, except one that is larger than the capacity."""
        with self._lock:
            for key, data in key_value_pairs:
                self._values.pop(key, None)
                value = _Value(data, len(key) + len(data), ttl_s or self._ttl_s or math.inf)
                if value.size <= self._values.maxsize:
                    self._values[key] = value

    async def amset(self, key_value_pairs: Sequence[tuple[str, bytes]], *, ttl_s: float | None = None) -> None:
        """Do the same; it does not block long."""
        self.mset(key_value_pairs, ttl_s=ttl_s)

    def mdelete(self, keys: Sequence[str]) -> None:
        """Forget the values."""
        with self._lock:
            for key in keys:
                self._values.pop(key, None)

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[str]:
        """Yield the keys."""
        with self._lock:
            keys = list(self._values)
        return (key for key in keys if key.startswith(prefix or ""))


class _Value(NamedTuple):
    data: bytes
    size: int
    ttl_s: float


def _expiry(_: str, value: _Value, now: float) -> float:
    return math.nextafter(now + value.ttl_s, math.inf)  # At the end of its time a value is still there.
