"""Bring over what programs before the ledger kept in files of their own; each file is renamed when its rows are in.

What the ledger holds already stays as it is, so that a run that was interrupted can be repeated.
"""

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import text

from app.ledger.answers import ADD, ADD_STATEMENT, CITE, COLUMNS, Quote
from app.ledger.copies import KEEP
from app.ledger.database import Database
from app.ledger.outbox import PUT
from app.ledger.schema import jobs
from app.ledger.turns import ADD as ADD_TURN

SUFFIX = ".brought-over"
OF_COLLECTION = "WHERE collection = :collection ORDER BY id"
LINKS = """
SELECT answers.trace_id, quotes.doc_id, quotes.title, quotes.table_head, quotes.quote FROM answer_quotes
JOIN answers ON answers.id = answer_quotes.answer JOIN quotes ON quotes.id = answer_quotes.quote
WHERE answers.collection = :collection
"""
FIND = text("SELECT id FROM answers WHERE trace_id = :trace_id")


def bring_answers(database: Database, file: Path, collection: str) -> int:
    """Bring over answers.sqlite3, with what was cited and the key of askers; return the number of answers."""
    with rows_of(file) as read:
        answers = read(f"SELECT size, {', '.join(COLUMNS)} FROM answers {OF_COLLECTION}", {"collection": collection})
        links = read(LINKS, {"collection": collection})
        keys = [{"value": bytes(row["value"]).hex()} for row in read("SELECT value FROM answer_key", {})]
    add_answers(database, answers, links, keys)
    _set_aside(file)
    return len(answers)


def add_answers(
    database: Database,
    answers: Sequence[Mapping[str, Any]],
    links: Sequence[Mapping[str, Any]],
    keys: Sequence[Mapping[str, str]],
) -> None:
    """Add rows of `answers`, of `LINKS`, and the key; the key has to be that of the answers."""
    with database.changing() as connection:
        if answers and keys:
            written = "INSERT INTO facts (name, value) VALUES ('asker_key', :value)"
            connection.execute(text(f"{written} ON CONFLICT (name) DO UPDATE SET value = :value"), keys[0])
        for answer in answers:
            connection.execute(text(ADD), dict(answer))
        for link in links:
            quote = Quote(link["doc_id"], link["title"], link["table_head"], link["quote"])
            id_ = connection.execute(FIND, {"trace_id": link["trace_id"]}).scalar_one()
            row = quote._asdict() | {"id": quote.id, "answer": id_}
            connection.execute(text(ADD_STATEMENT), row)
            connection.execute(text(CITE), row)


def bring_events(database: Database, file: Path) -> int:
    """Bring over the events that wait in a file, and return their number."""
    with rows_of(file) as read:
        messages = read("SELECT id, routing_key, correlation_id, body FROM messages ORDER BY place", {})
    if messages:
        with database.changing() as connection:
            connection.execute(PUT, messages)
    _set_aside(file)
    return len(messages)


def bring_jobs(database: Database, folder: Path) -> int:
    """Bring over the upload jobs of a folder, and return their number."""
    values = [json.loads(file.read_text(encoding="utf-8")) for file in sorted(folder.glob("[0-9a-f]*.json"))]
    with database.changing() as connection:
        known = {row.id for row in connection.execute(jobs.select().with_only_columns(jobs.c.id))}
        for value in values:
            if value["job_id"] not in known:
                row = {"id": value["job_id"], "state": value["state"], "created_at": value["created_at"]}
                connection.execute(jobs.insert().values(row | {"value": value}))
    _set_aside(folder)
    return len(values)


def bring_copies(database: Database, file: Path) -> int:
    """Bring over what was fetched of a source, whose name is that of its file, and return the number of copies."""
    with rows_of(file) as read:
        copies = [row | {"source": file.stem} for row in read("SELECT address, name, fingerprint FROM copies", {})]
    if copies:
        with database.changing() as connection:
            connection.execute(KEEP, copies)
    _set_aside(file)
    return len(copies)


def bring_from_postgres(database: Database, collection: str) -> list[str]:
    """Move the answers of a collection, waiting events and conversations from the schema of programs before.

    All in one transaction; return a line for each kind of rows.
    """
    with database.changing() as connection:
        if not connection.exec_driver_sql("SELECT to_regclass('waypoint.answers')").scalar():
            return []

        def read(query: str) -> list[dict[str, Any]]:
            return [dict(row) for row in connection.execute(text(query), {"collection": collection}).mappings()]

        answers = read(f"SELECT size, {', '.join(COLUMNS)} FROM waypoint.answers {OF_COLLECTION}")
        links = read(
            LINKS.replace("FROM answer_quotes", "FROM waypoint.answer_quotes").replace("JOIN ", "JOIN waypoint.")
        )
        keys = [{"value": bytes(row["value"]).hex()} for row in read("SELECT value FROM waypoint.answer_key")]
        add_answers(database, answers, links, keys)
        if messages := read("SELECT id, routing_key, correlation_id, body FROM waypoint.events ORDER BY place"):
            connection.execute(PUT, messages)
        conversations = read(
            "SELECT key, owner, turns FROM waypoint.conversations WHERE expires_at > now() ORDER BY used"
        )
        for row in conversations:
            turns = [{"role": role, "text": words} for role, words in row["turns"]]
            shared = {"owner": row["owner"], "session": row["key"], "at": time.time()}
            connection.execute(ADD_TURN, [turn | shared for turn in turns])
        connection.execute(
            text("DELETE FROM waypoint.answers WHERE collection = :collection"), {"collection": collection}
        )
        connection.exec_driver_sql("DELETE FROM waypoint.events")
        connection.exec_driver_sql("DELETE FROM waypoint.conversations")
    counts = {"answers": answers, "waiting events": messages, "conversations": conversations}
    return [f"{len(rows)} {kind} of the schema `waypoint`" for kind, rows in counts.items() if rows]


@contextmanager
def rows_of(file: Path) -> Iterator[Any]:
    """Give what reads rows of a SQLite file as dictionaries."""
    with closing(sqlite3.connect(file)) as connection:
        connection.row_factory = sqlite3.Row
        yield lambda query, values: [dict(row) for row in connection.execute(query, values)]


def _set_aside(path: Path) -> None:
    path.rename(path.with_name(path.name + SUFFIX))
    for ending in ("-wal", "-shm", ".lock"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
