"""Where things are: the ledger, the sample corpus, and the index, which is opened again whenever it changes."""

import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from app import hooks
from app.ledger import open_database
from app.ledger.database import Database
from app.ledger.index import PassageIndex, Row
from app.ledger.passages import AT_ONCE, Passages, Recipe
from app.ledger.vectors import VectorIndex
from app.settings import Settings
from app.wiring.models import embedding_label
from chains.errors import ConfigurationError
from chains.ingestion.writing import Change
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


def ledger_of(settings: Settings) -> Database:
    """Return the database of the settings' collection, one for all who ask in this process.

    Raise ConfigurationError if DATABASE_URL is no address, or its driver is not installed.
    """
    url = settings.database.url
    return _opened(ledger_file(settings), url.get_secret_value() if url else None, settings.store.collection)


def ledger_file(settings: Settings) -> Path:
    """Return the file of the ledger, where no DATABASE_URL names a database."""
    return settings.chroma.path.expanduser().absolute() / f"{settings.store.collection}.ledger.sqlite3"


@lru_cache(maxsize=MOST_OPEN)
def _opened(file: Path, url: str | None, collection: str) -> Database:
    return open_database(file, url, collection=collection)


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
    from chains.ingestion.index import indexed_fields, indexed_text

    def follower() -> VectorIndex | None:
        made: VectorIndex | None = hooks.load("vectors", settings.store.kind)(settings)
        return made

    recipe = Recipe(embeddings, embedding_label(settings), indexed_text, indexed_fields)
    return PassageIndex(ledger_of(settings), recipe, follower)


def no_vectors(_settings: Settings) -> None:
    """Return no second index: the ledger searches its vectors itself."""


def chroma_vectors(settings: Settings) -> "ChromaFolder | ChromaServer":
    from app.adapters.chroma import ChromaFolder, ChromaServer, Server

    collection, chroma = settings.store.collection, settings.chroma
    if chroma.host is None:
        return ChromaFolder(chroma.path.expanduser().absolute() / f"{collection}.vectors", collection)
    key = chroma.api_key.get_secret_value() if chroma.api_key else None
    return ChromaServer(Server(chroma.host, chroma.port, chroma.ssl, key, TIMEOUT_S), collection)


def current_of(index: PassageIndex, bring_over: Callable[[], object]) -> Callable[[], Passages]:
    """Return what returns the index as it is now, opened again whenever an ingestion of any process has changed it.

    Where nothing was ever ingested, `bring_over` may find an index of an earlier form. It raises a ConfigurationError
    where the index does not match the settings, and a VectorStoreError where it cannot be opened.
    """
    lock, opened = threading.Lock(), list[Passages]()

    def current() -> Passages:
        version = index.version()
        if version is None:
            bring_over()
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
        change = Change(reset=True, sources=sources, scopes=passages.scopes())
        into.publish(change, rows(), written=passages.sources())
    return total
