"""The tables of logged answers in an SQLite file, which the processes of one machine share."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.adapters.private_files import make_private_file, make_private_folder
from app.ports import AnswerLogError, Execute

VERSION = 1
# Deleted words are overwritten, not only marked as free. A power cut may lose the last answers, and nothing else.
PRAGMAS = "PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL;"
SCHEMA = f"""
PRAGMA journal_mode = WAL;
BEGIN IMMEDIATE;
CREATE TABLE IF NOT EXISTS answers (
    id INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, size INTEGER NOT NULL,
    trace_id TEXT NOT NULL UNIQUE, at REAL NOT NULL, question TEXT, search_query TEXT, language TEXT,
    audience TEXT NOT NULL, outcome TEXT NOT NULL, level TEXT, confidence REAL, model TEXT, index_version TEXT,
    asker TEXT, nearest TEXT NOT NULL, packed BLOB, score REAL, comment TEXT
);
CREATE INDEX IF NOT EXISTS answers_by_asker ON answers (asker) WHERE asker IS NOT NULL;
CREATE TABLE IF NOT EXISTS quotes (
    id INTEGER PRIMARY KEY, collection TEXT NOT NULL, doc_id TEXT NOT NULL, title TEXT NOT NULL,
    table_head TEXT NOT NULL, quote TEXT NOT NULL, found_in TEXT, fingerprint TEXT, missing_since REAL
);
CREATE INDEX IF NOT EXISTS quotes_by_place ON quotes (collection, found_in, fingerprint);
CREATE TABLE IF NOT EXISTS answer_quotes (
    answer INTEGER NOT NULL REFERENCES answers ON DELETE CASCADE, quote INTEGER NOT NULL REFERENCES quotes,
    PRIMARY KEY (quote, answer)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS quotes_of_answers ON answer_quotes (answer);
CREATE TABLE IF NOT EXISTS answer_key (one INTEGER PRIMARY KEY CHECK (one = 1), value BLOB NOT NULL);
PRAGMA user_version = {VERSION};
COMMIT;
"""
BUSY_S = 5  # How long another process may hold the file.


class AnswerFile:
    """`answers.sqlite3` in a folder; it is made for its owner alone when it is first used."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "answers.sqlite3"
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    @property
    def place(self) -> str:
        """Return where the answers are."""
        return str(self.path)

    @contextmanager
    def transaction(self) -> Iterator[Execute]:
        """Give what executes statements; all of the body's are kept, or none.

        Raises:
            AnswerLogError: the file cannot be used.
        """
        try:
            with self._lock, self._opened() as connection:
                connection.execute("BEGIN IMMEDIATE")  # Wait for other processes now, not after a stale read.
                yield connection.execute
        except (OSError, sqlite3.Error) as error:
            msg = f"{self.path} cannot be used ({error})"
            raise AnswerLogError(msg) from error

    def scrub(self) -> None:
        """Let no file hold what was deleted.

        Raises:
            AnswerLogError: another process uses the file all the time.
        """
        try:
            with self._lock:
                [(busy, *_)] = self._opened().execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (OSError, sqlite3.Error) as error:
            raise AnswerLogError(str(error)) from error
        if busy:
            msg = f"what was deleted may still stand in {self.path}-wal: another process reads; run this again"
            raise AnswerLogError(msg)

    def close(self) -> None:
        """Close the file; the next use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            make_private_folder(self.path.parent)
            make_private_file(self.path)
            self._connection = _open(self.path)
        return self._connection


def _open(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_S, isolation_level=None, check_same_thread=False)
    try:
        connection.executescript(PRAGMAS)
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in {0, VERSION}:
            msg = f"it is of version {version}, not {VERSION}; move it away"
            raise sqlite3.DatabaseError(msg)
        if not version:
            connection.executescript(SCHEMA)
    except sqlite3.Error:
        connection.close()
        raise
    return connection
