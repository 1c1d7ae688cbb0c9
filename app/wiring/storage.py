"""Open the index that the settings name, again whenever it changes; copy it to another store; configure chunking."""

import json
import threading
from dataclasses import dataclass, field
from shutil import which
from typing import TYPE_CHECKING, cast

from langchain_core.embeddings import Embeddings
from langchain_core.utils import batch_iterate

from app import hooks
from app.adapters.stores.index import Recipe, Snapshot, StoredIndex
from app.settings import Settings
from app.wiring.models import embedding_label
from chains.errors import ConfigurationError
from chains.ingestion.writing import DOC_ID

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

    from app.adapters.documents.isolation import IsolatedParser
    from chains.ports import Progress


TIMEOUT_S = 10  # Of a request to a Chroma server.
# Processor time and memory for reading one file.
READING_S, READING_MB = 60, 1024


def stored_index(settings: Settings, embeddings: Embeddings) -> StoredIndex:
    """Return the index that VECTOR_STORE_TYPE names."""
    from chains.ingestion.index import indexed_fields, indexed_text

    recipe = Recipe(embeddings, embedding_label(settings), indexed_text, indexed_fields)
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
    server = Server(settings.chroma.host, settings.chroma.port, settings.chroma.ssl, key, TIMEOUT_S)
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
        READING_S,
        READING_MB,
        tesseract=which("tesseract") if settings.ingestion.ocr_languages != "off" else None,
        languages=settings.ingestion.ocr_languages,
    )


CHUNKS_AT_ONCE = 1000


@dataclass
class ReadyVectors(Embeddings):
    """Embeddings that return the vectors of another store."""

    vectors: list[list[float]] = field(default_factory=list)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the copied vectors of the texts."""
        return self.vectors

    def embed_query(self, text: str) -> list[float]:
        """Refuse: no question is asked during a copy."""
        raise NotImplementedError


def copy_index(source: Settings, target: Settings, *, replace: bool, progress: "Progress") -> int:
    """Copy the index of `source` to the store of `target`, and return the number of its chunks.

    Readers of the target see its old content until the copy is complete.

    Raises:
        ConfigurationError: both are the same kind of store, or the target holds chunks and `replace` is false.
        VectorStoreError: a store cannot be read or written, or an ingestion is running.
    """
    if source.store.kind == target.store.kind:
        msg = f"VECTOR_STORE_TYPE is {source.store.kind} already; name another store with --to"
        raise ConfigurationError(msg)
    ready = ReadyVectors()
    into = stored_index(target, ready)
    origin = stored_index(source, ready)
    with origin.locked(), into.locked():
        held = 0 if replace else into.open().store.count()
        if held:
            msg = f"the {target.store.kind} store holds {held} chunks; --replace overwrites them"
            raise ConfigurationError(msg)
        change = into.change(reset=True)
        copied = _copy(origin.open(), change.writable(), ready, progress)
        change.publish()
    return copied


def _copy(origin: "Snapshot", target: "Snapshot", ready: ReadyVectors, progress: "Progress") -> int:
    ids = origin.store.ids()
    done = 0
    for batch in batch_iterate(CHUNKS_AT_ONCE, ids):
        chunks = origin.store.get_by_ids(batch)
        vectors = origin.store.vectors(batch)
        ready.vectors = [vectors[str(chunk.id)].tolist() for chunk in chunks]
        with target.transaction():
            cast("VectorStore", target.store).add_documents(chunks, ids=[str(chunk.id) for chunk in chunks])
            records, _ = target.records()
            documents = [chunk.metadata.get(DOC_ID) for chunk in chunks]
            records.update([str(chunk.id) for chunk in chunks], group_ids=documents)
        done += len(chunks)
        progress(done, len(ids), "chunks")
    _, sources = origin.records()
    with target.transaction():
        for keys in batch_iterate(CHUNKS_AT_ONCE, sources.list_keys()):
            target.records()[1].update(keys, group_ids=[json.loads(key)[0] for key in keys])
        target.keep_source_times(origin.source_times())
        target.keep_scopes(origin.scopes())
    return done
