import pytest
from pydantic import TypeAdapter

from chains.caching.counts import EVENTS, CacheCounts
from chains.caching.level import Level
from chains.caching.memory import MemoryStore
from chains.caching.store import StoreError


class BrokenStore(MemoryStore):
    """Fails whatever is asked of it."""

    def __init__(self) -> None:
        super().__init__(capacity=0)

    def mget(self, keys):
        raise StoreError

    def mset(self, key_value_pairs, *, ttl_s=None):
        raise StoreError


def level(store, *, fingerprint: str = "model") -> tuple[Level[list[float]], CacheCounts]:
    counts = CacheCounts()
    return Level("embedding", store, TypeAdapter(list[float]), counts=counts, fingerprint=fingerprint), counts


def events(counts: CacheCounts) -> dict[str, int]:
    return {event: counts.of("embedding", event) for event in EVENTS if counts.of("embedding", event)}


async def test_values_come_back_as_they_were_and_are_counted():
    vectors, counts = level(MemoryStore(capacity=10**6))
    vectors.mset([("a", [0.1, 1 / 3])])
    await vectors.amset([("b", [2.0])])

    assert vectors.mget(["a", "b", "c"]) == [[0.1, 1 / 3], [2.0], None]
    assert await vectors.amget(["a"]) == [[0.1, 1 / 3]]
    assert events(counts) == {"hits": 3, "misses": 1}


def test_what_lies_under_another_fingerprint_is_not_there():
    store = MemoryStore(capacity=10**6)
    level(store)[0].mset([("a", [1.0])])

    assert level(store, fingerprint="other")[0].mget(["a"]) == [None]


@pytest.mark.parametrize("data", [b"", b"{", b'{"a": 1}', b'["x"]', b"null", b"\x80\x04N."])
def test_a_value_that_cannot_be_read_is_a_miss(data):
    store = MemoryStore(capacity=10**6)
    vectors, counts = level(store)
    vectors.mset([("a", [1.0])])
    [name] = vectors.yield_keys()
    store.mset([(name, data)])

    assert vectors.mget(["a"]) == [None]
    assert events(counts) == {"errors": 1, "misses": 1}


async def test_a_store_that_fails_is_a_miss_and_breaks_nothing():
    vectors, counts = level(BrokenStore())
    vectors.mset([("a", [1.0])])
    await vectors.amset([("a", [1.0])])

    assert vectors.mget(["a"]) == await vectors.amget(["a"]) == [None]
    assert events(counts) == {"errors": 4, "misses": 2}


def test_a_value_that_is_no_plain_data_is_not_kept():
    store = MemoryStore(capacity=10**6)
    counts = CacheCounts()
    anything: Level = Level("embedding", store, TypeAdapter(dict), counts=counts, fingerprint="")
    anything.mset([("a", {"x": object()})])

    assert list(store.yield_keys()) == []
    assert events(counts) == {"errors": 1}


def test_names_say_whose_they_are_and_hide_what_was_asked():
    store = MemoryStore(capacity=10**6)
    vectors, _ = level(store)
    vectors.mset([("secret question", [1.0])])

    [name] = store.yield_keys()
    assert name.startswith("waypoint:embedding:")
    assert "secret" not in name
