"""One level of cache: its store, its keys, what it counts, and what a call tells of it."""

import pytest
from langchain_core.runnables import RunnableConfig, RunnableLambda
from pydantic import TypeAdapter

from chains.caching.typed_cache import EVENTS, CacheStats, MemoryStore, TypedCache, canonical
from chains.callbacks import CallRecord, note
from tests.streams import asked, every_way


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


@pytest.mark.parametrize("data", [b"", b"{", b'{"a": 1}', b'["x"]', b"null", b"\x80\x04N."])
def test_a_value_that_cannot_be_read_is_a_miss(data):
    store = MemoryStore(capacity=10**6)
    vectors, stats = level(store)
    vectors.set("a", [1.0])
    [name] = store._values
    store.set(name, data)

    assert vectors.get("a") is None
    assert events(stats) == {"errors": 1, "misses": 1}


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


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}, b"bytes"])
def test_what_is_no_plain_data_has_no_key(value):
    with pytest.raises((TypeError, ValueError)):
        canonical({"value": value})


def test_what_was_asked_for_the_longest_time_ago_makes_room():
    store = MemoryStore(capacity=6)
    for name in "abc":
        store.set(name, b"1")
    store.get("a")
    store.set("d", b"4")

    assert [store.get(name) for name in "abcd"] == [b"1", None, b"1", b"4"]
    assert store.size == 6


def test_one_that_is_larger_than_all_the_room_is_not_kept_and_one_in_place_of_another_takes_its_room():
    store = MemoryStore(capacity=6)
    store.set("a", b"1")
    store.set("b", b"123456")
    assert (store.get("a"), store.get("b"), store.size) == (b"1", None, 2)
    store.set("a", b"12345")
    store.set("a", b"54321")
    assert store.get("a") == b"54321"


FOUND, MISSED = True, False


@pytest.mark.parametrize(
    ("events", "told"),
    [
        ([], None),
        ([("embedding", MISSED)], None),
        ([("embedding", FOUND), ("retrieval", MISSED)], "embedding"),
        ([("embedding", FOUND), ("retrieval", FOUND)], "retrieval"),
        ([("embedding", MISSED), ("retrieval", MISSED), ("embedding", FOUND)], None),  # It was put there a moment ago.
    ],
)
@every_way
async def test_a_call_tells_the_furthest_of_its_own_hits_whichever_way_it_was_made(events, told, way):
    def look(_: object) -> None:
        for level, found in events:
            note(level, found)

    record, chain = CallRecord(), RunnableLambda(look) | RunnableLambda(lambda _: "")
    await asked(chain, way, "", RunnableConfig(callbacks=[record]))

    assert record.furthest_hit() == told


def test_outside_of_a_call_a_hit_is_nobodys():
    record = CallRecord()
    note("embedding", FOUND)
    assert record.furthest_hit() is None
