import pytest

from chains.caching.typed_cache import MemoryStore
from tests.clocks import StoppedClock


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


@pytest.mark.parametrize(("given", "lifetime"), [(None, 60), (5, 5), (0, 60)])
def test_a_value_lives_for_its_time_and_no_longer(given, lifetime):
    clock = StoppedClock()
    store = MemoryStore(capacity=100, ttl_s=60, clock=clock)
    store.set("a", b"1", ttl_s=given)

    clock.sleep(lifetime)
    assert store.get("a") == b"1"
    clock.sleep(0.001)
    assert store.get("a") is None
    assert store.size == 0
