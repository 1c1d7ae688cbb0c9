import pytest

from chains.caching.stores import MemoryStore
from tests.chains.caching.chain import StoppedClock


def test_what_was_asked_for_the_longest_time_ago_makes_room():
    store = MemoryStore(capacity=6)
    store.mset([("a", b"1"), ("b", b"2"), ("c", b"3")])
    store.mget(["a"])
    store.mset([("d", b"4")])

    assert store.mget(["a", "b", "c", "d"]) == [b"1", None, b"3", b"4"]
    assert store.size == 6


def test_one_that_is_larger_than_all_the_room_is_not_kept():
    store = MemoryStore(capacity=6)
    store.mset([("a", b"1"), ("b", b"123456")])

    assert list(store.yield_keys()) == ["a"]
    assert store.size == 2


def test_a_value_in_place_of_another_takes_its_room():
    store = MemoryStore(capacity=6)
    store.mset([("a", b"12345"), ("a", b"54321")])

    assert store.mget(["a"]) == [b"54321"]


@pytest.mark.parametrize(("given", "lifetime"), [(None, 60), (5, 5), (0, 60)])
def test_a_value_lives_for_its_time_and_no_longer(given, lifetime):
    clock = StoppedClock()
    store = MemoryStore(capacity=100, ttl_s=60, clock=clock)
    store.mset([("a", b"1")], ttl_s=given)

    clock.sleep(lifetime)
    assert store.mget(["a"]) == [b"1"]
    clock.sleep(0.001)
    assert store.mget(["a"]) == [None]
    assert store.size == 0


async def test_it_is_a_store_of_langchain():
    store = MemoryStore(capacity=100)
    await store.amset([("x:a", b"1"), ("y:b", b"2")])
    store.mdelete(["y:b", "unknown"])

    assert await store.amget(["x:a", "y:b"]) == [b"1", None]
    assert [key async for key in store.ayield_keys(prefix="x:")] == ["x:a"]
