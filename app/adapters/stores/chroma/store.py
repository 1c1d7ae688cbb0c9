"""LangChain's Chroma store in cosine space, checked against the model that embedded its chunks."""

import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import numpy as np
from chromadb.api.client import Client
from chromadb.api.models.Collection import Collection
from chromadb.errors import NotFoundError
from langchain_chroma import Chroma
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.utils import batch_iterate
from numpy.typing import NDArray

from app.adapters.stores.chroma.cache import FetchCache
from app.adapters.stores.chroma.client import Server, client_of, close, connected
from app.adapters.stores.chroma.compat import collection_of
from app.adapters.stores.fts import LexicalIndex
from app.adapters.stores.index import FORMAT, REBUILD, check_label
from chains.errors import ConfigurationError, VectorStoreError, WaypointError

SPACE = "cosine"
# Fixed when a collection is made; the library's default of 100 loses a fifth of the true neighbours at 100,000 chunks.
SEARCH_BREADTH = 400
# As the library has it.
SAVE_EVERY = 1000


def similarity(distance: float) -> float:
    """Turn a cosine distance (0-2) into a similarity clipped to 0-1."""
    return min(1.0, max(0.0, 1.0 - distance))


class DocumentChroma(Chroma):
    """A Chroma store that embeds what `indexed_text` makes of a document, and keeps an index of words in step.

    `gone` is set once the collection turns out to have been deleted or replaced: the store has to be opened again.
    After `close` it answers no more.
    """

    def __init__(
        self,
        *,
        indexed_text: Callable[[Document], str],
        words: LexicalIndex | None = None,
        client: Client,
        **kwargs: Any,
    ) -> None:
        super().__init__(client=client, **kwargs)
        self.gone = False
        self.close = partial(close, client)
        self._indexed_text = indexed_text
        self._words = words
        self._batch_size = client.get_max_batch_size()
        self._documents = FetchCache[Document]()
        self._vectors = FetchCache[NDArray[np.float32]]()

    @property
    def save_every(self) -> int:
        """After how many changes Chroma saves its index of vectors."""
        hnsw: dict[str, Any] = collection_of(self).configuration_json.get("hnsw") or {}
        return int(hnsw.get("sync_threshold") or SAVE_EVERY)

    @property
    def embeddings(self) -> Embeddings:
        """The model that makes the vectors; `open_chroma` gives one to every store."""
        return cast("Embeddings", super().embeddings)

    def add_documents(self, documents: list[Document], *, ids: list[str] | None = None, **kwargs: Any) -> list[str]:
        """Embed and keep the documents under their `ids`; one that is there already is replaced."""
        ids = ids or [document.id or str(uuid4()) for document in documents]
        vectors: Any = self.embeddings.embed_documents([self._indexed_text(document) for document in documents])
        metadata: Any = [document.metadata or None for document in documents]  # Chroma refuses empty ones.
        with self._errors():
            for start in range(0, len(documents), self._batch_size):
                batch = slice(start, start + self._batch_size)
                collection_of(self).upsert(
                    ids=ids[batch],
                    embeddings=vectors[batch],
                    documents=[document.page_content for document in documents[batch]],
                    metadatas=metadata[batch],
                )
        self._forget()
        if self._words:
            self._words.add(ids, documents)
        return ids

    def add_texts(
        self,
        texts: Iterable[str],
        metadatas: list[dict[str, Any]] | None = None,
        ids: list[str] | None = None,
        **kwargs: Any,
    ) -> list[str]:
        """Embed and keep the texts as documents."""
        pairs = zip_longest(texts, metadatas or [])
        return self.add_documents([Document(text, metadata=metadata or {}) for text, metadata in pairs], ids=ids)

    def update_documents(self, ids: list[str], documents: list[Document]) -> None:
        """Replace the documents under these `ids`."""
        self.add_documents(documents, ids=ids)

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> None:
        """Delete the documents with these `ids`; an unknown one is not an error."""
        gone = ids or []
        if self._words:
            self._words.delete(gone)
        with self._errors():
            for batch in batch_iterate(self._batch_size, gone):
                collection_of(self).delete(ids=batch)
        self._forget()

    def reading(self) -> AbstractContextManager[object]:
        """Promise nothing: what is read may be of several moments."""
        return nullcontext()

    def count(self) -> int:
        """Return the number of documents."""
        with self._errors():
            return int(collection_of(self).count())

    def ids(self) -> list[str]:
        """Return the ids of all documents."""
        with self._errors():
            return collection_of(self).get(include=[])["ids"]

    def nearest(self, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return the similarities of the documents nearest to `vector` by id, the nearest first."""
        with self._errors():
            found = collection_of(self).query(
                query_embeddings=[vector], n_results=limit, include=["distances"], where=_where(where)
            )
        distances = (found["distances"] or [[]])[0]
        return {id_: similarity(distance) for id_, distance in zip(found["ids"][0], distances, strict=True)}

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of the given documents by id, without those that are not there."""
        return self._vectors.get(ids, self._fetch_vectors)

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the given documents, in any order, without those that are not there."""
        found = self._documents.get(ids, self._fetch_documents)
        return [document.model_copy(update={"metadata": dict(document.metadata)}) for document in found.values()]

    def _fetch_vectors(self, ids: list[str]) -> dict[str, NDArray[np.float32]]:
        with self._errors():
            found = collection_of(self).get(ids=ids, include=["embeddings"])
        return dict(zip(found["ids"], np.asarray(found["embeddings"], dtype=np.float32), strict=True))

    def _fetch_documents(self, ids: list[str]) -> dict[str, Document]:
        with self._errors():
            found = collection_of(self).get(ids=ids, include=["documents", "metadatas"])
        rows = zip(found["ids"], found["documents"] or [], found["metadatas"] or [], strict=True)
        return {
            id_: Document(id=id_, page_content=text or "", metadata=dict(metadata or {}))
            for id_, text, metadata in rows
        }

    @property
    def generation(self) -> str:
        """What tells this collection from another of the same name."""
        return str(collection_of(self).id)

    @contextmanager
    def _errors(self) -> Iterator[None]:
        with _translated():
            try:
                yield
            except NotFoundError:
                self.gone = True
                raise

    def _forget(self) -> None:
        self._documents.clear()
        self._vectors.clear()


def open_chroma(
    place: Path | Server,
    collection: str,
    embeddings: Embeddings,
    *,
    embedding_model: str,
    indexed_text: Callable[[Document], str],
    words: LexicalIndex | None = None,
    create: bool = True,
    save_every: int | None = None,
) -> DocumentChroma:
    """Open the collection in a folder or on a server, or make it; scores are cosine similarities.

    After each `save_every` changes Chroma saves its index of vectors, as a whole; who opens it puts the later ones in
    again. None leaves that as it is.

    Raises:
        ConfigurationError: it was made by an earlier version, with another distance or another embedding model.
        VectorStoreError: the folder cannot be opened, the server cannot be reached, or, without `create`, the
            collection does not exist.
    """
    client = client_of(place)
    try:
        with _translated():
            existing = existing_collection(client, collection)
            if existing is not None:
                _check(existing, embedding_model)
                if save_every:
                    _save_every(existing, save_every)
            elif not create:
                msg = f"the collection {collection!r} does not exist"
                raise VectorStoreError(msg)
            hnsw = {"space": SPACE, "ef_search": SEARCH_BREADTH, "sync_threshold": save_every or SAVE_EVERY}
            made = {"embedding_model": embedding_model, "format": FORMAT}
            store = DocumentChroma(
                indexed_text=indexed_text,
                words=words,
                client=client,
                collection_name=collection,
                embedding_function=embeddings,
                collection_metadata=None if existing else made,
                collection_configuration=None if existing else {"hnsw": hnsw},
            )
    except BaseException:
        close(client)
        raise
    weakref.finalize(store, close, client).atexit = False
    return store


def delete_collection(place: Path | Server, collection: str) -> None:
    """Delete the collection, if it is there.

    Raises:
        VectorStoreError: the folder cannot be opened, or the server not be reached.
    """
    if isinstance(place, Path) and not place.exists():
        return
    with connected(place) as client, _translated(), suppress(NotFoundError):
        client.delete_collection(collection)


def rename_collection(client: Client, name: str, new: str) -> None:
    """Rename the collection, if it is there; what another process has renamed already is no error.

    Raises:
        VectorStoreError: the server does not answer, or the new name is taken.
    """
    with _translated():
        if found := existing_collection(client, name):
            with suppress(NotFoundError):
                found.modify(name=new)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except WaypointError:
        raise
    except Exception as error:  # The client raises what it meets, down to a bare Exception for a proxy's 502.
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        msg = (
            f"the vector store did not answer ({reason}); check that CHROMA_PATH can be read and written and the disk "
            "is not full, or that the Chroma server runs"
        )
        raise VectorStoreError(msg) from error


def _where(wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the values that metadata has to have in Chroma's words, which know one condition or an `$and`."""
    conditions = [{name: value} for name, value in wanted.items()]
    return {"$and": conditions} if len(conditions) > 1 else next(iter(conditions), None)


def existing_collection(client: Client, name: str) -> Collection | None:
    """Return the collection of that name; None where there is none."""
    try:
        return client.get_collection(name, embedding_function=None)
    except NotFoundError:
        return None


def _save_every(collection: Collection, changes: int) -> None:
    with warnings.catch_warnings():
        # Chroma warns of what LangChain's store has put into the configuration.
        warnings.filterwarnings("ignore", message="legacy embedding function config")
        collection.modify(configuration={"hnsw": {"sync_threshold": changes}})


def _check(collection: Collection, embedding_model: str) -> None:
    configuration: dict[str, Any] = collection.configuration_json
    space = (configuration.get("hnsw") or configuration.get("spann") or {}).get("space")
    if space != SPACE:
        msg = f"the index {collection.name!r} measures {space!r} distances, not {SPACE!r}; {REBUILD}"
        raise ConfigurationError(msg)
    made = collection.metadata or {}
    check_label(
        collection.name,
        made_format=made.get("format"),
        made_with=made.get("embedding_model"),
        embedding_model=embedding_model,
    )
