"""Delivery to a real RabbitMQ, through a proxy that is cut: nothing lost, in order, and once by its id."""

import asyncio
import random
import sqlite3
import threading
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import pytest

from app.ledger import open_database
from app.ledger.work import WaitingMessages
from app.wings.events.outbox import Outbox
from tests.event_stores import PLACES, Place, event_place, keep_and_wait, message
from tests.processes import start
from tests.proxy import Proxy
from tests.rabbit import PORT, sink, skip_without_broker, url
from tests.waiting import PATIENCE_S, await_until

pytestmark = pytest.mark.service


@pytest.fixture(autouse=True, scope="module")
def _broker():
    skip_without_broker()


place = pytest.fixture(event_place, params=PLACES)


@asynccontextmanager
async def line():
    """A sink, and a proxy before the broker."""
    async with sink() as taken, Proxy(PORT) as proxy:
        yield taken, proxy


async def test_messages_arrive_persistent_described_and_in_order(place):
    async with line() as (taken, proxy):
        box = place.outbox(proxy.port, taken.exchange)
        async with box.running():
            for number in range(300):
                box.submit(message(number))
            await await_until(lambda: len(taken.messages) == box.sent == 300)

    assert taken.ids == [f"m{number}" for number in range(300)]
    first = taken.messages[0]
    assert (first.routing_key, first.content_type, first.correlation_id) == (
        "analytics.test",
        "application/json",
        "request 0",
    )
    assert first.delivery_mode == 2
    assert first.headers == {}
    assert (box.waiting, box.dropped, await place.ids()) == (0, 0, [])


async def test_messages_whose_confirm_was_lost_are_sent_again_under_the_same_ids(place):
    async with line() as (taken, proxy):
        box = place.outbox(proxy.port, taken.exchange)
        async with box.running():
            box.submit(message(0))
            await await_until(lambda: box.sent == 1)
            proxy.deaf = True
            for number in range(1, 5):
                box.submit(message(number))
            await await_until(lambda: len(taken.messages) == 5)
            await await_until(lambda: box.waiting == 4)  # A count begun before the last were stored may end after.
            await proxy.cut()
            proxy.deaf = False
            box.submit(message(5))
            await proxy.restore()
            await await_until(lambda: box.sent == 6)

    assert taken.ids == [f"m{number}" for number in range(6)]


async def test_through_many_cuts_every_message_arrives_in_order(place):
    chance = random.Random(7)  # noqa: S311 - cuts keep no secrets.
    async with line() as (taken, proxy):
        box = place.outbox(proxy.port, taken.exchange)
        async with box.running():
            for number in range(1000):
                box.submit(message(number))
                if number % 250 == 100:
                    await await_until(partial(taken.holds, chance.randrange(number)))
                    proxy.deaf = chance.random() < 0.5
                    await asyncio.sleep(chance.random() / 50)
                    await proxy.cut()
                    proxy.deaf = False
                if number % 250 == 200:
                    await proxy.restore()
            await await_until(lambda: box.sent == 1000)

    assert taken.ids == [f"m{number}" for number in range(1000)]


async def test_while_the_broker_is_away_messages_wait_in_the_store_and_a_full_store_drops_the_oldest(place):
    async with line() as (taken, proxy):
        await proxy.cut()
        box = place.outbox(proxy.port, taken.exchange, capacity=10)
        async with box.running():
            for number in range(25):
                box.submit(message(number))
            await await_until(lambda: box.dropped == 15)
        assert (box.waiting, box.dropped, box.sent) == (10, 15, 0)
        assert await place.ids() == [f"m{number}" for number in range(15, 25)]

        await proxy.restore()
        again = place.outbox(proxy.port, taken.exchange, capacity=10)
        async with again.running():
            await await_until(lambda: again.sent == 10)

    assert taken.ids == [f"m{number}" for number in range(15, 25)]


async def test_what_is_queued_at_the_end_is_delivered_before_it(place):
    async with line() as (taken, proxy):
        box = place.outbox(proxy.port, taken.exchange, flush_s=30)
        async with box.running():
            for number in range(500):
                box.submit(message(number))
        box.submit(message(500))
        await await_until(lambda: len(taken.messages) == 500)

    assert (box.sent, box.waiting) == (500, 0)


async def test_of_two_processes_with_one_store_the_second_takes_over_where_the_first_ends(place):
    async with line() as (taken, proxy):
        first, second = (place.outbox(proxy.port, taken.exchange) for _ in range(2))
        async with second.running():
            await await_until(lambda: second.waiting == 0)
            async with first.running():
                first.submit(message(0))
                second.submit(message(1))
                await await_until(lambda: len(taken.messages) == 2)
            second.submit(message(2))
            await await_until(lambda: len(taken.messages) == 3)

    assert sorted(taken.ids) == ["m0", "m1", "m2"]
    assert first.sent + second.sent == 3


async def test_what_a_killed_process_kept_is_delivered_by_another(place):
    async with line() as (taken, proxy), Proxy(PORT) as silent:
        silent.deaf = True
        child = start(keep_and_wait, place, silent.port, 5)
        await await_until(lambda: silent.accepted)  # It is the one that delivers.
        box = place.outbox(proxy.port, taken.exchange)
        async with box.running():
            await await_until(lambda: box.waiting == 5)
            child.kill()
            child.join()
            await await_until(lambda: box.sent == 5)

    assert taken.ids == [f"m{number}" for number in range(5)]


async def test_a_disk_that_refuses_holds_messages_in_memory(tmp_path):
    path = tmp_path / "events.sqlite3"
    async with line() as (taken, proxy):
        box = Place(str(path)).outbox(proxy.port, taken.exchange)
        async with box.running():
            box.submit(message(0))
            await await_until(lambda: (box.sent, box.waiting) == (1, 0))
            outside = sqlite3.connect(path)
            outside.execute("ALTER TABLE outbox RENAME TO elsewhere")
            for number in range(1, 20):
                box.submit(message(number))
            await await_until(lambda: box.waiting == 19)
            assert box.sent == 1
            outside.execute("ALTER TABLE elsewhere RENAME TO outbox")
            outside.close()
            await await_until(lambda: box.sent == 20)

    assert taken.ids == [f"m{number}" for number in range(20)]


class Counting(WaitingMessages):
    """Says how often it was counted; the next count of more than none is kept back while `going_on` is clear."""

    def __init__(self, path: Path) -> None:
        super().__init__(open_database(path, None, collection="events"), capacity=1000)
        self.counts = 0
        self.is_kept_back = False
        self.going_on = threading.Event()
        self.going_on.set()

    def count(self) -> int:
        number = super().count()
        self.counts += 1
        if number and not self.going_on.is_set() and not self.is_kept_back:
            self.is_kept_back = True
            self.going_on.wait(PATIENCE_S)
        return number


async def test_a_count_begun_before_a_message_was_stored_is_not_the_last(tmp_path):
    store = Counting(tmp_path / "events.sqlite3")
    async with line() as (taken, proxy):
        box = Outbox(store, url(proxy.port), exchange=taken.exchange, flush_s=0)
        async with box.running():
            box.submit(message(0))
            await await_until(lambda: (box.sent, box.waiting) == (1, 0))
            counts = store.counts
            await await_until(lambda: store.counts > counts)  # Before, the sender may look for more without a count.
            proxy.deaf = True
            store.going_on.clear()
            store.put([message(1)])
            await await_until(lambda: store.is_kept_back)
            box.submit(message(2))
            await await_until(lambda: len(store.first(10)) == 2)
            store.going_on.set()
            await await_until(lambda: taken.holds(3))
            await await_until(lambda: box.waiting == 2)
            await proxy.cut()


async def test_what_is_held_in_memory_is_not_forgotten_by_a_count(tmp_path):
    store = Counting(tmp_path / "events.sqlite3")
    async with line() as (taken, proxy):
        box = Outbox(store, url(proxy.port), exchange=taken.exchange, max_pause_s=0.05)
        async with box.running():
            box.submit(message(0))
            await await_until(lambda: (box.sent, box.waiting) == (1, 0))
            outside = sqlite3.connect(tmp_path / "events.sqlite3")
            outside.execute("CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'full'); END")
            box.submit(message(1))
            counts = store.counts
            await await_until(lambda: store.counts > counts + 1)
            assert box.waiting == 1
            outside.execute("DROP TRIGGER full")
            outside.close()
            await await_until(lambda: box.sent == 2)

    assert taken.ids == ["m0", "m1"]
    assert box.waiting == 0


async def test_a_locked_file_does_not_delay_the_end(tmp_path):
    path = tmp_path / "events.sqlite3"
    async with line() as (_, proxy):
        box = Place(str(path)).outbox(proxy.port, "unused", flush_s=0)
        async with asyncio.timeout(50):  # SQLite's patience with the lock was 30 s, twice.
            async with box.running():
                other = sqlite3.connect(path, isolation_level=None)
                other.execute("BEGIN EXCLUSIVE")
                box.submit(message(0))
                await await_until(lambda: box.waiting)
        other.close()
