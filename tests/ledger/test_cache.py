"""Cached values, the copies of sources and faults."""

import pytest

from app.ledger import open_database
from app.ledger.work import Copies, Faults, LedgerCache
from chains.caching.typed_cache import StoreError
from chains.errors import WaypointError
from tests.clocks import StoppedClock


@pytest.mark.parametrize(("given", "lifetime"), [(None, 60), (5, 5), (0, 60)])
def test_a_value_lives_for_its_time_and_no_longer(database, given, lifetime):
    clock = StoppedClock()
    cache = LedgerCache(database, ttl_s=60, now=clock.now)
    cache.set("a", b"0")
    cache.set("a", b"\0\xff", ttl_s=given)

    clock.time += lifetime - 0.1
    assert (cache.get("a"), cache.get("b")) == (b"\0\xff", None)
    clock.time += 0.2
    assert cache.get("a") is None


def test_what_is_beyond_the_room_goes_the_first_to_end_first(database, monkeypatch):
    monkeypatch.setattr("app.ledger.work.TRIM_EVERY", 0)
    clock = StoppedClock()
    cache = LedgerCache(database, ttl_s=60, most_bytes=6, now=clock.now)
    for name in "abcd":
        cache.set(name, b"12")
        clock.time += 1

    assert [cache.get(name) for name in "abcd"] == [None, b"12", b"12", b"12"]


def test_a_database_that_is_down_is_a_store_that_fails(file):
    cache = LedgerCache(
        open_database(file, "postgresql://u:s3cret@127.0.0.1:1/n", collection="kb", timeout_s=2), ttl_s=60
    )

    with pytest.raises(StoreError) as failure:
        cache.get("a")
    assert "s3cret" not in str(failure.value)
    with pytest.raises(StoreError):
        cache.set("a", b"1")


def test_the_copies_of_a_source_are_its_own(database):
    mine, other = Copies(database, "mine"), Copies(database, "other")
    mine.keep("s3://a/1", "1", "v1")
    mine.keep("s3://a/1", "1", "v2")
    mine.keep("s3://a/2", "2", "v1")
    other.keep("s3://a/1", "1", "v1")
    mine.forget(["s3://a/2"])

    assert mine.known() == [("s3://a/1", "1", "v2")]
    assert other.known() == [("s3://a/1", "1", "v1")]


def test_faults_are_counted_by_step_and_forgotten_after_a_week(database, monkeypatch):
    faults = Faults(database)
    assert faults.status() == "none failed in 7 days"
    monkeypatch.setattr("time.time", lambda: 1_000_000.0)
    for reason in ("first", "second"):
        faults.keep("lint", reason)
    with pytest.raises(WaypointError, match=r"^lint failed 2 times: second$"):
        faults.status()

    monkeypatch.setattr("time.time", lambda: 1_000_000.0 + 8 * 86_400)
    assert faults.status() == "none failed in 7 days"
    faults.keep("lint", "third")
    with pytest.raises(WaypointError, match=r"^lint failed 1 times: third$"):
        faults.status()
