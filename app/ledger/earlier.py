"""Bring over what programs before the ledger kept in files of their own; each file is renamed when its rows are in.

What the ledger holds already stays as it is, so that a run that was interrupted can be repeated.
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from app.ledger.database import Database
from app.ledger.index import as_json
from app.ledger.work import ADD_TURN, KEEP_COPY, PUT

SUFFIX = ".brought-over"
Read = Callable[..., list[dict[str, Any]]]
MESSAGES = "SELECT id, routing_key, correlation_id, body FROM {table} ORDER BY place"
TURNS = "SELECT key, owner, turns FROM conversations WHERE expires_at > now() ORDER BY used"
ADD_JOB = """
INSERT INTO jobs (id, state, created_at, value) VALUES (:id, :state, :created_at, :value) ON CONFLICT (id) DO NOTHING
"""


def bring_events(database: Database, file: Path) -> int:
    """Bring over the events that wait in a file, and return their number."""
    with rows_of(file) as read:
        return _brought(database, PUT, read(MESSAGES.format(table="messages")), file)


def bring_jobs(database: Database, folder: Path) -> int:
    values = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("[0-9a-f]*.json"))]
    rows = [
        {"id": value["job_id"], "state": value["state"], "created_at": value["created_at"], "value": as_json(value)}
        for value in values
    ]
    return _brought(database, ADD_JOB, rows, folder)


def bring_copies(database: Database, file: Path) -> int:
    """Bring over what was fetched of a source, whose name is that of its file, and return the number of copies."""
    with rows_of(file) as read:
        copies = read("SELECT address, name, fingerprint FROM copies")
        return _brought(database, KEEP_COPY, [copy | {"source": file.stem} for copy in copies], file)


def bring_from_postgres(database: Database) -> list[str]:
    """Move what the schema of programs before holds at once; return a line for each kind of rows."""

    def read(query: str, **values: Any) -> list[dict[str, Any]]:
        query = query.replace("FROM ", "FROM waypoint.").replace("JOIN ", "JOIN waypoint.")
        return [dict(row._mapping) for row in database.rows(query, **values)]

    with database.changing():
        if not database.value("SELECT to_regclass('waypoint.events')"):
            return []
        if messages := read(MESSAGES.format(table="events")):
            database.run(PUT, messages)
        conversations = read(TURNS)
        for row in conversations:
            shared = {"owner": row["owner"], "session": row["key"], "at": time.time()}
            database.run(ADD_TURN, [{"role": role, "text": words} | shared for role, words in row["turns"]])
        database.run("DELETE FROM waypoint.events")
        database.run("DELETE FROM waypoint.conversations")
    counts = {"waiting events": len(messages), "conversations": len(conversations)}
    return [f"{number} {kind} of the schema `waypoint`" for kind, number in counts.items() if number]


@contextmanager
def rows_of(file: Path) -> Iterator[Read]:
    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        yield lambda query, **values: [dict(row) for row in connection.execute(query, values)]


def _brought(database: Database, statement: str, rows: list[dict[str, Any]], path: Path) -> int:
    if rows:
        database.run(statement, rows)
    _set_aside(path)
    return len(rows)


def _set_aside(path: Path) -> None:
    path.rename(path.with_name(path.name + SUFFIX))
    for ending in ("-wal", "-shm", ".lock"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
