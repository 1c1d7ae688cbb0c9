"""Read the indexes of programs before the ledger, and bring over their other files, renamed when their rows are in.

What the ledger holds already stays as it is, so that a run that was interrupted can be repeated.
"""

import base64
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray

from app.ledger.database import Database
from app.ledger.index import REBUILD, Row, as_json
from app.ledger.passages import AT_ONCE
from app.ledger.vectors import from_wire
from app.ledger.work import ADD_TURN, KEEP_COPY, PUT
from chains.errors import VectorStoreError
from chains.ingestion.files import Source

SUFFIX = ".brought-over"
Read = Callable[..., list[dict[str, Any]]]
MESSAGES = "SELECT id, routing_key, correlation_id, body FROM {table} ORDER BY place"
TURNS = "SELECT key, owner, turns FROM conversations WHERE expires_at > now() ORDER BY used"
ADD_JOB = """
INSERT INTO jobs (id, state, created_at, value) VALUES (:id, :state, :created_at, :value) ON CONFLICT (id) DO NOTHING
"""


def bring_events(database: Database, file: Path) -> int:
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
    path.rename(path.with_name(path.name + SUFFIX))
    for ending in ("-wal", "-shm", ".lock"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    return len(rows)


RECORDS, SCOPES = "records.sqlite3", "scopes.json"
CURRENT = """
SELECT indexes.index, format, embedding_model, scopes FROM waypoint.collections
JOIN waypoint.indexes ON indexes.index = collections.index WHERE name = :name
"""


@dataclass(frozen=True)
class Earlier:
    """An index of an earlier form: where it is, what made it, its passages, its sources and scope files."""

    place: str
    made_format: object
    model: object
    rows: Iterator[Row]
    sources: dict[Source, float]
    scopes: dict[str, str | None]


def in_chroma(collection: Any, folder: Path) -> Earlier | None:
    """Return the index in a collection of Chroma, and in the folder with its records; None where there is none."""
    if collection is None:
        return None
    made: dict[str, Any] = collection.metadata or {}

    def rows() -> Iterator[Row]:
        for start in range(0, collection.count(), AT_ONCE):
            part = collection.get(limit=AT_ONCE, offset=start, include=["documents", "metadatas", "embeddings"])
            for id_, text, metadata, vector in zip(
                part["ids"], part["documents"], part["metadatas"], part["embeddings"], strict=True
            ):
                yield _row(id_, text or "", dict(metadata or {}), np.asarray(vector, dtype=np.float32))

    return Earlier(f"Chroma, {folder}", made.get("format"), made.get("embedding_model"), rows(), *_records(folder))


def in_memory_file(file: Path) -> Earlier | None:
    if not file.is_file():
        return None
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        vectors = [np.frombuffer(base64.b64decode(row["vector"]), dtype="<f4") for row in held["documents"]]
        named = ((row["id"], row["pageContent"], row["metadata"]) for row in held["documents"])
        rows = [_row(*values, vector) for values, vector in zip(named, vectors, strict=True)]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise VectorStoreError(f"the earlier index {str(file)!r} cannot be read ({error}); {REBUILD}") from error
    folder = file.with_name(f"{file.name}.index")
    return Earlier(str(file), held.get("format"), held.get("embeddingModel"), iter(rows), *_records(folder))


def _row(id_: str, text: str, metadata: dict[str, Any], vector: NDArray[np.float32]) -> Row:
    return Row(id_, Document(id=id_, page_content=text, metadata=metadata), vector)


def _records(folder: Path) -> tuple[dict[Source, float], dict[str, str | None]]:
    sources: dict[Source, float] = {}
    if (folder / RECORDS).exists():
        with rows_of(folder / RECORDS) as read:
            rows = read("SELECT key, updated_at FROM upsertion_record WHERE namespace = 'sources'")
        sources = {Source(*json.loads(row["key"])): row["updated_at"] for row in rows}
    scopes = json.loads((folder / SCOPES).read_text(encoding="utf-8")) if (folder / SCOPES).exists() else {}
    return sources, scopes


def in_postgres(database: Database, collection: str) -> Earlier | None:
    if not database.rows("SELECT to_regclass('waypoint.collections') IS NOT NULL")[0][0]:
        return None
    for number, made_format, model, scopes in database.rows(CURRENT, name=collection):
        table, of = f"waypoint.chunks_{int(number)}", f"FROM waypoint.records WHERE index = {int(number)}"

        def rows(table: str = table) -> Iterator[Row]:
            last = 0
            query = f"SELECT number, id, content, metadata, vector_send(embedding) FROM {table}"
            while part := database.rows(f"{query} WHERE number > :last ORDER BY number LIMIT {AT_ONCE}", last=last):
                for last, id_, content, metadata, vector in part:  # noqa: B007 - where the next part begins.
                    yield _row(id_, content, metadata, from_wire(bytes(vector)))

        times = database.rows(f"SELECT key, updated_at {of} AND namespace = 'sources'")
        sources = {Source(*json.loads(key)): written for key, written in times}
        return Earlier("the schema waypoint", made_format, model, rows(), sources, dict(scopes))
    return None
