"""Bring over what programs before the ledger kept; an index is not embedded again, and what it was in stays."""

import os
from pathlib import Path

from app.ledger import earlier
from app.ledger.index import FORMAT, REBUILD, PassageIndex
from app.settings import Settings
from app.wiring.library import folder_beside, uploads_folder
from app.wiring.storage import chroma_vectors, ledger_of
from chains.errors import ConfigurationError
from chains.ingestion.writing import Change
from chains.logs import get_logger

log = get_logger(__name__)


def bring_over(settings: Settings) -> list[str]:
    """Bring what earlier programs kept in files beside the index into the ledger; return a line for each file.

    Events and jobs of their last places are found.
    """
    database = ledger_of(settings)
    events = _place("EVENTS_PATH", "storage/events.sqlite3")
    uploads = uploads_folder(settings)
    jobs = uploads.with_name(f"{uploads.name}.jobs")
    records = folder_beside(settings, "sources") / "records"
    done = earlier.bring_from_postgres(database) if database.dialect == "postgresql" else []
    if events.exists():
        done.append(f"{earlier.bring_events(database, events)} waiting events of {events}")
    if jobs.exists():
        done.append(f"{earlier.bring_jobs(database, jobs)} uploads of {jobs}")
    done += [f"{earlier.bring_copies(database, file)} copies of {file}" for file in sorted(records.glob("*.sqlite3"))]
    return done


def bring_index_over(settings: Settings, index: PassageIndex) -> str | None:
    """Bring an index of an earlier form into an empty ledger, under the lock of an ingestion; return what was done.

    Raise ConfigurationError if it is of an older form still, or was made with another embedding model; VectorStoreError
    if it cannot be read, or not all of it has arrived; the ledger is empty then.
    """
    if index.version() is not None or _earlier(settings, index) is None:  # A first ingestion may hold the lock.
        return None
    with index.locked():
        old = None if index.version() is not None else _earlier(settings, index)
        if old is None:
            return None
        log.warning("brings_index_over", place=old.place, into=index.place)
        if old.made_format != FORMAT or old.model != index.recipe.embedding_model:
            msg = f"the index in {old.place} was made by an earlier version or with another model; {REBUILD}"
            raise ConfigurationError(msg)
        sources = {source.doc_id: source for source in old.sources}
        index.publish(Change(sources=sources, scopes=old.scopes), old.rows, written=old.sources)
    return f"{index.count()} passages of {old.place}, which can be deleted now"


def _place(variable: str, default: str) -> Path:
    """Return the file that a setting of before may still name."""
    return Path(os.environ.get(variable) or default).expanduser()  # noqa: TID251 - a name of before.


def _earlier(settings: Settings, index: PassageIndex) -> earlier.Earlier | None:
    folder = settings.chroma.path.expanduser() / settings.store.collection
    if index.database.dialect == "postgresql":
        return earlier.in_postgres(index.database, settings.store.collection)
    if settings.store.kind == "memory":
        return earlier.in_memory_file(_place("MEMORY_STORE_PATH", "storage/memory-vector-store.json"))
    if settings.chroma.host is None:
        if not (version := folder / "version").is_file():
            return None
        folder /= version.read_text().strip()
    elif not (folder / earlier.RECORDS).exists():
        return None
    return earlier.in_chroma(chroma_vectors(settings).earlier(folder), folder)
