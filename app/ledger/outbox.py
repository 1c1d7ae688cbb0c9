"""Messages that wait for the broker, in the order in which they were stored, for all processes of a service."""

from collections.abc import Sequence
from contextlib import AbstractContextManager

from sqlalchemy import bindparam, text

from app.ledger.database import Database
from app.ports import Message

PUT = text("""
INSERT INTO outbox (id, routing_key, correlation_id, body) VALUES (:id, :routing_key, :correlation_id, :body)
ON CONFLICT (id) DO NOTHING
""")
DROP = text("DELETE FROM outbox WHERE place <= (SELECT place FROM outbox ORDER BY place DESC LIMIT 1 OFFSET :capacity)")
FIRST = text("SELECT id, routing_key, correlation_id, body FROM outbox ORDER BY place LIMIT :limit")
REMOVE = text("DELETE FROM outbox WHERE id IN :ids").bindparams(bindparam("ids", expanding=True))
COUNT = text("SELECT count(*) FROM outbox")


class WaitingMessages:
    """At most `capacity` messages. Every method raises VectorStoreError where the ledger cannot be used."""

    def __init__(self, database: Database, *, capacity: int) -> None:
        self._database, self._capacity = database, capacity

    @property
    def place(self) -> str:
        """Where they wait, without a secret."""
        return f"the ledger {self._database.place}"

    def put(self, messages: Sequence[Message]) -> int:
        """Store the messages but those whose id is there, and return how many of the oldest were dropped for them."""
        with self._database.changing() as connection:
            connection.execute(PUT, [message._asdict() for message in messages])
            return connection.execute(DROP, {"capacity": self._capacity}).rowcount

    def first(self, limit: int) -> list[Message]:
        """Return the oldest messages, at most `limit`."""
        with self._database.reading() as connection:
            return [Message(*row) for row in connection.execute(FIRST, {"limit": limit})]

    def remove(self, messages: Sequence[Message]) -> int:
        """Remove messages, and return how many of them were there."""
        with self._database.changing() as connection:
            return connection.execute(REMOVE, {"ids": [message.id for message in messages]}).rowcount

    def count(self) -> int:
        with self._database.reading() as connection:
            return int(connection.execute(COUNT).scalar_one())

    def delivering(self) -> AbstractContextManager[bool]:
        """Let no other process deliver while the body runs; yield False where one does."""
        return self._database.lock("events")
