"""The ledger in PostgreSQL with pgvector, which all hosts share: a schema for each collection, named after it."""

import hashlib
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache, partial
from types import ModuleType
from typing import Any

from sqlalchemy import Connection, create_engine, event, text
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.pool import QueuePool

from app.hooks import from_extra
from app.ledger.database import Database, Steps
from chains.errors import ConfigurationError, VectorStoreError

# How many neighbours a search follows: with 400, four in a hundred of the true ones are missed at a million chunks,
# with 600 two, with 700 one. A filter that leaves too few goes on with the next ones.
SEARCH_BREADTH = 700
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
LEAST_PGVECTOR = (0, 8)  # Filters that leave few rows need the iterative scans of this version.
AVAILABLE = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'"
TRY_LOCK = "SELECT pg_try_advisory_lock(hashtext(:schema), hashtext(:name))"
UNLOCK = "SELECT pg_advisory_unlock(hashtext(:schema), hashtext(:name))"
LONGEST_NAME = 63


def schema_of(collection: str) -> str:
    """Return the name of a collection's schema; PostgreSQL would cut a long one, so that two might be alike."""
    name = f"waypoint_{collection}"
    return name if len(name) <= LONGEST_NAME else f"{name[:40]}_{hashlib.sha256(name.encode()).hexdigest()[:16]}"


class PostgresDatabase(Database):
    """The database at DATABASE_URL, any address that libpq takes; it is never shown.

    `timeout_s` is how long to wait for one of `pool_size` connections, and for the answer to a question. Raise
    ConfigurationError if the address is none, or the driver is not installed.
    """

    dialect = "postgresql"

    def __init__(self, url: str, steps: Steps, *, schema: str, pool_size: int, timeout_s: float) -> None:
        driver, self.schema = psycopg(), schema
        from psycopg.conninfo import conninfo_to_dict  # noqa: PLC0415 - as below.

        try:
            self._options: dict[str, Any] = conninfo_to_dict(url)
        except driver.Error:
            msg = "DATABASE_URL is no address of a database; it has to look like postgresql://user:password@host/name"
            raise ConfigurationError(msg) from None  # Its words hold parts of the address.
        engine = create_engine(
            "postgresql+psycopg://",
            creator=partial(_connect, self._options, schema, timeout_s),
            poolclass=QueuePool,
            pool_size=pool_size,
            max_overflow=0,
            pool_timeout=timeout_s,
            pool_pre_ping=True,  # A server that was started again is found again without an error.
        )
        event.listen(engine, "handle_error", self._raise_ours)
        weakref.finalize(self, engine.dispose).atexit = False
        super().__init__(engine, steps)

    @property
    def place(self) -> str:
        host, port = self._options.get("host", "localhost"), self._options.get("port", "5432")
        return f"{host}:{port}/{self._options.get('dbname', '')}"

    def explained(self, error: BaseException) -> VectorStoreError:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        state = getattr(error, "sqlstate", None) or ""
        by_state = (REMEDIES.get(code) for code in (state, state[:2]))
        by_words = (remedy for words, remedy in WORDS.items() if re.search(words, str(error)))
        remedy = next(filter(None, (*by_state, *by_words)), OTHERWISE)
        return VectorStoreError(f"the database {self.place} failed ({reason}); {remedy}")

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        names = {"schema": self.schema, "name": name}
        with self._engine.connect() as connection:
            with connection.begin():
                ours = bool(connection.execute(text(TRY_LOCK), names).scalar())
            try:
                yield ours
            finally:
                with suppress(VectorStoreError), connection.begin():
                    connection.execute(text(UNLOCK if ours else "SELECT 1"), names)

    def scrub(self) -> None:
        """Do nothing: the server cleans up by itself (autovacuum)."""

    def take_time(self) -> None:
        self.run("SET LOCAL statement_timeout = 0")

    def add_rows(self, table: str, columns: Mapping[str, str], rows: Iterable[Sequence[Any]]) -> None:
        """Add rows by COPY, which is several times as fast as INSERT.

        A value of the type `bytea` is sent as it is: it may be what another type of column receives.
        """
        with self.changing() as connection:
            cursor = connection.connection.cursor()
            try:
                with cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN (FORMAT BINARY)") as copy:
                    copy.set_types(list(columns.values()))
                    for row in rows:
                        copy.write_row(list(map(keepable, row)))
            except psycopg().Error as error:
                raise self.explained(error) from error

    @staticmethod
    @lru_cache(maxsize=200)
    def spelled(statement: str) -> str:
        return re.sub(r"(?<!:):(\w+)", r"%(\1)s", statement.replace("%", "%%"))

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: keepable(value) for name, value in values.items()}

    @property
    def _has_tables(self) -> str:
        return f"SELECT to_regclass('\"{self.schema}\".facts') IS NOT NULL"

    def _make_room(self, connection: Connection) -> None:
        connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('waypoint.tables'))")
        if not connection.exec_driver_sql(AVAILABLE).scalar():
            msg = f"the server of {self.place} has no pgvector; install it there (package postgresql-NN-pgvector)"
            raise ConfigurationError(msg)
        try:
            with connection.begin_nested():
                connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS vector")
        except VectorStoreError as error:
            msg = f"pgvector is not switched on in {self.place}; as an administrator run there: CREATE EXTENSION vector"
            raise ConfigurationError(msg) from error
        used = str(connection.exec_driver_sql("SELECT extversion FROM pg_extension WHERE extname = 'vector'").scalar())
        if tuple(int(part) for part in used.split(".")[:2]) < LEAST_PGVECTOR:
            remedy = "install 0.8 or later, and run there: ALTER EXTENSION vector UPDATE"
            raise ConfigurationError(f"pgvector {used} in {self.place} is too old; {remedy}")
        connection.exec_driver_sql(f'CREATE SCHEMA IF NOT EXISTS "{self.schema}"')

    def _begin_as(self, connection: Connection, *, writes: bool | None) -> None:
        level = "READ COMMITTED" if writes else "REPEATABLE READ"
        connection.execution_options(isolation_level=level)

    def _raise_ours(self, failure: ExceptionContext) -> None:
        if not failure.is_pre_ping:  # The pool opens a connection in place of one that was lost.
            raise self.explained(failure.original_exception) from failure.original_exception


def _connect(options: dict[str, Any], schema: str, timeout_s: float) -> Any:
    usual = PATIENCE | {"connect_timeout": max(2, round(timeout_s))}
    connection = psycopg().connect(**usual | options)
    connection.autocommit = True
    values = {"timeout_ms": str(round(1000 * timeout_s)), "breadth": str(SEARCH_BREADTH)}
    connection.execute(SETTINGS, values)
    connection.execute("SELECT set_config('search_path', %(path)s, false)", {"path": f'"{schema}", public'})
    connection.autocommit = False
    return connection


def keepable(value: Any) -> Any:
    """Return a value whose texts have the same length, without the characters that the database refuses."""
    if isinstance(value, list):
        return list(map(keepable, value))
    return value.replace("\0", " ").encode(errors="replace").decode() if isinstance(value, str) else value


def psycopg() -> ModuleType:
    """Return the driver. Raise ConfigurationError if it is not installed."""
    with from_extra("postgres", "PostgreSQL"):
        import psycopg  # noqa: PLC0415 - An extra; whoever keeps no index in PostgreSQL does without.
    return psycopg


LOST = "the server ended the connection, or does not answer; what was not committed is undone: run it again"
# By SQLSTATE, the first characters of which name a class.
REMEDIES = {
    "25006": "it only reads (a standby?); point DATABASE_URL at the primary server",
    "28": "check user and password in DATABASE_URL, and the server's pg_hba.conf",
    "3D000": "create the database, or check its name in DATABASE_URL",
    "42501": "let an administrator grant it to the user of DATABASE_URL",
    "42P01": "the index was replaced, or its tables were deleted; ask again, or run `waypoint migrate`",
    "3F000": "run `waypoint migrate`",
    "53300": "raise max_connections of the server, or lower --workers",
    "53": "the server is short of memory or disk; free some",
    "57014": "it took longer than a question may wait; look at the load of the server",
    "57": LOST,
    "08": LOST,
}
# A refused connection has no SQLSTATE, only words.
WORDS = {
    "too many|remaining connection slots": REMEDIES["53300"],
    "password|authentication|role ": REMEDIES["28"],
    "does not exist": REMEDIES["3D000"],
    "server closed the connection|terminating connection": LOST,
}
OTHERWISE = "check that the server runs and that DATABASE_URL leads to it"
