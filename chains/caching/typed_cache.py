"""Caches of values of one type: JSON under hashed keys in a store of expiring bytes, counted, and never an error."""

import hashlib
import json
import math
import threading
from collections import Counter
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar, get_args

from cachetools import TLRUCache
from langchain_core.runnables import run_in_executor
from pydantic import BaseModel, TypeAdapter

from chains.callbacks import LEVELS, LevelName, note
from chains.clock import Clock

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
        with self._lock:
            self._counts[level, event] += 1

    def of(self, level: LevelName, event: Event) -> int:
        return self._counts[level, event]


class StoreError(Exception):
    """The store did not answer; the caches count a miss."""


class ExpiringStore(Protocol):
    """Keeps bytes by name until they expire; both methods may raise StoreError. One that waits is not `is_quick`."""

    is_quick: bool

    def get(self, name: str) -> bytes | None: ...

    def set(self, name: str, data: bytes, *, ttl_s: float | None = None) -> None:
        """Keep the value for `ttl_s` seconds; by default, and for 0, as long as the store keeps values."""


class MemoryStore(ExpiringStore):
    """Keeps up to `capacity` bytes, each value for `ttl_s` seconds (None: for ever); least recently used ones go."""

    is_quick = True

    def __init__(self, *, capacity: int, ttl_s: float | None = None, clock: Clock | None = None) -> None:
        self._ttl_s = ttl_s
        self._lock = threading.Lock()
        timer = (clock or Clock()).now
        self._values: TLRUCache[str, _Value] = TLRUCache(
            capacity,
            lambda _, value, now: math.nextafter(now + value.ttl_s, math.inf),  # At its end a value is still there.
            timer,
            getsizeof=lambda value: value.size,
        )

    @property
    def size(self) -> int:
        return int(self._values.currsize)

    def get(self, name: str) -> bytes | None:
        with self._lock:
            value = self._values.get(name)
        return value and value.data

    def set(self, name: str, data: bytes, *, ttl_s: float | None = None) -> None:
        value = _Value(data, len(name) + len(data), ttl_s or self._ttl_s or math.inf)
        with self._lock:
            self._values.pop(name, None)
            if value.size <= self._values.maxsize:
                self._values[name] = value


class _Value(NamedTuple):
    data: bytes
    size: int
    ttl_s: float


PREFIX = "waypoint"

Value = TypeVar("Value")


@dataclass(frozen=True)
class TypedCache(Generic[Value]):
    """One level of the cache; a value that cannot be read is a miss.

    Its keys are `waypoint:{level}:{sha256}`, also of the `fingerprint` of all that its values depend on beside their
    keys.
    """

    level: LevelName
    store: ExpiringStore
    form: TypeAdapter[Value]
    stats: CacheStats
    fingerprint: str

    def get(self, key: str) -> Value | None:
        try:
            data = self.store.get(self._name_of(key))
            value = None if data is None else self.form.validate_json(data)
        except (StoreError, ValueError):
            self.stats.add(self.level, "errors")
            self.stats.add(self.level, "misses")
            return None
        note(self.level, value is not None)
        self.stats.add(self.level, "misses" if value is None else "hits")
        return value

    def set(self, key: str, value: Value, *, ttl_s: float | None = None) -> None:
        try:
            self.store.set(self._name_of(key), self.form.dump_json(value, warnings=False), ttl_s=ttl_s)
        except (StoreError, ValueError):
            self.stats.add(self.level, "errors")

    async def aget(self, key: str) -> Value | None:
        return self.get(key) if self.store.is_quick else await run_in_executor(None, self.get, key)

    async def aset(self, key: str, value: Value, *, ttl_s: float | None = None) -> None:
        if self.store.is_quick:
            self.set(key, value, ttl_s=ttl_s)
        else:
            await run_in_executor(None, self.set, key, value, ttl_s=ttl_s)

    def _name_of(self, key: str) -> str:
        text = f"{self.fingerprint}\0{key}".encode(errors="surrogatepass")
        return f"{PREFIX}:{self.level}:{hashlib.sha256(text).hexdigest()}"


def canonical(parts: object) -> str:
    """Return the parts as JSON, the names in mappings sorted: the same text for equal parts only.

    Raise TypeError, ValueError, RecursionError if a part is not plain data: a value without such a key must not be
    kept.
    """
    return json.dumps(parts, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: object) -> Any:
    """Return the data of a message or a dataclass; its type distinguishes a human's message from the model's."""
    if isinstance(value, BaseModel):
        return {type(value).__name__: value.model_dump(mode="json")}
    if is_dataclass(value) and not isinstance(value, type):
        return {type(value).__name__: asdict(value)}
    raise TypeError(f"{type(value).__name__} is not plain data")
