"""Bring over what programs before the ledger kept; an index is not embedded again, and what it was in stays."""

import base64
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray

from app.ledger.earlier import rows_of
from app.ledger.index import FORMAT, REBUILD, PassageIndex, Row
from app.ledger.passages import AT_ONCE
from app.ledger.vectors import from_wire
from app.settings import Settings
from app.wiring.library import folder_beside, uploads_folder
from app.wiring.storage import chroma_vectors, ledger_of
from chains.errors import ConfigurationError, VectorStoreError
from chains.ingestion.files import Source
from chains.ingestion.writing import Change
from chains.logs import get_logger

log = get_logger(__name__)
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


def bring_over(settings: Settings) -> list[str]:
    """Bring what earlier programs kept in files beside the index into the ledger; return a line for each file.

    Events and jobs of their last places are found; EVENTS_PATH may still name another file.
    """
    from app.ledger.earlier import bring_copies, bring_events, bring_from_postgres, bring_jobs

    database = ledger_of(settings)
    events = Path(os.environ.get("EVENTS_PATH") or "storage/events.sqlite3")  # noqa: TID251 - a name of before.
    uploads = uploads_folder(settings)
    jobs = uploads.with_name(f"{uploads.name}.jobs")
    records = folder_beside(settings, None, "sources") / "records"
    done = bring_from_postgres(database) if database.dialect == "postgresql" else []
    if events.exists():
        done.append(f"{bring_events(database, events)} waiting events of {events}")
    if jobs.exists():
        done.append(f"{bring_jobs(database, jobs)} uploads of {jobs}")
    done += [f"{bring_copies(database, file)} copies of {file}" for file in sorted(records.glob("*.sqlite3"))]
    return done


def bring_index_over(settings: Settings, index: PassageIndex) -> str | None:
    """Bring an index of an earlier form into an empty ledger, under the lock of an ingestion; return what was done.

    Raise ConfigurationError if it is of an older form still, or was made with another embedding model; VectorStoreError
    if it cannot be read, or not all of it has arrived; the ledger is empty then.
    """
    if index.version() is not None or _earlier(settings, index) is None:  # A first ingestion may hold the lock.
        return None
    with index.locked():
        earlier = None if index.version() is not None else _earlier(settings, index)
        if earlier is None:
            return None
        log.warning("brings_index_over", place=earlier.place, into=index.place)
        if earlier.made_format != FORMAT or earlier.model != index.recipe.embedding_model:
            msg = f"the index in {earlier.place} was made by an earlier version or with another model; {REBUILD}"
            raise ConfigurationError(msg)
        sources = {source.doc_id: source for source in earlier.sources}
        index.publish(Change(sources=sources, scopes=earlier.scopes), earlier.rows, written=earlier.sources)
    return f"{index.count()} passages of {earlier.place}, which can be deleted now"


def _earlier(settings: Settings, index: PassageIndex) -> Earlier | None:
    folder = settings.chroma.path.expanduser() / settings.store.collection
    if index.database.dialect == "postgresql":
        found = _in_postgres(index, settings.store.collection)
    elif settings.store.kind == "memory":
        found = _in_memory_file(settings.store.memory_path.expanduser())
    elif settings.chroma.host is not None:
        found = _in_chroma(settings, folder) if (folder / RECORDS).exists() else None
    else:
        version = folder / "version"
        found = _in_chroma(settings, folder / version.read_text().strip()) if version.is_file() else None
    return found


def _in_chroma(settings: Settings, folder: Path) -> Earlier | None:
    collection = chroma_vectors(settings).earlier(folder)
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


def _in_memory_file(file: Path) -> Earlier | None:
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
    """Return the sources with their times, and the scope files, that a folder has kept."""
    sources: dict[Source, float] = {}
    if (folder / RECORDS).exists():
        with rows_of(folder / RECORDS) as read:
            rows = read("SELECT key, updated_at FROM upsertion_record WHERE namespace = 'sources'")
        sources = {Source(*json.loads(row["key"])): row["updated_at"] for row in rows}
    scopes = json.loads((folder / SCOPES).read_text(encoding="utf-8")) if (folder / SCOPES).exists() else {}
    return sources, scopes


def _in_postgres(index: PassageIndex, collection: str) -> Earlier | None:
    database = index.database
    if not database.rows("SELECT to_regclass('waypoint.collections') IS NOT NULL")[0][0]:
        return None
    for number, made_format, model, scopes in database.rows(CURRENT, name=collection):
        table, of = f"waypoint.chunks_{int(number)}", f"FROM waypoint.records WHERE index = {int(number)}"

        def rows(table: str = table) -> Iterator[Row]:
            last = 0
            query = f"SELECT number, id, content, metadata, vector_send(embedding) FROM {table}"  # noqa: S608
            while part := database.rows(f"{query} WHERE number > :last ORDER BY number LIMIT {AT_ONCE}", last=last):
                for last, id_, content, metadata, vector in part:  # noqa: B007 - where the next part begins.
                    yield _row(id_, content, metadata, from_wire(bytes(vector)))

        times = database.rows(f"SELECT key, updated_at {of} AND namespace = 'sources'")
        sources = {Source(*json.loads(key)): written for key, written in times}
        return Earlier("the schema waypoint", made_format, model, rows(), sources, dict(scopes))
    return None
