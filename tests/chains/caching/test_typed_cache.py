import pytest
from pydantic import TypeAdapter

from chains.caching.typed_cache import EVENTS, CacheStats, MemoryStore, StoreError, TypedCache


class BrokenStore(MemoryStore):
    """Fails whatever is asked of it."""

    def __init__(self) -> None:
        super().__init__(capacity=0)

    def get(self, name):
        raise StoreError

    def set(self, name, data, *, ttl_s=None):
        raise StoreError


def level(store, *, fingerprint: str = "model") -> tuple[TypedCache[list[float]], CacheStats]:
    stats = CacheStats()
    return TypedCache("embedding", store, TypeAdapter(list[float]), stats=stats, fingerprint=fingerprint), stats


def events(stats: CacheStats) -> dict[str, int]:
    return {event: stats.of("embedding", event) for event in EVENTS if stats.of("embedding", event)}


async def test_values_come_back_as_they_were_and_are_counted():
    vectors, stats = level(MemoryStore(capacity=10**6))
    vectors.set("a", [0.1, 1 / 3])
    await vectors.aset("b", [2.0])

    assert [vectors.get(key) for key in "abc"] == [[0.1, 1 / 3], [2.0], None]
    assert await vectors.aget("a") == [0.1, 1 / 3]
    assert events(stats) == {"hits": 3, "misses": 1}


def test_what_lies_under_another_fingerprint_is_not_there():
    store = MemoryStore(capacity=10**6)
    level(store)[0].set("a", [1.0])

    assert level(store, fingerprint="other")[0].get("a") is None


@pytest.mark.parametrize("data", [b"", b"{", b'{"a": 1}', b'["x"]', b"null", b"\x80\x04N."])
def test_a_value_that_cannot_be_read_is_a_miss(data):
    store = MemoryStore(capacity=10**6)
    vectors, stats = level(store)
    vectors.set("a", [1.0])
    [name] = store._values
    store.set(name, data)

    assert vectors.get("a") is None
    assert events(stats) == {"errors": 1, "misses": 1}


async def test_a_store_that_fails_is_a_miss_and_breaks_nothing():
    vectors, stats = level(BrokenStore())
    vectors.set("a", [1.0])
    await vectors.aset("a", [1.0])

    assert vectors.get("a") is await vectors.aget("a") is None
    assert events(stats) == {"errors": 4, "misses": 2}


def test_a_value_that_is_no_plain_data_is_not_kept():
    store = MemoryStore(capacity=10**6)
    stats = CacheStats()
    anything: TypedCache = TypedCache("embedding", store, TypeAdapter(dict), stats=stats, fingerprint="")
    anything.set("a", {"x": object()})

    assert store.size == 0
    assert events(stats) == {"errors": 1}


def test_names_say_whose_they_are_and_hide_what_was_asked():
    store = MemoryStore(capacity=10**6)
    vectors, _ = level(store)
    vectors.set("secret question", [1.0])

    [name] = store._values
    assert name.startswith("waypoint:embedding:")
    assert "secret" not in name
