"""The ledger in a SQLite file with a write-ahead log: many readers, one writer, none waits for another's reading."""

import json
import os
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from sqlalchemy import Connection, create_engine, event
from sqlalchemy.engine import ExceptionContext
from sqlalchemy.exc import InvalidatePoolError
from sqlalchemy.pool import QueuePool

from app.ledger.database import Database, Steps
from app.ledger.private_files import FILE_MODE, make_private_file, make_private_folder
from chains.errors import VectorStoreError

BUSY_S = 30  # How long a write waits for another process's write.
KEPT_OPEN = 16
NO_ROOM = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN}
# Deleted words are overwritten, not only marked as free. A power cut may lose the last change, and nothing else.
PRAGMAS = ("secure_delete = ON", "foreign_keys = ON", "synchronous = NORMAL")


class _Reread(sqlite3.Connection):
    """A connection that sees the file as it was when it was opened."""


class _Joined(list[bytes]):
    """PostgreSQL's `string_agg` of bytes, which SQLite lacks."""

    def step(self, part: bytes, _between: str) -> None:
        self.append(part)

    def finalize(self) -> bytes:
        return b"".join(self)


class SqliteDatabase(Database):
    """The database in a file, which is made for its owner alone when it is first used.

    A folder that cannot be written is read all the same: what its file says is then taken as final. So is a file on a
    full disk, which has no room for what readers and writers share; it is opened again for each transaction.
    """

    dialect = "sqlite"

    def __init__(self, file: Path, steps: Steps) -> None:
        self.file = file
        engine = create_engine(
            "sqlite://", creator=self._connect, poolclass=QueuePool, pool_size=KEPT_OPEN, max_overflow=-1
        )
        event.listen(engine, "begin", _begin)
        event.listen(engine, "checkout", self._recognize)
        event.listen(engine, "handle_error", self._raise_ours)
        super().__init__(engine, steps)

    @property
    def place(self) -> str:
        return str(self.file)

    def explained(self, error: BaseException) -> VectorStoreError:
        return VectorStoreError(
            f"the ledger {str(self.file)!r} cannot be used ({error}); "
            "check CHROMA_PATH, that it can be written, and that the disk is not full"
        )

    @contextmanager
    def lock(self, name: str) -> Iterator[bool]:
        self._make_folder()
        file = self.file.with_name(f"{self.file.name}.{name}.lock")
        lock = FileLock(file, timeout=0, mode=FILE_MODE, thread_local=False)
        try:
            lock.acquire()
        except Timeout:
            yield False
            return
        except OSError as error:
            raise self.explained(error) from error
        try:
            yield True
        finally:
            lock.release()

    def scrub(self) -> None:
        """Write what the log holds into the file, where deleted words are overwritten, and give free pages back."""
        with self.reading() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None  # noqa: S101 - A connection in use has one.
            raw.rollback()
            try:  # Statements of the driver itself, whose errors nothing translates.
                raw.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page.
                [(busy, *_)] = raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            except sqlite3.Error as error:
                raise self.explained(error) from error
        if busy:
            msg = f"what was deleted may still stand in {self.file}-wal: another process reads; run this again"
            raise VectorStoreError(msg)

    @staticmethod
    @lru_cache(maxsize=200)
    def spelled(statement: str) -> str:
        return re.sub(r"= ANY\((:\w+)\)", r"IN (SELECT value FROM json_each(\1))", statement)

    def given(self, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: json.dumps(value) if isinstance(value, list) else value for name, value in values.items()}

    @property
    def _has_tables(self) -> str:
        return "SELECT count(*) FROM sqlite_master WHERE name = 'facts'"

    def _begin_as(self, connection: Connection, *, writes: bool | None) -> None:
        # A late lock could not wait for others.
        connection.info["begin"] = "" if writes is None else "BEGIN IMMEDIATE" if writes else "BEGIN"

    def _connect(self) -> sqlite3.Connection:
        self._make_folder()
        if self.file.exists() and not (os.access(self.file.parent, os.W_OK) and os.access(self.file, os.W_OK)):
            return self._opened("?immutable=1")
        try:
            connection = self._opened("")
            _write_ahead(connection)
        except sqlite3.OperationalError as error:
            log = self.file.with_name(f"{self.file.name}-wal")
            is_whole = self.file.stat().st_size and not (log.exists() and log.stat().st_size)
            if error.sqlite_errorcode & 0xFF not in NO_ROOM or not is_whole:
                raise
            connection = self._opened("?immutable=1", _Reread)
        return connection

    def _opened(self, options: str, kind: type[sqlite3.Connection] = sqlite3.Connection) -> sqlite3.Connection:
        address = self.file.resolve().as_uri() + options
        connection = sqlite3.connect(
            address, uri=True, timeout=BUSY_S, isolation_level=None, check_same_thread=False, factory=kind
        )
        if self.file.stat().st_size == 0:
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.create_aggregate("string_agg", 2, _Joined)  # type: ignore[arg-type]  # Not of numbers only.
        for pragma in PRAGMAS:
            connection.execute(f"PRAGMA {pragma}")
        return connection

    def _recognize(self, raw: Any, record: Any, _proxy: Any) -> None:
        """Open the file anew where another one took its place, as a restored backup does."""
        try:
            number = time.monotonic_ns() if isinstance(raw, _Reread) else self.file.stat().st_ino
        except OSError:
            number = None
        if record.info.setdefault("file", number) != number or number is None:
            raise InvalidatePoolError

    def _make_folder(self) -> None:
        try:
            make_private_folder(self.file.parent)
            make_private_file(self.file)
        except OSError as error:
            raise self.explained(error) from error

    def _raise_ours(self, failure: ExceptionContext) -> None:
        raise self.explained(failure.original_exception) from failure.original_exception


def _write_ahead(connection: sqlite3.Connection) -> None:
    """Switch to the write-ahead log; SQLite itself does not wait where another connection does so at the same time."""
    last = time.monotonic() + BUSY_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > last:
                raise
            time.sleep(0.01)
        else:
            return


def refuse_locked(file: Path) -> None:
    """Raise VectorStoreError where another process has locked a SQLite file: a library that opens it might hang."""
    try:
        with closing(sqlite3.connect(f"{file.resolve().as_uri()}?mode=ro", uri=True, timeout=0)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master")
    except sqlite3.Error as error:
        raise VectorStoreError(f"{str(file)!r} cannot be read: {error}") from error


def _begin(connection: Connection) -> Any:
    if begin := connection.info.get("begin", "BEGIN"):
        connection.exec_driver_sql(begin)
