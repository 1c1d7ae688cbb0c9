"""Messages that wait for the broker."""

import pytest

from app.ledger import open_database
from app.ledger.work import WaitingMessages
from tests.event_stores import message


@pytest.fixture
def store(database) -> WaitingMessages:
    return WaitingMessages(database, capacity=3)


def ids(store: WaitingMessages, limit: int = 10) -> list[str]:
    return [waiting.id for waiting in store.first(limit)]


def test_messages_are_read_in_their_order_once_and_as_they_were_put(store):
    assert store.put([message(1), message(0)]) == store.put([message(0), message(2)]) == 0

    assert store.first(2) == [message(1), message(0)]
    assert ids(store) == ["m1", "m0", "m2"]
    assert store.count() == 3


def test_a_full_store_drops_the_oldest(store):
    store.put([message(0), message(1)])

    assert store.put([message(2), message(3), message(4)]) == 2
    assert ids(store) == ["m2", "m3", "m4"]


def test_only_what_was_sent_is_removed(store):
    store.put([message(0), message(1), message(2)])
    sent = store.first(2)
    store.put([message(3)])

    assert store.remove(sent) == 1
    assert ids(store) == ["m2", "m3"]


def test_one_process_delivers_until_it_is_done(store, file, address):
    other = WaitingMessages(open_database(file, address, collection="kb"), capacity=3)

    with store.delivering() as ours, other.delivering() as theirs:
        assert (ours, theirs) == (True, False)
    with other.delivering() as theirs:
        assert theirs
