"""Connections, transactions and locks of the ledger, the same over both dialects."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from typing import Any, Literal

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from app.ledger.schema import metadata
from chains.errors import ConfigurationError, VectorStoreError

Dialect = Literal["sqlite", "postgresql"]
Steps = Sequence[Callable[["Database"], object]]
STATE = """
INSERT INTO facts (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
ALONE = text("SELECT pg_advisory_xact_lock(hashtext(current_schema() || '.' || :name))")


class Database(ABC):
    """The database, for any number of threads; connections are opened, and the tables made, when they are needed.

    Every method, and every statement over its connections, raises VectorStoreError where the database does not answer
    or refuses; nothing of the transaction is kept then.
    """

    dialect: Dialect

    def __init__(self, engine: Engine, steps: Steps) -> None:
        self._engine, self._steps = engine, steps
        self._current: ContextVar[Connection | None] = ContextVar("ledger_connection", default=None)

    @property
    @abstractmethod
    def place(self) -> str:
        """Return where the database is, without a secret, for messages."""

    @abstractmethod
    def explained(self, error: BaseException) -> VectorStoreError: ...

    @abstractmethod
    def lock(self, name: str) -> AbstractContextManager[bool]:
        """Hold a lock over processes and hosts, which ends with this process; yield False where another holds it."""

    @abstractmethod
    def scrub(self) -> None:
        """Let nothing on disk hold what was deleted, as far as the database can."""

    def reading(self) -> AbstractContextManager[Connection]:
        """Let all that the body reads be of one moment; inside a transaction it is of that one."""
        return self._transaction(writes=False)

    @contextmanager
    def changing(self, alone: str = "") -> Iterator[Connection]:
        """Make all that the body writes one change: readers see all of it or nothing. Inside another, a part of it.

        No two changes under one name, `alone`, run at the same time.
        """
        with self._transaction(writes=True) as connection:
            if alone and self.dialect == "postgresql":  # SQLite has one at a time.
                connection.execute(ALONE, {"name": alone})
            yield connection

    def rows(self, statement: str, **values: Any) -> Sequence[Any]:
        """Return what a query finds: `:name` stands for a value, `= ANY(:name)` for a list that the term is in."""
        with self._transaction(writes=None) as connection:
            return connection.exec_driver_sql(self.spelled(statement), self.given(values)).all()

    def value(self, statement: str, **values: Any) -> Any:
        """Return the first column of the first row that a query finds; None where it finds none."""
        return next((row[0] for row in self.rows(statement, **values)), None)

    def run(self, statement: str, values: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None) -> int:
        """Execute a statement, once for the values or for each of several, and return how many rows it changed."""
        given: Any = list(map(self.given, values)) if isinstance(values, Sequence) else self.given(values or {})
        with self.changing() as connection:
            return connection.exec_driver_sql(self.spelled(statement), given).rowcount

    def fact(self, name: str) -> str | None:
        stated: str | None = self.value("SELECT value FROM facts WHERE name = :name", name=name)
        return stated

    def state(self, name: str, value: str | None) -> None:
        """Keep a value under a name in place of the one before; None is no value."""
        if value is None:
            self.run("DELETE FROM facts WHERE name = :name", {"name": name})
        else:
            self.run(STATE, {"name": name, "value": value})

    def add_rows(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Add rows to a table; `columns` are PostgreSQL's types by name."""
        if values := [dict(zip(columns, row, strict=True)) for row in rows]:
            self.run(f"INSERT INTO {table} ({', '.join(columns)}) VALUES (:{', :'.join(columns)})", values)

    def take_time(self) -> None:  # noqa: B027 - a file has no limit.
        """Lift the limit of time from the statements of the current change."""

    @abstractmethod
    def spelled(self, statement: str) -> str:
        """Return a statement as the driver takes it."""

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return dict(values)

    def migrate(self) -> None:
        """Make the tables, or bring those of an earlier version to that of this program, in one transaction."""
        with self._engine.connect() as connection:
            self._check(connection, migrates=True)

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        self._engine.dispose()

    @contextmanager
    def _transaction(self, *, writes: bool | None) -> Iterator[Connection]:
        if (current := self._current.get()) is not None:
            yield current
            return
        try:
            with self._engine.connect() as connection:
                if not connection.info.get("checked"):
                    self._check(connection)
                with self._begun(connection, writes=writes):
                    yield connection
        except PoolTimeoutError as error:
            raise VectorStoreError(f"all connections to {self.place} are in use; let fewer ask at once") from error
        except SQLAlchemyError as error:  # What no statement raised: a commit, a connection that was lost.
            raise self.explained(error) from error

    @contextmanager
    def _begun(self, connection: Connection, *, writes: bool | None) -> Iterator[None]:
        self._begin_as(connection, writes=writes)
        with connection.begin():
            token = self._current.set(connection)
            try:
                yield
            finally:
                self._current.reset(token)

    def _check(self, connection: Connection, *, migrates: bool = False) -> None:
        """Make the tables in a database that has none, and refuse those of another version of this program."""
        with self._begun(connection, writes=False):
            version = self._version(connection)
        head = 1 + len(self._steps)  # The version of these tables.
        if version is None or (migrates and version < head):
            with self._begun(connection, writes=True):
                self._make_room(connection)
                version = self._version(connection)
                if version is None:
                    metadata.create_all(connection, checkfirst=False)
                else:
                    for step in self._steps[version - 1 :]:
                        step(self)
                version = max(version or head, head)
                self.state("schema", str(version))
        if version != head:
            remedy = "run `waypoint migrate`" if version < head else "install a later version of this program"
            raise ConfigurationError(f"the tables in {self.place} are of version {version}, not {head}; {remedy}")
        connection.info["checked"] = True

    def _version(self, connection: Connection) -> int | None:
        if not connection.exec_driver_sql(self._has_tables).scalar():
            return None
        return int(connection.exec_driver_sql("SELECT value FROM facts WHERE name = 'schema'").scalar() or 0)

    @property
    @abstractmethod
    def _has_tables(self) -> str:
        """Return the query that says whether the tables are there."""

    def _make_room(self, connection: Connection) -> None:  # noqa: B027 - a file has room for tables.
        """Make what the tables need, and let no other process do the same meanwhile."""

    @abstractmethod
    def _begin_as(self, connection: Connection, *, writes: bool | None) -> None:
        """Say how the transaction that follows has to begin; None is one query, which is of one moment by itself."""
