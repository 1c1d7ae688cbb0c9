"""Conversations by their owner and session in PostgreSQL, for all hosts of a service."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from langchain_core.runnables import run_in_executor
from sqlalchemy import Connection, text

from app.adapters.sessions.conversations import conversation_key, read_turns, trimmed
from app.wings.postgres.database import Database
from app.wings.postgres.driver import as_json
from app.wings.postgres.schema import SCHEMA, check_schema
from chains.errors import ConfigurationError, SessionError, SessionNotFoundError, VectorStoreError
from chains.history import Turn

T = TypeVar("T")
TABLE = f"{SCHEMA}.conversations"
READ = f"SELECT turns FROM {TABLE} WHERE key = :key AND expires_at > now()"
EXPIRE = f"DELETE FROM {TABLE} WHERE key IN (SELECT key FROM {TABLE} WHERE expires_at <= now() FOR UPDATE SKIP LOCKED)"
BEGIN = f"""
INSERT INTO {TABLE} (key, owner, expires_at) VALUES (:key, :owner, now() + make_interval(secs => :ttl_s))
ON CONFLICT (key) DO NOTHING
"""
KEEP = f"""
UPDATE {TABLE} SET turns = :turns, expires_at = now() + make_interval(secs => :ttl_s), used = DEFAULT WHERE key = :key
"""
DROP_OLDEST = f"""
DELETE FROM {TABLE} WHERE key IN
    (SELECT key FROM {TABLE} ORDER BY used DESC OFFSET :capacity FOR UPDATE SKIP LOCKED)
"""
DELETE = f"DELETE FROM {TABLE} WHERE key = :key AND expires_at > now()"


class PostgresConversations:
    """Keeps up to `capacity` conversations, each for `ttl_s` seconds after its last turn; the oldest goes first.

    What is added together is added in one transaction, which locks the conversation.
    """

    def __init__(self, database: Database, *, ttl_s: int, capacity: int) -> None:
        self._database, self._ttl_s, self._capacity = database, ttl_s, capacity
        self._is_checked = False

    async def turns(self, session_id: str, owner: str) -> list[Turn]:
        """Return the turns, oldest first; none where the owner has no such conversation, or it has expired.

        Raises:
            SessionError: the database does not answer.
        """
        key = conversation_key(session_id, owner)
        return await self._in_transaction(lambda connection: self._turns(connection, key))

    async def add(self, session_id: str, owner: str, turns: Sequence[Turn]) -> None:
        """Put these turns behind the others at once; the first ones begin the conversation.

        Raises:
            SessionError: the database does not answer.
        """
        await self._in_transaction(lambda connection: self._add(connection, session_id, owner, turns))

    async def delete(self, session_id: str, owner: str) -> None:
        """Forget a conversation.

        Raises:
            SessionNotFoundError: the owner has none of this id.
            SessionError: the database does not answer.
        """

        def delete(connection: Connection) -> None:
            if not connection.execute(text(DELETE), {"key": conversation_key(session_id, owner)}).rowcount:
                raise SessionNotFoundError(session_id)

        await self._in_transaction(delete)

    def check(self) -> str:
        """Read once, and say where conversations are kept.

        Raises:
            SessionError: the database does not answer.
        """
        with self._transaction() as connection:
            connection.execute(text(READ), {"key": ""})
        return f"postgres at {self._database.address}"

    def _turns(self, connection: Connection, key: str, *, lock: bool = False) -> list[Turn]:
        """Return the turns; none where what is kept is damaged, so that the next turns replace it."""
        query = f"{READ} FOR UPDATE" if lock else READ
        row = connection.execute(text(query), {"key": key}).one_or_none()
        return (read_turns(row.turns) or []) if row else []

    def _add(self, connection: Connection, session_id: str, owner: str, turns: Sequence[Turn]) -> None:
        key = conversation_key(session_id, owner)
        values = {"key": key, "owner": owner, "ttl_s": self._ttl_s}
        connection.execute(text(EXPIRE))
        connection.execute(text(BEGIN), values)
        said = trimmed([*self._turns(connection, key, lock=True), *turns])
        connection.execute(text(KEEP), values | {"turns": as_json(said)})
        connection.execute(text(DROP_OLDEST), {"capacity": self._capacity})

    async def _in_transaction(self, work: Callable[[Connection], T]) -> T:
        """Do the work in a thread: the event loop never waits for the database."""

        def run() -> T:
            with self._transaction() as connection:
                return work(connection)

        return await run_in_executor(None, run)

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        try:
            if not self._is_checked:
                check_schema(self._database)
                self._is_checked = True
            with self._database.transaction() as connection:
                yield connection
        except (VectorStoreError, ConfigurationError) as error:
            msg = f"no conversation can be read or kept: {error}"
            raise SessionError(msg) from error
