"""Messages that wait for the broker, in a table of PostgreSQL that all hosts share.

One connection is held for everything. The process whose connection holds the lock delivers; the server releases the
lock with the connection, so whoever lost it reads and removes nothing more before it has the lock again.
"""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

from sqlalchemy import Connection, text

from app.ports import EventStoreError, Message
from app.wings.postgres.database import Database
from app.wings.postgres.schema import SCHEMA, check_schema
from chains.errors import ConfigurationError, VectorStoreError

TABLE = f"{SCHEMA}.events"
# Changes are made one after the other: else a message with an earlier place may appear after a later one was delivered,
# and be removed with it.
ALONE = "SELECT pg_advisory_xact_lock(hashtext('waypoint.events.change'))"
CLAIM = "SELECT pg_try_advisory_lock(hashtext('waypoint.events.deliver'))"
PUT = f"""
INSERT INTO {TABLE} (id, routing_key, correlation_id, body) VALUES (:id, :routing_key, :correlation_id, :body)
ON CONFLICT (id) DO NOTHING
"""
DROP = f"DELETE FROM {TABLE} WHERE place <= (SELECT place FROM {TABLE} ORDER BY place DESC OFFSET :capacity LIMIT 1)"
FIRST = f"SELECT id, routing_key, correlation_id, body FROM {TABLE} ORDER BY place LIMIT :limit"
REMOVE = f"DELETE FROM {TABLE} WHERE place <= (SELECT place FROM {TABLE} WHERE id = :id)"
COUNT = f"SELECT count(*) FROM {TABLE}"


class PostgresEvents:
    """At most `capacity` messages of all hosts, the oldest first; used by one thread at a time.

    The database is asked for with the first call, and may be away then.
    """

    def __init__(self, database: Database, *, capacity: int) -> None:
        self._database, self._capacity = database, capacity
        self._held = ExitStack()
        self._connection: Connection | None = None
        self._delivers = False

    def check(self) -> str:
        """Read once, and say where messages wait.

        Raises:
            ConfigurationError: the tables do not fit this program.
            EventStoreError: the database does not answer.
        """
        try:
            check_schema(self._database)
        except VectorStoreError as error:
            raise EventStoreError(str(error)) from error
        self.count()
        return f"postgres at {self._database.address}"

    def put(self, messages: Sequence[Message]) -> int:
        """Store the messages but those whose id is there, and return how many of the oldest were dropped for them."""
        with self._changing() as connection:
            connection.execute(text(PUT), [message._asdict() for message in messages])
            return connection.execute(text(DROP), {"capacity": self._capacity}).rowcount

    def first(self, limit: int) -> list[Message]:
        """Return the oldest messages, at most `limit`.

        Raises:
            EventStoreError: this process does not deliver, or no more; or the database does not answer.
        """
        with self._transaction() as connection:
            self._require_delivery()
            return [Message(*row) for row in connection.execute(text(FIRST), {"limit": limit})]

    def remove_through(self, id_: str) -> int:
        """Remove a message and all before it, and return how many there were.

        Raises:
            EventStoreError: this process does not deliver, or no more; or the database does not answer.
        """
        with self._changing() as connection:
            self._require_delivery()
            return connection.execute(text(REMOVE), {"id": id_}).rowcount

    def count(self) -> int:
        """Return the number of messages."""
        with self._transaction() as connection:
            return int(connection.execute(text(COUNT)).scalar_one())

    def claim(self) -> bool:
        """Return whether this process is the one that delivers; no other does, on any host, while it is connected."""
        with self._transaction() as connection:
            self._delivers = bool(connection.execute(text(CLAIM)).scalar_one())
        return self._delivers

    def close(self) -> None:
        """Close the connection, and leave the delivery to another process."""
        self._let_go()
        self._database.close()

    def _require_delivery(self) -> None:
        if not self._delivers:
            msg = "the connection that let this process deliver is lost; another one may deliver now"
            raise EventStoreError(msg)

    @contextmanager
    def _changing(self) -> Iterator[Connection]:
        with self._transaction() as connection:
            connection.execute(text(ALONE))
            yield connection

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            self._hold()
            with self._database.transaction() as connection:
                yield connection
        except (VectorStoreError, ConfigurationError) as error:
            raise EventStoreError(str(error)) from error

    def _hold(self) -> None:
        """Hold a connection; a new one where there is none, or the one before is lost."""
        if self._connection is not None and not self._connection.invalidated:
            return
        self._let_go()
        check_schema(self._database)
        self._connection = self._held.enter_context(self._database.connection())

    def _let_go(self) -> None:
        if self._connection is not None:
            self._connection.invalidate()  # It does not go back to the pool: what it locks is released now.
        self._connection, self._delivers = None, False
        self._held.close()
