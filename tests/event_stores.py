"""Where the messages of a test wait: a ledger in a file or in a database."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import pytest

from app.ledger import open_database
from app.ledger.work import WaitingMessages
from app.ports import Message
from app.wings.events.outbox import Outbox
from tests.rabbit import skip_without_broker, url


@dataclass(frozen=True)
class Place:
    """A ledger by its address: the path of a file, or postgresql://..."""

    address: str

    def open(self, capacity: int = 10_000) -> WaitingMessages:
        is_url = self.address.startswith("postgresql:")
        file = Path("unused") if is_url else Path(self.address)
        database = open_database(file, self.address if is_url else None, collection="events")
        return WaitingMessages(database, capacity=capacity)

    def outbox(self, port: int, exchange: str = "events", *, capacity: int = 10_000, **options: float) -> Outbox:
        pauses = {"pause_s": 0.01, "max_pause_s": 0.05}
        return Outbox(self.open(capacity), url(port), exchange=exchange, **pauses | options)

    async def ids(self) -> list[str]:
        return [message.id for message in await asyncio.to_thread(self.open().first, 10_000)]


def event_place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A fixture of an empty store, where RabbitMQ runs: `place = pytest.fixture(event_place, params=PLACES)`."""
    skip_without_broker()
    if request.param == "file":
        return Place(str(tmp_path / "events.sqlite3"))
    return Place(request.getfixturevalue("database_url"))


PLACES = ["file", "postgres"]


def keep_and_wait(place: Place, port: int, count: int) -> None:
    """Keep messages for a broker that does not answer, until this process is killed."""

    async def keep() -> None:
        outbox = place.outbox(port, capacity=count)
        async with outbox.running():
            for number in range(count):
                outbox.submit(message(number))
            await asyncio.Event().wait()

    asyncio.run(keep())


def message(number: int) -> Message:
    return Message(f"m{number}", "analytics.test", f"request {number}", f'{{"number": {number}}}')
