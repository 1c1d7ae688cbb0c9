"""Where the messages of a test wait: a file, or a table of a database."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import psycopg

from app.ports import EventStore, Message
from app.wings.events.file_events import FileEvents
from app.wings.events.outbox import Outbox
from app.wings.events.publisher import Publisher
from app.wings.postgres.database import Database
from app.wings.postgres.events import PostgresEvents
from tests.rabbit import url

TIMEOUT_S = 5


@dataclass(frozen=True)
class Place:
    """A store by its address: the path of a file, or postgresql://..."""

    address: str

    def open(self, capacity: int = 10_000) -> EventStore:
        if self.address.startswith("postgresql:"):
            return PostgresEvents(Database(self.address, pool_size=1, timeout_s=TIMEOUT_S), capacity=capacity)
        return FileEvents(Path(self.address), capacity=capacity)

    def outbox(self, port: int, exchange: str = "events", *, capacity: int = 10_000, **options: float) -> Outbox:
        pauses = {"pause_s": 0.01, "max_pause_s": 0.05}
        publisher = Publisher(url(port), exchange=exchange)
        return Outbox(lambda: self.open(capacity), publisher, capacity=capacity, **pauses | options)

    async def ids(self) -> list[str]:
        """Return what waits, as the process that delivers reads it."""
        return await asyncio.to_thread(self._ids)

    def _ids(self) -> list[str]:
        store = self.open()
        try:
            assert store.claim()
            return [message.id for message in store.first(10_000)]
        finally:
            store.close()


def message(number: int) -> Message:
    return Message(f"m{number}", "analytics.test", f"request {number}", f'{{"number": {number}}}')


def emptied(database_url: str) -> Place:
    """Return the table of a database, without what other tests left in it."""
    place = Place(database_url)
    store = place.open()
    store.count()  # Makes the table where there is none.
    store.close()
    with psycopg.connect(database_url) as connection:
        connection.execute("DELETE FROM waypoint.events")
    return place
