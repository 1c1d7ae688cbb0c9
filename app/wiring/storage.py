"""The index that the settings name, opened again whenever it changes; and how files become its chunks."""

import math
import threading
from shutil import which
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from app.adapters.stores.index import Recipe, Snapshot, StoredIndex
from app.settings import Settings
from chains.errors import ConfigurationError

if TYPE_CHECKING:
    from app.adapters.documents.isolation import IsolatedParser
    from app.adapters.postgres.database import Database


def stored_index(settings: Settings, embeddings: Embeddings) -> StoredIndex:
    """Return the index that VECTOR_STORE_TYPE and the settings of that store name."""
    from chains.ingestion.index import indexed_fields, indexed_text

    recipe = Recipe(embeddings, settings.embedding_model, indexed_text, indexed_fields)
    if settings.vector_store_type == "memory":
        from app.adapters.stores.memory import MemoryIndex

        return MemoryIndex(settings.memory_store_path, recipe)
    if settings.vector_store_type == "postgres":
        from app.adapters.stores.postgres.index import PostgresIndex

        return PostgresIndex(database_of(settings), settings.collection_name, recipe)
    from app.adapters.stores.chroma.client import Server
    from app.adapters.stores.chroma.index import FolderIndex, ServerIndex

    if settings.chroma_host is None:
        return FolderIndex(settings.chroma_path, settings.collection_name, recipe)
    key = settings.chroma_api_key.get_secret_value() if settings.chroma_api_key else None
    server = Server(
        settings.chroma_host, settings.chroma_port, settings.chroma_ssl, key, settings.vector_store_timeout_s
    )
    return ServerIndex(server, settings.collection_name, settings.chroma_path, recipe)


def database_of(settings: Settings, *, most_s: float = math.inf) -> "Database":
    """Return the database at DATABASE_URL, which may take `most_s` to answer; no connection is opened yet."""
    from app.adapters.postgres.database import Database

    url = settings.database_url.get_secret_value() if settings.database_url else ""
    timeout_s = min(settings.vector_store_timeout_s, most_s)
    return Database(url, pool_size=settings.database_pool_size, timeout_s=timeout_s)


def migrate_database(settings: Settings) -> str:
    """Bring the tables of the database up to date, and say so.

    Raises:
        ConfigurationError: there is no database, or it lacks pgvector.
        VectorStoreError: it does not answer, or refuses.
    """
    if settings.database_url is None:
        msg = "there is no database: set DATABASE_URL, like postgresql://user:password@host:5432/name"
        raise ConfigurationError(msg)
    from app.adapters.postgres.schema import migrate

    database = database_of(settings)
    version = migrate(database)
    return f"The tables in {database.address} are of version {version}, as this program needs them."


class IndexReader:
    """Keeps the index open for questions, and opens it again when an ingestion, of any process, has changed it."""

    def __init__(self, index: StoredIndex) -> None:
        self._index = index
        self._lock = threading.Lock()
        self._open: Snapshot | None = None

    def current(self) -> Snapshot:
        """Return the index as it is now.

        Raises:
            ConfigurationError: it does not fit the settings.
            VectorStoreError: it cannot be opened.
        """
        with self._lock:
            opened = self._open
            if opened is None or opened.store.gone or opened.version != self._index.version():
                opened = self._open = self._index.open()
            return opened


def parser(settings: Settings) -> "IsolatedParser":
    """Return how files are read and cut."""
    from app.adapters.documents.isolation import IsolatedParser
    from chains.ingestion.chunks import Chunker

    # A short part is one chunk with its subsections: it answers more questions than its pieces.
    size = settings.chunk_size
    chunker = Chunker(size=size, overlap=settings.chunk_overlap, join=size * 3 // 4)
    return IsolatedParser(
        chunker,
        settings.ingest_file_timeout_s,
        settings.ingest_file_memory_mb,
        tesseract=which("tesseract") if settings.ingest_ocr == "auto" else None,
        languages=settings.ingest_ocr_languages,
    )
