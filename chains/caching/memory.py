"""Bytes under keys -> the same bytes for a while, in the memory of this process: the least used leave first."""

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from math import inf

from chains.caching.store import ExpiringStore
from chains.clock import Clock, SystemClock


class MemoryStore(ExpiringStore):
    """Keeps up to `capacity` bytes of keys and values, each for `ttl_s` seconds (None: for ever)."""

    def __init__(self, *, capacity: int, ttl_s: float | None = None, clock: Clock | None = None) -> None:
        self._capacity = capacity
        self._ttl_s = ttl_s
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[bytes, float]] = OrderedDict()
        self._size = 0

    @property
    def size(self) -> int:
        """Return the bytes that the keys and values take."""
        return self._size

    def mget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the values, None for what is not there or is too old."""
        with self._lock:
            return [self._get(key) for key in keys]

    async def amget(self, keys: Sequence[str]) -> list[bytes | None]:
        """Return the same; nothing here takes long enough to wait for."""
        return self.mget(keys)

    def mset(self, key_value_pairs: Sequence[tuple[str, bytes]], *, ttl_s: float | None = None) -> None:
        """Keep the values; what was asked for the longest time ago makes room. A lifetime of 0 is the usual one."""
        lifetime = ttl_s or self._ttl_s
        until = inf if lifetime is None else self._clock.now() + lifetime
        with self._lock:
            for key, value in key_value_pairs:
                self._drop(key)
                self._kept[key] = (value, until)
                self._size += len(key) + len(value)
            while self._size > self._capacity:
                self._drop(next(iter(self._kept)))

    async def amset(self, key_value_pairs: Sequence[tuple[str, bytes]], *, ttl_s: float | None = None) -> None:
        """Do the same; nothing here takes long enough to wait for."""
        self.mset(key_value_pairs, ttl_s=ttl_s)

    def mdelete(self, keys: Sequence[str]) -> None:
        """Forget the values."""
        with self._lock:
            for key in keys:
                self._drop(key)

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[str]:
        """Yield the keys, the least used first."""
        with self._lock:
            keys = list(self._kept)
        return (key for key in keys if key.startswith(prefix or ""))

    def _get(self, key: str) -> bytes | None:
        value, until = self._kept.get(key, (None, inf))
        if self._clock.now() > until:
            self._drop(key)
            return None
        if value is not None:
            self._kept.move_to_end(key)
        return value

    def _drop(self, key: str) -> None:
        value, _ = self._kept.pop(key, (None, 0.0))
        if value is not None:
            self._size -= len(key) + len(value)
