"""A cache of values of one type in a store of bytes: JSON under hashed keys, counted, and never an error."""

import hashlib
import json
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, TypeAdapter

from chains.caching.stats import CacheStats, LevelName
from chains.caching.stores import ExpiringStore, StoreError
from chains.callbacks.cache_hits import note

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
