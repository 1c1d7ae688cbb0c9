"""Keys of one kind and a store of bytes -> values of one type: JSON under hashed names, counted, never an error."""

import hashlib
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Generic, TypeVar

from langchain_core.stores import BaseStore
from pydantic import TypeAdapter

from chains.caching.counts import CacheCounts, LevelName
from chains.caching.store import ExpiringStore, StoreError
from chains.callbacks.cache_hits import note

PREFIX = "waypoint"

Value = TypeVar("Value")


class Level(BaseStore[str, Value], Generic[Value]):
    """One level of the cache, as a store of LangChain.

    Args:
        name: the level's name, in counts and in the keys: `waypoint:{name}:{sha256}`.
        store: where the bytes are kept.
        form: reads and writes the values; one that does not fit it any more is a miss.
        counts: told of hits, misses and errors.
        fingerprint: what all values of the level depend on beside their keys.
    """

    def __init__(
        self, name: LevelName, store: ExpiringStore, form: TypeAdapter[Value], *, counts: CacheCounts, fingerprint: str
    ) -> None:
        self._name = name
        self._store = store
        self._form = form
        self._counts = counts
        self._fingerprint = fingerprint

    def mget(self, keys: Sequence[str], *, again: bool = False) -> list[Value | None]:
        """Return the values, None for what is not there or cannot be read; `again` counts no second miss."""
        try:
            return [self._read(data, again) for data in self._store.mget(self._names(keys))]
        except StoreError:
            return [self._nothing(again) for _ in keys]

    async def amget(self, keys: Sequence[str], *, again: bool = False) -> list[Value | None]:
        """Return the same without blocking the event loop."""
        try:
            return [self._read(data, again) for data in await self._store.amget(self._names(keys))]
        except StoreError:
            return [self._nothing(again) for _ in keys]

    def mset(self, key_value_pairs: Sequence[tuple[str, Value]], *, ttl_s: float | None = None) -> None:
        """Keep the values for `ttl_s` seconds, or as long as the store does; what is no plain data is not kept."""
        try:
            self._store.mset(self._written(key_value_pairs), ttl_s=ttl_s)
        except StoreError:
            self._counts.add(self._name, "errors")

    async def amset(self, key_value_pairs: Sequence[tuple[str, Value]], *, ttl_s: float | None = None) -> None:
        """Do the same without blocking the event loop."""
        try:
            await self._store.amset(self._written(key_value_pairs), ttl_s=ttl_s)
        except StoreError:
            self._counts.add(self._name, "errors")

    def mdelete(self, keys: Sequence[str]) -> None:
        """Forget the values."""
        self._store.mdelete(self._names(keys))

    def yield_keys(self, *, prefix: str | None = None) -> Iterator[str]:
        """Yield the names under which the values are kept; the keys themselves are only hashed."""
        return self._store.yield_keys(prefix=f"{PREFIX}:{self._name}:{prefix or ''}")

    def ayield_keys(self, *, prefix: str | None = None) -> AsyncIterator[str]:
        """Yield the same without blocking the event loop."""
        return self._store.ayield_keys(prefix=f"{PREFIX}:{self._name}:{prefix or ''}")

    def _names(self, keys: Sequence[str]) -> list[str]:
        texts = (f"{self._fingerprint}\0{key}".encode(errors="surrogatepass") for key in keys)
        return [f"{PREFIX}:{self._name}:{hashlib.sha256(text).hexdigest()}" for text in texts]

    def _read(self, data: bytes | None, again: bool) -> Value | None:
        try:
            value = None if data is None else self._form.validate_json(data)
        except ValueError:
            return self._nothing(again)
        found = value is not None
        note(self._name, found)
        if found or not again:
            self._counts.add(self._name, "hits" if found else "misses")
        return value

    def _nothing(self, again: bool) -> Value | None:
        """Return nothing, because of an error."""
        self._counts.add(self._name, "errors")
        if not again:
            self._counts.add(self._name, "misses")
        return None

    def _written(self, pairs: Sequence[tuple[str, Value]]) -> list[tuple[str, bytes]]:
        try:
            values = [self._form.dump_json(value, warnings=False) for _, value in pairs]
        except ValueError:
            self._counts.add(self._name, "errors")
            return []
        return list(zip(self._names([key for key, _ in pairs]), values, strict=True))
