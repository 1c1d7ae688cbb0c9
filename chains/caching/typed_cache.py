"""Caches of values of one type: JSON under hashed keys in a store of expiring bytes, counted, and never an error."""

import hashlib
import json
import math
import threading
from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Generic, Literal, NamedTuple, TypeVar, get_args

from cachetools import TLRUCache
from pydantic import BaseModel, TypeAdapter

from chains.callbacks.handlers import LEVELS, LevelName, note
from chains.clock import Clock, SystemClock

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


PREFIX = "waypoint"
DIGEST_BYTES = hashlib.sha256().digest_size

Value = TypeVar("Value")


@dataclass(frozen=True)
class TypedCache(Generic[Value]):
    """One level of the cache.

    A value is kept behind a digest of its key and its JSON. A value that this cache did not write under this key, be it
    well-formed or not, is a miss.

    Args:
        level: its name, in statistics and in keys: `waypoint:{level}:{sha256}`.
        store: where the bytes are kept.
        form: reads and writes the values.
        stats: counts hits, misses and errors.
        fingerprint: what all values of the level depend on beside their keys.
    """

    level: LevelName
    store: ExpiringStore
    form: TypeAdapter[Value]
    stats: CacheStats
    fingerprint: str

    def get(self, key: str) -> Value | None:
        """Return the value; None if it is missing or unreadable."""
        name = self._name_of(key)
        try:
            return self._read(name, self.store.get(name))
        except StoreError:
            return self._failed()

    async def aget(self, key: str) -> Value | None:
        """Return the same without blocking the event loop."""
        name = self._name_of(key)
        try:
            return self._read(name, await self.store.aget(name))
        except StoreError:
            return self._failed()

    def set(self, key: str, value: Value, *, ttl_s: float | None = None) -> None:
        """Keep the value for `ttl_s` seconds, by default as long as the store does; only plain data is kept."""
        name = self._name_of(key)
        try:
            self.store.set(name, self._written(name, value), ttl_s=ttl_s)
        except (StoreError, ValueError):
            self.stats.add(self.level, "errors")

    async def aset(self, key: str, value: Value, *, ttl_s: float | None = None) -> None:
        """Do the same without blocking the event loop."""
        name = self._name_of(key)
        try:
            await self.store.aset(name, self._written(name, value), ttl_s=ttl_s)
        except (StoreError, ValueError):
            self.stats.add(self.level, "errors")

    def _name_of(self, key: str) -> str:
        text = f"{self.fingerprint}\0{key}".encode(errors="surrogatepass")
        return f"{PREFIX}:{self.level}:{hashlib.sha256(text).hexdigest()}"

    def _read(self, name: str, data: bytes | None) -> Value | None:
        if data is not None and data[:DIGEST_BYTES] != _digest(name, data[DIGEST_BYTES:]):
            return self._failed()
        try:
            value = None if data is None else self.form.validate_json(data[DIGEST_BYTES:])
        except ValueError:
            return self._failed()
        note(self.level, value is not None)
        self.stats.add(self.level, "misses" if value is None else "hits")
        return value

    def _failed(self) -> Value | None:
        self.stats.add(self.level, "errors")
        self.stats.add(self.level, "misses")
        return None

    def _written(self, name: str, value: Value) -> bytes:
        data = self.form.dump_json(value, warnings=False)
        return _digest(name, data) + data


def canonical(parts: object) -> str:
    """Return the parts as JSON, the names in mappings sorted: the same text for equal parts only.

    Raises:
        TypeError, ValueError, RecursionError: a part is not plain data. A value without such a key must not be kept.
    """
    return json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: object) -> Any:
    """Return the data of a message or a dataclass; its type distinguishes a human's message from the model's."""
    if isinstance(value, BaseModel):
        return {type(value).__name__: value.model_dump(mode="json")}
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value).__name__: asdict(value)}
    msg = f"{type(value).__name__} is not plain data"
    raise TypeError(msg)


def _digest(name: str, data: bytes) -> bytes:
    return hashlib.sha256(name.encode() + data).digest()
