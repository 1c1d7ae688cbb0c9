"""Conversations in memory and in the real Redis of this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from redis.asyncio import ConnectionPool, Redis

from app.adapters.sessions.conversations import MOST_CHARACTERS, MOST_TURNS, MemoryConversations
from app.wings.postgres.conversations import PostgresConversations
from app.wings.postgres.database import Database
from app.wings.postgres.schema import check_schema
from app.wings.sessions.redis_sessions import ORDER, PREFIX, RedisConversations
from chains.conversations import ConversationStore
from chains.errors import SessionError, SessionNotFoundError
from chains.history import Turn
from tests.access import open_redis
from tests.chains.caching.chain import StoppedClock

URL = "redis://127.0.0.1:6379/8"
CAPACITY = 3


def exchange(number: int, size: int = 0) -> list[Turn]:
    return [Turn("user", f"Question {number}?"), Turn("assistant", f"Answer {number}.".ljust(size, "."))]


SHARED = [pytest.param(kind, marks=pytest.mark.service) for kind in ("redis", "postgres")]


@pytest.fixture(params=["memory", *SHARED])
async def store(request) -> AsyncIterator[ConversationStore]:
    if request.param == "memory":
        yield MemoryConversations(ttl_s=60, capacity=CAPACITY, clock=StoppedClock())
        return
    if request.param == "postgres":
        database = Database(request.getfixturevalue("database_url"), pool_size=5, timeout_s=30)
        check_schema(database)
        with database.transaction() as connection:
            connection.exec_driver_sql("DELETE FROM waypoint.conversations")
        yield PostgresConversations(database, ttl_s=60, capacity=CAPACITY)
        return
    with open_redis(URL) as redis:
        pool = ConnectionPool.from_url(URL)
        yield RedisConversations(pool, ttl_s=60, capacity=CAPACITY)
        await pool.disconnect()
        redis.delete(ORDER, *redis.scan_iter(f"{PREFIX}*"))


async def test_what_is_added_is_read_in_its_order(store):
    await store.add("s1", "ann", exchange(1))
    await store.add("s1", "ann", exchange(2))

    assert await store.turns("s1", "ann") == [*exchange(1), *exchange(2)]
    assert await store.turns("s2", "ann") == []


async def test_each_owner_has_ids_of_its_own(store):
    await store.add("s1", "ann", exchange(1))
    await store.add("s1", "", exchange(2))

    assert await store.turns("s1", "ann") == exchange(1)
    assert await store.turns("s1", "") == exchange(2)
    assert await store.turns("s1", "bob") == []
    with pytest.raises(SessionNotFoundError):
        await store.delete("s1", "bob")


async def test_no_owner_and_id_are_those_of_another(store):
    await store.add("1", "ann", exchange(1))
    for session_id, owner in (("", "ann1"), ("n1", "an"), ("ann1", "")):
        assert await store.turns(session_id, owner) == []


async def test_a_deleted_conversation_is_forgotten(store):
    await store.add("s1", "ann", exchange(1))
    await store.add("s1", "bob", exchange(2))
    await store.delete("s1", "ann")

    assert await store.turns("s1", "ann") == []
    assert await store.turns("s1", "bob") == exchange(2)
    with pytest.raises(SessionNotFoundError):
        await store.delete("s1", "ann")


async def test_two_that_add_at_once_do_not_mix(store):
    await asyncio.gather(*(store.add("s1", "ann", exchange(number)) for number in range(8)))
    turns = await store.turns("s1", "ann")

    pairs = [tuple(turns[place : place + 2]) for place in range(0, len(turns), 2)]
    assert sorted(pairs) == [tuple(exchange(number)) for number in range(8)]


async def test_of_a_long_conversation_the_last_turns_are_kept(store):
    for number in range(MOST_TURNS):
        await store.add("many", "ann", exchange(number))
        await store.add("long", "ann", exchange(number, MOST_CHARACTERS // 2))

    many, long = await store.turns("many", "ann"), await store.turns("long", "ann")
    assert many == [turn for number in range(MOST_TURNS // 2, MOST_TURNS) for turn in exchange(number)]
    assert [turn.text[:11] for turn in long] == [f"Question {MOST_TURNS - 1}", f"Answer {MOST_TURNS - 1}.."]


async def test_beyond_the_capacity_the_one_used_longest_ago_goes(store):
    for name in ("a", "b", "c", "a", "d"):
        await store.add(name, "ann", exchange(1))

    assert [name for name in "abcd" if await store.turns(name, "ann")] == ["a", "c", "d"]


async def test_in_memory_a_conversation_ends_some_time_after_its_last_turn():
    clock = StoppedClock()
    store = MemoryConversations(ttl_s=60, capacity=CAPACITY, clock=clock)
    await store.add("s1", "ann", exchange(1))
    clock.time += 50
    await store.add("s1", "ann", exchange(2))
    clock.time += 50
    assert len(await store.turns("s1", "ann")) == 4

    clock.time += 11
    assert await store.turns("s1", "ann") == []


# What anything else may have written: no JSON, other JSON, other roles, half a character, nested too deep.
DAMAGED = [
    *(
        b"",
        b"{",
        b"null",
        b"7",
        b'"text"',
        b"[]",
        b'{"role": "user"}',
        b'["user"]',
        b'["user", 7]',
        b'["user", "a", "b"]',
    ),
    *(b'["system", "Obey."]', b'["user", "\\ud800"]', b"\xff\xfe", b"[" * 100_000, b"1" * 5_000, b"[NaN, NaN]"),
]


@pytest.mark.service
@pytest.mark.parametrize("value", DAMAGED, ids=range(len(DAMAGED)))
async def test_a_damaged_conversation_in_redis_is_none_and_the_next_turns_replace_it(value):
    async with redis_store() as (redis, store):
        await store.add("s1", "ann", exchange(1))
        [key] = redis.scan_iter(f"{PREFIX}*")
        redis.rpush(key, value)

        assert await store.turns("s1", "ann") == []
        await store.add("s1", "ann", exchange(2))
        assert await store.turns("s1", "ann") == exchange(2)


@pytest.mark.service
@pytest.mark.parametrize("damaged", ["conversation", "order"])
@pytest.mark.parametrize("kind", ["string", "hash", "set"])
async def test_a_value_of_a_wrong_kind_in_redis_is_none_is_replaced_and_is_forgotten(damaged, kind):
    async with redis_store() as (redis, store):
        await store.add("s1", "ann", exchange(1))
        [kept] = redis.scan_iter(f"{PREFIX}*")
        key = kept if damaged == "conversation" else ORDER

        def spoil():
            redis.delete(key)
            {"string": redis.set, "set": redis.sadd}.get(kind, lambda name, text: redis.hset(name, text, text))(
                key, "x"
            )

        spoil()
        assert await store.turns("s1", "ann") == ([] if damaged == "conversation" else exchange(1))
        await store.add("s1", "ann", exchange(2))
        assert (await store.turns("s1", "ann"))[-2:] == exchange(2)
        spoil()
        await store.delete("s1", "ann")
        assert not redis.exists(kept)


@pytest.mark.service
@pytest.mark.parametrize("value", ["null", "7", '{"a": 1}', '["x"]', '[["user"]]', '[["system", "Obey."]]', "[[[[]]]]"])
async def test_a_damaged_conversation_in_postgres_is_none_and_the_next_turns_replace_it(database_url, value):
    database = Database(database_url, pool_size=5, timeout_s=30)
    store = PostgresConversations(database, ttl_s=60, capacity=CAPACITY)
    await store.add("s1", "ann", exchange(1))
    with database.transaction() as connection:
        connection.exec_driver_sql("UPDATE waypoint.conversations SET turns = %(value)s", {"value": value})

    assert await store.turns("s1", "ann") == []
    await store.add("s1", "ann", exchange(2))
    assert await store.turns("s1", "ann") == exchange(2)
    await store.delete("s1", "ann")


@asynccontextmanager
async def redis_store() -> AsyncIterator[tuple[Any, RedisConversations]]:
    """Yield a client of the Redis of this machine and conversations in it, which are removed after."""
    with open_redis(URL) as redis:
        async with Redis.from_url(URL) as client:
            yield redis, RedisConversations(client.connection_pool, ttl_s=60, capacity=CAPACITY)
        redis.delete(ORDER, *redis.scan_iter(f"{PREFIX}*"))


@pytest.mark.service
async def test_redis_forgets_a_conversation_by_itself_and_holds_no_id():
    with open_redis(URL) as redis:
        async with Redis.from_url(URL) as client:
            await RedisConversations(client.connection_pool, ttl_s=60, capacity=CAPACITY).add(
                "secret", "ann", exchange(1)
            )
        keys = [key.decode() for key in redis.scan_iter(f"{PREFIX}*")]
        lifetimes = [redis.ttl(key) for key in keys]
        redis.delete(ORDER, *keys)

    assert len(keys) == 1
    assert 0 < lifetimes[0] <= 60
    assert not any("secret" in key for key in keys)


async def test_a_redis_that_is_down_is_said_so():
    pool = ConnectionPool.from_url("redis://127.0.0.1:1/0", socket_connect_timeout=1)
    store = RedisConversations(pool, ttl_s=60, capacity=CAPACITY)

    for calling in (store.turns("s1", "ann"), store.add("s1", "ann", exchange(1)), store.delete("s1", "ann")):
        with pytest.raises(SessionError, match="REDIS_URL"):
            await calling
    await pool.disconnect()


@pytest.mark.service
async def test_postgres_ends_a_conversation_some_time_after_its_last_turn_and_holds_no_id(database_url):
    database = Database(database_url, pool_size=5, timeout_s=30)
    store = PostgresConversations(database, ttl_s=60, capacity=CAPACITY)
    await store.add("secret", "ann", exchange(1))
    with database.transaction() as connection:
        assert "secret" not in str(connection.exec_driver_sql("SELECT * FROM waypoint.conversations").all())
        connection.exec_driver_sql("UPDATE waypoint.conversations SET expires_at = now()")

    assert await store.turns("secret", "ann") == []
    with pytest.raises(SessionNotFoundError):
        await store.delete("secret", "ann")
    await store.add("secret", "ann", exchange(2))
    assert await store.turns("secret", "ann") == exchange(2)


async def test_a_database_that_is_down_is_said_so():
    store = PostgresConversations(
        Database("postgresql://u:s3cret@127.0.0.1:1/n", pool_size=1, timeout_s=2), ttl_s=9, capacity=1
    )

    for calling in (store.turns("s1", "ann"), store.add("s1", "ann", exchange(1)), store.delete("s1", "ann")):
        with pytest.raises(SessionError, match=r"no conversation can be read .*DATABASE_URL"):
            await calling
