"""Connections to PostgreSQL: a pool, transactions that span several parts, and one connection held for long."""

import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.pool import QueuePool

from app.wings.postgres.driver import LOST, Address, explained, psycopg, text_dumpers, translate
from chains.errors import VectorStoreError

# How many neighbours a search follows: with 400, four in a hundred of the true ones are missed at a million chunks,
# with 600 two. A filter that leaves too few goes on with the next ones.
SEARCH_BREADTH = 600
# A host or a server that vanished without a word, as at a power cut, is given up by the other side after a minute, and
# its locks are released; systems wait for two hours.
IDLE_S, INTERVAL_S, PROBES, UNHEARD_MS = 30, 10, 3, 60_000
SETTINGS = f"""
SELECT set_config('statement_timeout', %(timeout_ms)s, false), set_config('hnsw.ef_search', %(breadth)s, false),
       set_config('hnsw.iterative_scan', 'strict_order', false), set_config('random_page_cost', '1.1', false),
       set_config('tcp_keepalives_idle', '{IDLE_S}', false), set_config('tcp_keepalives_count', '{PROBES}', false),
       set_config('tcp_keepalives_interval', '{INTERVAL_S}', false),
       set_config('tcp_user_timeout', '{UNHEARD_MS}', false)
"""
PATIENCE = {
    "keepalives_idle": IDLE_S,
    "keepalives_interval": INTERVAL_S,
    "keepalives_count": PROBES,
    "tcp_user_timeout": UNHEARD_MS,
}


class Database:
    """The database at DATABASE_URL, for any number of threads; connections are opened when they are needed.

    Args:
        url: any address that libpq takes, like postgresql://user:password@host:5432/name; it is never shown.
        pool_size: most connections of this process.
        timeout_s: how long to wait for a connection, and for the answer to a question.

    Raises:
        ConfigurationError: the address is none, or the driver is not installed.
    """

    def __init__(self, url: str, *, pool_size: int, timeout_s: float) -> None:
        self.address = Address(url)
        self._timeout_s = timeout_s
        self._engine = _engine(self.address, pool_size, timeout_s)
        weakref.finalize(self, self._engine.dispose).atexit = False
        self._current: ContextVar[Connection | None] = ContextVar("connection", default=None)

    @contextmanager
    def transaction(self) -> Iterator[Connection]:
        """Give the connection of the transaction that is open here, or of a new one over the body.

        Raises:
            VectorStoreError: the database does not answer, or refuses; nothing of the transaction was kept. So does
                every statement.
        """
        current = self._current.get()
        if current is None:
            with self.connection() as connection, connection.begin():
                yield connection
        elif current.in_transaction():
            yield current
        elif current.invalidated:  # It would connect anew, and what was locked is locked no more.
            msg = f"the connection to {self.address} is lost; {LOST}"
            raise VectorStoreError(msg)
        else:
            with self._named(), current.begin():
                yield current

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Let all that the body reads be of one moment; inside a transaction it is of that one."""
        if self._current.get() is not None:
            with self.transaction() as current:
                yield current
            return
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self.connection(**options) as connection, connection.begin():
            yield connection

    @contextmanager
    def connection(self, **options: Any) -> Iterator[Connection]:
        """Use one connection for all that the body, and what it calls, reads and writes."""
        with self._named(), self._engine.connect() as connection:
            token = self._current.set(connection.execution_options(**options) if options else connection)
            try:
                yield connection
            finally:
                self._current.reset(token)

    @contextmanager
    def unhurried(self) -> Iterator[Connection]:
        """Do the same without a limit of time for a statement: for ingestion."""
        with self.connection() as connection:
            with connection.begin():
                connection.execute(text("SET statement_timeout = 0"))
            try:
                yield connection
            finally:
                connection.invalidate()  # It is not like the others of the pool; what it locks is released.

    def copy_rows(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Add rows by COPY, which is several times as fast as INSERT; `columns` are types by name.

        A value of the type `bytea` is sent as it is: it may be what another type of column receives.
        """
        with self.transaction() as connection:
            cursor = connection.connection.cursor()
            try:
                with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)") as copy:
                    copy.set_types(list(columns.values()))
                    for row in rows:
                        copy.write_row(row)
            except psycopg().Error as error:
                raise explained(error, self.address) from error

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        self._engine.dispose()

    @contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except PoolTimeoutError as error:
            msg = f"all connections to {self.address} are in use; let fewer ask at once (MAX_CONCURRENT_QUESTIONS)"
            raise VectorStoreError(msg) from error
        except SQLAlchemyError as error:  # What no statement raised: a commit, a connection that was lost.
            raise explained(error, self.address) from error


def _engine(address: Address, pool_size: int, timeout_s: float) -> Engine:
    engine = create_engine(
        "postgresql+psycopg://",
        creator=partial(_connect, address, timeout_s),
        poolclass=QueuePool,
        pool_size=pool_size,
        max_overflow=0,
        pool_timeout=timeout_s,
        pool_pre_ping=True,  # A server that was started again is found again without an error.
    )
    event.listen(engine, "handle_error", translate(address))
    return engine


def _connect(address: Address, timeout_s: float) -> Any:
    usual = PATIENCE | {"connect_timeout": max(2, round(timeout_s))}
    connection = psycopg().connect(**usual | address.options)
    for dumper in text_dumpers():
        connection.adapters.register_dumper(str, dumper)
    connection.autocommit = True
    values = {"timeout_ms": str(round(1000 * timeout_s)), "breadth": str(SEARCH_BREADTH)}
    connection.execute(SETTINGS, values)
    connection.autocommit = False
    return connection
