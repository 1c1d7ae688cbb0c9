"""Messages in a real PostgreSQL that is stopped and cut, delivered to a real RabbitMQ by one host at a time."""

import asyncio
import threading
from contextlib import closing

import psycopg
import pytest

from app.ports import EventStoreError
from app.wings.postgres.database import Database
from app.wings.postgres.events import PostgresEvents
from chains.errors import ConfigurationError
from tests.event_stores import Place, emptied, message
from tests.proxy import Proxy
from tests.rabbit import PORT, sink, skip_without_broker
from tests.waiting import await_until, wait_until

pytestmark = pytest.mark.service

CUT_WHO_DELIVERS = """
SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND granted
AND objid = (hashtext('waypoint.events.deliver')::bigint & 4294967295)::oid
"""


@pytest.fixture
def place(database_url) -> Place:
    return emptied(database_url)


def execute(url, statement):
    with psycopg.connect(url, autocommit=True) as connection:
        return connection.execute(statement)


def cut_who_delivers(url) -> bool:
    return execute(url, CUT_WHO_DELIVERS).rowcount == 1


@pytest.fixture
def two(place):
    with closing(place.open()) as first, closing(place.open()) as second:
        yield first, second


def test_one_delivers_until_its_connection_is_lost_and_then_neither_reads_nor_removes(place, two):
    first, second = two
    first.put([message(0), message(1)])
    assert (first.claim(), first.claim(), second.claim()) == (True, True, False)
    assert first.first(1) == [message(0)]

    assert cut_who_delivers(place.address)
    wait_until(second.claim)  # The server ends the connection a moment later.
    for calling in (lambda: first.first(1), lambda: first.first(1), lambda: first.remove_through("m0")):
        with pytest.raises(EventStoreError):
            calling()

    assert not first.claim()
    assert second.first(2) == [message(0), message(1)]


def test_who_stores_over_a_new_connection_still_does_not_deliver(place, two):
    first, _ = two
    assert first.claim()
    assert cut_who_delivers(place.address)
    with pytest.raises(EventStoreError):
        first.put([message(0)])
    assert first.put([message(0)]) == 0

    with pytest.raises(EventStoreError, match="the connection that let this process deliver is lost"):
        first.first(1)
    assert first.claim()
    assert first.first(1) == [message(0)]


def test_a_store_that_is_closed_leaves_the_delivery_to_another(place, two):
    _, second = two
    with closing(place.open()) as first:
        assert first.claim()
        assert not second.claim()
    assert second.claim()


def test_what_is_put_again_is_kept_once_and_a_full_table_drops_the_oldest(place):
    with closing(place.open(capacity=3)) as store:
        assert store.put([message(0), message(1)]) == 0
        assert store.put([message(0), message(1), message(2)]) == 0
        assert store.put([message(3), message(4)]) == 2
        assert store.count() == 3
        assert store.claim()
        assert store.first(10) == [message(2), message(3), message(4)]
        assert store.remove_through("m3") == 2
        assert store.remove_through("unknown") == 0
        assert store.first(10) == [message(4)]


def test_nothing_that_hosts_store_at_the_same_time_is_removed_unseen(place):
    hosts, each = 4, 60

    def keep(host: int) -> None:
        with closing(place.open()) as store:
            for number in range(each):
                store.put([message(1000 * host + number)])

    threads = [threading.Thread(target=keep, args=[host]) for host in range(hosts)]
    seen: list[str] = []
    with closing(place.open()) as store:
        assert store.claim()
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads) or store.count():
            if batch := store.first(100):
                seen += [known.id for known in batch]
                store.remove_through(batch[-1].id)
    assert sorted(seen) == sorted(f"m{1000 * host + number}" for host in range(hosts) for number in range(each))


def test_tables_of_another_version_are_told_of_and_not_touched(empty_database_url):
    with closing(Place(empty_database_url).open()) as store:
        store.put([message(0)])
    execute(empty_database_url, "UPDATE waypoint.alembic_version SET version_num = '0003'")
    with closing(Place(empty_database_url).open()) as store:
        with pytest.raises(ConfigurationError, match="run `waypoint migrate`"):
            store.check()
        with pytest.raises(EventStoreError, match="run `waypoint migrate`"):
            store.put([message(1)])


async def test_through_restarts_of_the_database_every_message_arrives_in_order_under_its_id(postgres_server, place):
    skip_without_broker()
    async with sink() as taken, Proxy(PORT) as proxy:
        box = place.outbox(proxy.port, taken.exchange)
        async with box.running():
            for number in range(600):
                box.submit(message(number))
                if number in {200, 400}:
                    await await_until(lambda: taken.holds(100))
                    await asyncio.to_thread(postgres_server.stop)
                if number in {300, 500}:
                    await asyncio.to_thread(postgres_server.start)
            await await_until(lambda: taken.holds(600) and box.waiting == 0)

    assert taken.ids == [f"m{number}" for number in range(600)]
    assert (box.dropped, await place.ids()) == (0, [])


async def test_a_database_that_is_away_at_the_start_holds_messages_in_memory_up_to_the_capacity(postgres_server, place):
    skip_without_broker()
    await asyncio.to_thread(postgres_server.stop)
    started = False
    try:
        async with sink() as taken:
            box = place.outbox(PORT, taken.exchange, capacity=10)
            async with box.running():
                box.submit(message(0))
                await await_until(lambda: box.waiting == 1 and not box._arrivals)
                for number in range(1, 25):
                    box.submit(message(number))
                assert (box.waiting, box.dropped, box.sent) == (11, 14, 0)
                await asyncio.to_thread(postgres_server.start)
                started = True
                await await_until(lambda: box.waiting == 0)
            assert taken.ids[-10:] == [f"m{number}" for number in range(15, 25)]
    finally:
        if not started:
            await asyncio.to_thread(postgres_server.start)


async def test_of_two_hosts_the_second_goes_on_where_the_first_lost_its_connection(place):
    skip_without_broker()
    async with sink() as taken, Proxy(PORT) as silent, Proxy(PORT) as proxy:
        first, second = place.outbox(silent.port, taken.exchange), place.outbox(proxy.port, taken.exchange)
        async with first.running():
            for number in range(50):
                first.submit(message(number))
            await await_until(lambda: first.sent == 50)
            silent.deaf = True
            async with second.running():
                second.submit(message(50))
                await await_until(lambda: taken.holds(51))  # Sent by the first, which hears no confirm.
                assert await asyncio.to_thread(cut_who_delivers, place.address)
                await await_until(lambda: proxy.accepted)
                second.submit(message(51))
                await await_until(lambda: second.waiting == 0 and taken.holds(52))
            await silent.cut()

    assert taken.ids == [f"m{number}" for number in range(52)]
    assert first.sent + second.sent == 52


def test_a_database_that_does_not_answer_is_an_error_of_the_store():
    database = Database("postgresql://user:s3cret@127.0.0.1:9/name", pool_size=1, timeout_s=2)
    with closing(PostgresEvents(database, capacity=1)) as store:
        for calling in (store.check, store.count, store.claim, lambda: store.put([message(0)])):
            with pytest.raises(EventStoreError, match=r"127\.0\.0\.1:9/name") as caught:
                calling()
            assert "s3cret" not in str(caught.value)
