"""Messages that wait for the broker, in an SQLite file that the worker processes of one machine share.

The process that holds the lock delivers. When it ends, however it ends, the system releases the lock.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from app.ports import EventStoreError, Message
from chains.errors import ConfigurationError

VERSION = 1
SCHEMA = f"""
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS messages (
    place INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE,
    routing_key TEXT NOT NULL, correlation_id TEXT NOT NULL, body TEXT NOT NULL
);
PRAGMA user_version = {VERSION};
COMMIT;
"""
# How long another process may hold the file: until it has opened it, and for one write. Writes are repeated.
OPEN_S, WRITE_MS = 5, 500
PUT = "INSERT OR IGNORE INTO messages (id, routing_key, correlation_id, body) VALUES (?, ?, ?, ?)"
# Messages leave at the front only, so the places of those that are there have no gaps.
COUNT = "SELECT coalesce((SELECT max(place) FROM messages) - (SELECT min(place) FROM messages) + 1, 0)"
DROP = "DELETE FROM messages WHERE place <= (SELECT max(place) FROM messages) - ?"
FIRST = "SELECT id, routing_key, correlation_id, body FROM messages ORDER BY place LIMIT ?"
REMOVE = "DELETE FROM messages WHERE place <= (SELECT place FROM messages WHERE id = ?)"


class FileEvents:
    """At most `capacity` messages, the oldest first; used by one thread at a time.

    Raises:
        ConfigurationError: the file cannot be used.
    """

    def __init__(self, path: Path, *, capacity: int) -> None:
        self._path, self._capacity = path, capacity
        self._lock = FileLock(path.with_name(path.name + ".lock"), blocking=False, thread_local=False)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(path, timeout=OPEN_S, isolation_level=None, check_same_thread=False)
            self._open()
        except (OSError, sqlite3.Error) as error:
            msg = f"EVENTS_PATH={str(path)!r} cannot be used ({error}); check that it can be written, or move it away"
            raise ConfigurationError(msg) from error

    def _open(self) -> None:
        try:
            (version,) = self._connection.execute("PRAGMA user_version").fetchone()
            if version not in {0, VERSION}:
                msg = f"it is of version {version}, not {VERSION}"
                raise sqlite3.DatabaseError(msg)
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.executescript(SCHEMA)
            self._connection.execute(f"PRAGMA busy_timeout = {WRITE_MS}")
        except sqlite3.Error:
            self._connection.close()
            raise

    def check(self) -> str:
        """Read once, and say where messages wait."""
        self.count()
        return f"file {self._path}"

    def put(self, messages: Sequence[Message]) -> int:
        """Store the messages but those whose id is there, and return how many of the oldest were dropped for them."""
        with self._changing() as connection:
            connection.executemany(PUT, messages)
            return connection.execute(DROP, (self._capacity,)).rowcount

    def first(self, limit: int) -> list[Message]:
        """Return the oldest messages, at most `limit`."""
        with _translated():
            return [Message(*row) for row in self._connection.execute(FIRST, (limit,))]

    def remove_through(self, id_: str) -> int:
        """Remove a message and all before it, and return how many there were."""
        with self._changing() as connection:
            return connection.execute(REMOVE, (id_,)).rowcount

    def count(self) -> int:
        """Return the number of messages."""
        with _translated():
            return int(self._connection.execute(COUNT).fetchone()[0])

    def claim(self) -> bool:
        """Return whether this process is the one that delivers; no other is, until it closes the store or ends."""
        try:
            with _translated():
                self._lock.acquire()
        except Timeout:
            return False
        return True

    def close(self) -> None:
        """Close the file, and leave the delivery to another process."""
        self._connection.close()
        self._lock.release(force=True)

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with _translated(), self._connection as connection:
            connection.execute("BEGIN IMMEDIATE")  # Wait for the lock now, not after a stale read.
            yield connection


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise EventStoreError(str(error)) from error
