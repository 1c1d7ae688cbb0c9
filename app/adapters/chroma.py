"""A folder on disk -> a LangChain Chroma store in cosine space, checked against the embedding model that made it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chromadb
from chromadb.api import ClientAPI
from chromadb.api.models.Collection import Collection
from chromadb.config import Settings as ChromaSettings
from chromadb.errors import ChromaError, NotFoundError
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from chains.errors import ConfigurationError, VectorStoreError

SPACE = "cosine"
# Fixed when a collection is made; the library's default of 100 loses a fifth of the true neighbours at 100,000 chunks.
SEARCH_BREADTH = 400

_REBUILD = "rebuild it with `waypoint ingest --reset`"


def similarity(distance: float) -> float:
    """Turn a cosine distance (0-2) into a similarity clipped to 0-1."""
    return min(1.0, max(0.0, 1.0 - distance))


class DocumentChroma(Chroma):
    """A Chroma store that embeds more of a document than its words: what `indexed_text` makes of it."""

    def __init__(self, *, indexed_text: Callable[[Document], str], client: ClientAPI, **kwargs: Any) -> None:
        super().__init__(client=client, **kwargs)
        self._indexed_text = indexed_text
        self._batch_size = client.get_max_batch_size()

    def add_documents(self, documents: list[Document], *, ids: list[str] | None = None, **kwargs: Any) -> list[str]:
        """Embed and keep the documents under their `ids`; one that is there already is replaced."""
        if ids is None:
            return super().add_documents(documents, **kwargs)
        vectors = self._embed([self._indexed_text(document) for document in documents])
        for start in range(0, len(documents), self._batch_size):
            batch = slice(start, start + self._batch_size)
            with _writing():
                self._collection.upsert(
                    ids=ids[batch],
                    embeddings=vectors[batch],
                    documents=[document.page_content for document in documents[batch]],
                    metadatas=[document.metadata for document in documents[batch]],
                )
        return ids

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> None:
        """Delete the documents with these `ids`."""
        with _writing():
            super().delete(ids, **kwargs)

    def _embed(self, texts: list[str]) -> Any:
        return self._embedding_function.embed_documents(texts) if self._embedding_function else None


def open_chroma(
    path: Path,
    collection: str,
    embeddings: Embeddings,
    *,
    embedding_model: str,
    indexed_text: Callable[[Document], str],
) -> Chroma:
    """Open the collection, or make it; `similarity_search_with_relevance_scores` gives cosine similarities.

    Raises:
        ConfigurationError: it was made with another distance or another embedding model.
        VectorStoreError: the folder cannot be opened.
    """
    client = _client(path)
    try:
        existing = _existing(client, collection)
        if existing is not None:
            _check(existing, embedding_model)
        return DocumentChroma(
            indexed_text=indexed_text,
            client=client,
            collection_name=collection,
            embedding_function=embeddings,
            collection_metadata=None if existing else {"embedding_model": embedding_model},
            collection_configuration=None if existing else {"hnsw": {"space": SPACE, "ef_search": SEARCH_BREADTH}},
            relevance_score_fn=similarity,
        )
    except ChromaError as error:
        raise VectorStoreError(_cannot_open(path, error)) from error


def delete_collection(path: Path, collection: str) -> None:
    """Delete the collection, if it is there.

    Raises:
        VectorStoreError: the folder cannot be opened.
    """
    if not path.exists():
        return
    try:
        _client(path).delete_collection(collection)
    except NotFoundError:
        return
    except ChromaError as error:
        raise VectorStoreError(_cannot_open(path, error)) from error


def count(store: Chroma) -> int:
    """Return the number of chunks in the store."""
    return int(store._collection.count())


def chunk_ids(store: Chroma) -> list[str]:
    """Return the ids of all chunks in the store."""
    ids: list[str] = store.get(include=[])["ids"]
    return ids


def _client(path: Path) -> ClientAPI:
    try:
        path.mkdir(parents=True, exist_ok=True)
        # Clients are shared by their path's name: a relative one would mean two folders after a change of directory.
        return chromadb.PersistentClient(str(path.resolve()), settings=ChromaSettings(anonymized_telemetry=False))
    except (ChromaError, OSError, ValueError, RuntimeError) as error:
        raise VectorStoreError(_cannot_open(path, error)) from error


def _existing(client: ClientAPI, name: str) -> Collection | None:
    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return None


def _check(collection: Collection, embedding_model: str) -> None:
    configuration: dict[str, Any] = collection.configuration_json
    space = (configuration.get("hnsw") or configuration.get("spann") or {}).get("space")
    if space != SPACE:
        msg = f"the index {collection.name!r} measures {space!r} distances, not {SPACE!r}; {_REBUILD}"
        raise ConfigurationError(msg)
    made_with = (collection.metadata or {}).get("embedding_model")
    if made_with != embedding_model:
        msg = (
            f"the index {collection.name!r} was made with the embedding model {made_with!r}, "
            f"not {embedding_model!r}; {_REBUILD}, or set EMBEDDING_MODEL"
        )
        raise ConfigurationError(msg)


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except ChromaError as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        msg = (
            f"the vector store cannot be written ({reason}); check that CHROMA_PATH can be, and that the disk has room"
        )
        raise VectorStoreError(msg) from error


def _cannot_open(path: Path, error: Exception) -> str:
    return (
        f"the vector store in {str(path)!r} cannot be opened ({type(error).__name__}); "
        "check CHROMA_PATH, that the folder can be written, and that the disk is not full"
    )
