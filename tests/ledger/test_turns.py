"""Conversations by their owner and session."""

import asyncio

import pytest
from sqlalchemy import text

from app.ledger import open_database
from app.ledger.work import MOST_CHARACTERS, MOST_TURNS, Conversations
from chains.errors import SessionError, SessionNotFoundError
from chains.history import Turn

CAPACITY = 3


def exchange(number: int, size: int = 0) -> list[Turn]:
    return [Turn("user", f"Question {number}?"), Turn("assistant", f"Answer {number}.".ljust(size, "."))]


@pytest.fixture
def store(database, clock) -> Conversations:
    return Conversations(database, ttl_s=60, capacity=CAPACITY, now=clock.now)


async def test_each_owner_reads_the_turns_of_own_sessions_in_their_order(store):
    await store.add("s1", "ann", exchange(1))
    await store.add("s1", "ann", exchange(2))
    await store.add("s1", "", exchange(3))

    assert await store.turns("s1", "ann") == [*exchange(1), *exchange(2)]
    assert await store.turns("s1", "") == exchange(3)
    for session_id, owner in (("s2", "ann"), ("s1", "bob"), ("", "anns1"), ("1", "anns"), ("anns1", "")):
        assert await store.turns(session_id, owner) == []


async def test_two_that_add_at_once_do_not_mix(store):
    await asyncio.gather(*(store.add("s1", "ann", exchange(number)) for number in range(8)))
    turns = await store.turns("s1", "ann")

    pairs = [tuple(turns[place : place + 2]) for place in range(0, len(turns), 2)]
    assert sorted(pairs) == [tuple(exchange(number)) for number in range(8)]


async def test_of_a_long_conversation_the_last_turns_are_kept(store, database):
    for number in range(MOST_TURNS):
        await store.add("many", "ann", exchange(number))
        await store.add("long", "ann", exchange(number, MOST_CHARACTERS // 2))

    many, long = await store.turns("many", "ann"), await store.turns("long", "ann")
    assert many == [turn for number in range(MOST_TURNS // 2, MOST_TURNS) for turn in exchange(number)]
    assert [turn.text[:11] for turn in long] == [f"Question {MOST_TURNS - 1}", f"Answer {MOST_TURNS - 1}.."]
    with database.reading() as connection:
        assert connection.execute(text("SELECT count(*) FROM turns")).scalar() == 2 * MOST_TURNS


async def test_beyond_the_capacity_the_one_used_longest_ago_goes(store):
    for name in ("a", "b", "c", "a", "d"):
        await store.add(name, "ann", exchange(1))

    assert [name for name in "abcd" if await store.turns(name, "ann")] == ["a", "c", "d"]


async def test_a_conversation_ends_some_time_after_its_last_turn_and_the_table_holds_no_id(store, clock, database):
    await store.add("secret", "ann", exchange(1))
    clock.time += 50
    await store.add("secret", "ann", exchange(2))
    clock.time += 50
    await store.add("s2", "ann", exchange(3))
    assert len(await store.turns("secret", "ann")) == 4

    clock.time += 11
    assert await store.turns("secret", "ann") == []
    await store.add("s3", "ann", exchange(3))
    with database.reading() as connection:
        rows = connection.execute(text("SELECT * FROM turns")).all()
    assert len(rows) == 4
    assert "secret" not in str(rows)
    with pytest.raises(SessionNotFoundError):
        await store.delete("secret", "ann")


async def test_half_a_character_and_a_nul_are_kept_as_well_as_the_database_can(store):
    await store.add("s1", "ann", [Turn("user", "a\0b")])

    assert [turn.text[::2] for turn in await store.turns("s1", "ann")] == ["ab"]


async def test_a_database_that_is_down_is_said_so(file):
    database = open_database(file, "postgresql://u:s3cret@127.0.0.1:1/n", collection="kb", timeout_s=2)
    store = Conversations(database, ttl_s=9, capacity=1)

    for calling in (store.turns("s1", "ann"), store.add("s1", "ann", exchange(1)), store.delete("s1", "ann")):
        with pytest.raises(SessionError, match=r"no conversation can be read .*DATABASE_URL"):
            await calling
