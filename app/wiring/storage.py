"""Open the index that the settings name, again whenever it changes; and configure chunking."""

import threading
from shutil import which
from typing import TYPE_CHECKING

from langchain_core.embeddings import Embeddings

from app import hooks
from app.adapters.stores.index import Recipe, Snapshot, StoredIndex
from app.settings import Settings

if TYPE_CHECKING:
    from app.adapters.documents.isolation import IsolatedParser


def stored_index(settings: Settings, embeddings: Embeddings) -> StoredIndex:
    """Return the index that VECTOR_STORE_TYPE names."""
    from chains.ingestion.index import indexed_fields, indexed_text

    recipe = Recipe(embeddings, settings.embedding.model, indexed_text, indexed_fields)
    index: StoredIndex = hooks.load("stores", settings.store.kind)(settings, recipe)
    return index


def memory_index(settings: Settings, recipe: Recipe) -> StoredIndex:
    """Return the index in one JSON file."""
    from app.adapters.stores.memory import MemoryIndex

    return MemoryIndex(settings.store.memory_path, recipe)


def chroma_index(settings: Settings, recipe: Recipe) -> StoredIndex:
    """Return the index of Chroma: in a folder, or on the server of CHROMA_HOST."""
    from app.adapters.stores.chroma.client import Server
    from app.adapters.stores.chroma.index import FolderIndex, ServerIndex

    if settings.chroma.host is None:
        return FolderIndex(settings.chroma.path, settings.store.collection, recipe)
    key = settings.chroma.api_key.get_secret_value() if settings.chroma.api_key else None
    server = Server(settings.chroma.host, settings.chroma.port, settings.chroma.ssl, key, settings.store.timeout_s)
    return ServerIndex(server, settings.store.collection, settings.chroma.path, recipe)


class IndexReader:
    """Keeps the index open for questions, and reopens it when an ingestion of any process has changed it."""

    def __init__(self, index: StoredIndex) -> None:
        self._index = index
        self._lock = threading.Lock()
        self._open: Snapshot | None = None

    def current(self) -> Snapshot:
        """Return the current index.

        Raises:
            ConfigurationError: it does not match the settings.
            VectorStoreError: it cannot be opened.
        """
        with self._lock:
            opened = self._open
            if opened is None or opened.store.gone or opened.version != self._index.version():
                opened = self._open = self._index.open()
            return opened


def parser(settings: Settings) -> "IsolatedParser":
    """Return the configured way to read and split files."""
    from app.adapters.documents.isolation import IsolatedParser
    from chains.ingestion.chunks import Chunker

    # A short part with its subsections is one chunk: it answers more questions than its pieces.
    size = settings.ingestion.chunk_size
    chunker = Chunker(size=size, overlap=settings.ingestion.chunk_overlap, join=size * 3 // 4)
    return IsolatedParser(
        chunker,
        settings.ingestion.file_timeout_s,
        settings.ingestion.file_memory_mb,
        tesseract=which("tesseract") if settings.ingestion.ocr == "auto" else None,
        languages=settings.ingestion.ocr_languages,
    )
