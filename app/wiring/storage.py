"""Settings -> the store of chunks, what stands beside it, and how files become chunks."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from filelock import FileLock, Timeout
from langchain_core.embeddings import Embeddings

from app.settings import Settings
from chains.errors import VectorStoreError

if TYPE_CHECKING:
    from app.adapters.documents.isolation import IsolatedParser
    from app.adapters.stores.chroma import DocumentChroma, Server
    from app.adapters.stores.fts import LexicalIndex
    from app.adapters.stores.memory import SavedMemoryStore

    Store = DocumentChroma | SavedMemoryStore


def beside(settings: Settings) -> tuple[Path, str]:
    """Return the folder of what stands beside the vectors, and the name of the store in it."""
    if settings.vector_store_type == "memory":
        return settings.memory_store_path.parent, settings.memory_store_path.stem
    name = settings.collection_name
    server = f"{settings.chroma_host}-{settings.chroma_port}/" if settings.chroma_host else ""
    return settings.chroma_path, f"{server}{name}"


def chroma_place(settings: Settings) -> "Path | Server":
    """Return the folder or the server that holds the vectors."""
    from app.adapters.stores.chroma import Server

    if settings.chroma_host is None:
        return settings.chroma_path
    key = settings.chroma_api_key.get_secret_value() if settings.chroma_api_key else None
    return Server(settings.chroma_host, settings.chroma_port, settings.chroma_ssl, key, settings.vector_store_timeout_s)


def open_store(settings: Settings, embeddings: Embeddings, words: "LexicalIndex") -> "Store":
    """Open the store that VECTOR_STORE_TYPE names."""
    from chains.ingestion.index import indexed_text

    model = settings.embedding_model
    if settings.vector_store_type == "memory":
        from app.adapters.stores.memory import SavedMemoryStore

        path = settings.memory_store_path
        return SavedMemoryStore(path, embeddings, embedding_model=model, indexed_text=indexed_text, words=words)
    from app.adapters.stores.chroma import open_chroma

    return open_chroma(
        chroma_place(settings),
        settings.collection_name,
        embeddings,
        embedding_model=model,
        indexed_text=indexed_text,
        words=words,
    )


def delete_store(settings: Settings) -> None:
    """Delete the store with all that it holds."""
    if settings.vector_store_type == "memory":
        settings.memory_store_path.unlink(missing_ok=True)
        return
    from app.adapters.stores.chroma import delete_collection

    delete_collection(chroma_place(settings), settings.collection_name)


def parser(settings: Settings) -> "IsolatedParser":
    """Return how files are read and cut."""
    from app.adapters.documents.isolation import IsolatedParser
    from chains.ingestion.chunks import Chunker

    # A short part is one chunk with its subsections: it answers more questions than its pieces.
    size = settings.chunk_size
    chunker = Chunker(size=size, overlap=settings.chunk_overlap, join=size * 3 // 4)
    return IsolatedParser(chunker, settings.ingest_file_timeout_s, settings.ingest_file_memory_mb)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the lock of an ingestion into `folder` while the body runs."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / "ingest.lock", timeout=0):
            yield
    except Timeout as error:
        msg = "another ingestion into the same store is at work; wait until it is done"
        raise VectorStoreError(msg) from error
    except OSError as error:
        msg = (
            f"the vector store in {str(folder)!r} cannot be written ({error.strerror}); check CHROMA_PATH and the disk"
        )
        raise VectorStoreError(msg) from error
