"""Where things are, and how they move there: the ledger, the index, folders, copies, and what was kept before."""

import os
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from app import hooks
from app.ledger import earlier, open_database
from app.ledger.database import Database
from app.ledger.index import FORMAT, REBUILD, PassageIndex, Row
from app.ledger.passages import AT_ONCE, Passages
from app.settings import Settings
from app.wiring.models import embedding_label
from chains.errors import ConfigurationError
from chains.ingestion.index import Change
from chains.logs import get_logger
from chains.ports import Progress
from chains.scope import SCOPE_FILE

if TYPE_CHECKING:
    from app.adapters.chroma import ChromaFolder, ChromaServer
    from app.adapters.documents.process import IsolatedParser

MOST_OPEN = 16  # Of ledgers that one process uses.
SAMPLE_INDEX = Path("storage/sample/chroma")
TIMEOUT_S = 10  # Of a request to a Chroma server.
# Processor time and memory for reading one file.
READING_S, READING_MB = 60, 1024

log = get_logger(__name__)


def ledger_of(settings: Settings) -> Database:
    """Return the database of the settings' collection, one for all who ask in this process.

    Raise ConfigurationError if DATABASE_URL is no address, its driver is missing, or the file is at its old place.
    """
    url = settings.database.url
    return _opened(ledger_file(settings), url.get_secret_value() if url else None, settings.store.collection)


def ledger_file(settings: Settings) -> Path:
    file = settings.chroma.path.expanduser().absolute() / f"{settings.store.collection}.ledger.sqlite3"
    old = _place("MEMORY_STORE_PATH", "storage/memory-vector-store.json").with_suffix(f".{file.name}")
    is_used = settings.store.kind == "memory" and settings.database.url is None
    if is_used and old.exists() and not file.exists():
        raise ConfigurationError(f"VECTOR_STORE_TYPE=memory keeps its ledger in CHROMA_PATH now: move {old} to {file}")
    return file


@lru_cache(maxsize=MOST_OPEN)
def _opened(file: Path, url: str | None, collection: str) -> Database:
    return open_database(file, url, collection=collection)


def folder_beside(settings: Settings, name: str) -> Path:
    """Return a folder beside the index; every collection has its own below it."""
    return (settings.chroma.path.parent / name).expanduser().resolve() / settings.store.collection


def sample_corpus() -> Path:
    """Return the folder of the sample corpus, in the installed package or the checkout."""
    package = Path(__file__).parents[1]
    inside = package / "knowledge_base"
    return inside if inside.is_dir() else package.parent / "knowledge_base"


def settings_to_ask(settings: Settings) -> Settings:
    """Return the settings with the sample's index in place of an index that nothing names and nothing was put into."""
    if settings.names_index or settings.chroma.path.exists():
        return settings
    return settings.replace(chroma_path=SAMPLE_INDEX)


def ingest_command(settings: Settings) -> str:
    """Return the command that fills the index; it names the folder that `waypoint init` made, where PAGE_PATH does."""
    page = settings.web.page
    folder = page if page is not None and (page / SCOPE_FILE).is_file() else "PATH"
    return f"waypoint ingest {folder}"


def stored_index(settings: Settings, embeddings: Embeddings) -> PassageIndex:
    """Return the index in the ledger, followed by the index of vectors that VECTOR_STORE_TYPE names, if it is one."""
    database, model = ledger_of(settings), embedding_label(settings)
    return PassageIndex(database, embeddings, model, lambda: hooks.load("vectors", settings.store.kind)(settings))


def no_vectors(_settings: Settings) -> None:
    """Return no second index: the ledger searches its vectors itself."""


def chroma_vectors(settings: Settings) -> "ChromaFolder | ChromaServer":
    from app.adapters.chroma import ChromaFolder, ChromaServer, Server

    collection, chroma = settings.store.collection, settings.chroma
    if chroma.host is None:
        return ChromaFolder(chroma.path.expanduser().absolute() / f"{collection}.vectors", collection)
    key = chroma.api_key.get_secret_value() if chroma.api_key else None
    return ChromaServer(Server(chroma.host, chroma.port, chroma.ssl, key, TIMEOUT_S), collection)


def current_of(settings: Settings, index: PassageIndex) -> Callable[[], Passages]:
    """Return what returns the index as it is now, opened again whenever an ingestion of any process has changed it.

    Where nothing was ever ingested, there may be an index of an earlier form. It raises a ConfigurationError where the
    index does not match the settings, and a VectorStoreError where it cannot be opened.
    """
    lock, opened = threading.Lock(), list[Passages]()

    def current() -> Passages:
        version = index.version()
        if version is None:
            bring_index_over(settings, index)
            version = index.version()
        with lock:
            if not opened or opened[0].version != version:
                opened[:] = [index.open()]
            return opened[0]

    return current


def parser(settings: Settings) -> "IsolatedParser":
    from app.adapters.documents.process import IsolatedParser
    from chains.ingestion.chunks import Chunker

    # A short part with its subsections is one chunk: it answers more questions than its pieces.
    size = settings.ingestion.chunk_size
    chunker = Chunker(size=size, overlap=settings.ingestion.chunk_overlap, join=size * 3 // 4)
    return IsolatedParser(
        chunker,
        READING_S,
        READING_MB,
        tesseract=which("tesseract") if settings.ingestion.ocr_languages != "off" else None,
        languages=settings.ingestion.ocr_languages,
    )


def copy_index(source: Settings, target: Settings, *, replace: bool, progress: Progress) -> int:
    """Copy the index of `source` to the ledger of `target`, and return the number of its passages.

    Readers of the target see its old content until the copy is complete. Raise ConfigurationError if both have one
    ledger, or the target holds passages and `replace` is false; VectorStoreError if a ledger cannot be read or written,
    or an ingestion is running.
    """
    from langchain_core.embeddings import DeterministicFakeEmbedding

    unused = DeterministicFakeEmbedding(size=1)  # Vectors are copied.
    origin, into = (
        stored_index(settings if settings.store.kind == "postgres" else settings.replace(database_url=None), unused)
        for settings in (source, target)
    )
    if origin.database is into.database:
        raise ConfigurationError(f"both are in {origin.place}; name another store with --to")
    with origin.locked(), into.locked(), origin.database.reading():
        if (held := into.count()) and not replace:
            raise ConfigurationError(f"{into.place} holds {held} passages; --replace overwrites them")
        passages, total = origin.open(), origin.count()

        def rows() -> Iterator[Row]:
            ids = [id_ for document in passages.documents() for id_ in passages.chunks_of(document.doc_id)]
            for start in range(0, len(ids), AT_ONCE):
                some = ids[start : start + AT_ONCE]
                vectors = passages.vectors(some)
                for document in passages.get_by_ids(some):
                    yield Row(str(document.id), document, vectors[str(document.id)])
                progress(start + len(some), total, "passages")

        sources = {known.doc_id: known for known in passages.sources()}
        into.publish(Change(reset=True, sources=sources, scopes=passages.scopes()), rows(), written=passages.sources())
    return total


def bring_over(settings: Settings) -> list[str]:
    """Bring what earlier programs kept in files beside the index into the ledger; return a line for each file.

    Events and jobs of their last places are found.
    """
    database = ledger_of(settings)
    events = _place("EVENTS_PATH", "storage/events.sqlite3")
    uploads = folder_beside(settings, "uploads")
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
        if old.made_format != FORMAT or old.model != index.embedding_model:
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
