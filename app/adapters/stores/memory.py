"""LangChain's in-memory store, kept with its vectors in a JSON file that is written whole after every change."""

import base64
import json
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import run_in_executor
from langchain_core.vectorstores import InMemoryVectorStore
from numpy.typing import NDArray

from app.adapters.private_files import write_atomically
from app.adapters.stores.folder import ChangedInPlace
from app.adapters.stores.fts import LexicalIndex
from app.adapters.stores.index import FORMAT, REBUILD, Recipe, check_label
from chains.errors import ConfigurationError, VectorStoreError
from chains.vectors import cosines

VERSION = "1.0.0"
# In the file a vector is 32-bit floats, little-endian, in base64: a quarter of the digits, and exact.
_FLOAT = np.dtype("<f4")


class SavedMemoryStore(InMemoryVectorStore):
    """A store in memory that embeds what `indexed_text` makes of a document, and keeps its file and `words` in step.

    `generation` tells this store from another that was in the same file before it: the time of its making.
    """

    gone = False

    def __init__(
        self,
        path: Path,
        embeddings: Embeddings,
        *,
        embedding_model: str,
        indexed_text: Callable[[Document], str],
        words: LexicalIndex | None = None,
    ) -> None:
        super().__init__(embeddings)
        self._path = path
        self._embedding_model = embedding_model
        self._indexed_text = indexed_text
        self._words = words
        self.generation = _now()
        self._changing = threading.Lock()
        self._matrix: tuple[dict[str, dict[str, Any]], NDArray[np.float32]] | None = None
        if path.exists():
            self._load()

    def add_documents(self, documents: list[Document], ids: list[str] | None = None, **kwargs: Any) -> list[str]:
        """Embed and keep the documents under their `ids`; one that is there already is replaced."""
        ids = ids or [document.id or str(uuid4()) for document in documents]
        vectors = self.embedding.embed_documents([self._indexed_text(document) for document in documents])
        with self._changing:
            changed = dict(self.store)
            for id_, document, vector in zip(ids, documents, vectors, strict=True):
                changed[id_] = _row(id_, vector, document.page_content, document.metadata)
            self._replace(changed)
        if self._words:
            self._words.add(ids, documents)
        return ids

    async def aadd_documents(self, documents: list[Document], ids: list[str] | None = None, **kwargs: Any) -> list[str]:
        """Do the same without blocking the event loop."""
        return await run_in_executor(None, self.add_documents, documents, ids)

    def delete(self, ids: Sequence[str] | None = None, **kwargs: Any) -> None:
        """Delete the documents with these `ids`; an unknown one is not an error."""
        gone = list(ids or [])
        if self._words:
            self._words.delete(gone)
        with self._changing:
            self._replace({id_: row for id_, row in self.store.items() if id_ not in set(gone)})

    def reading(self) -> AbstractContextManager[object]:
        """Promise nothing: what is read may be of several moments."""
        return nullcontext()

    def count(self) -> int:
        """Return the number of documents."""
        return len(self.store)

    def ids(self) -> list[str]:
        """Return the ids of all documents."""
        return list(self.store)

    def nearest(self, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return the similarities of the documents nearest to `vector` by id, the nearest first."""
        store, matrix = self._rows()
        ids = list(store)
        scores = cosines(matrix, vector)
        ranked = (int(place) for place in np.argsort(-scores, kind="stable"))
        allowed = (place for place in ranked if _has(store[ids[place]], where))
        return {ids[place]: float(scores[place]) for place in islice(allowed, limit)}

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of the given documents by id, without those that are not there."""
        store = self.store
        return {id_: store[id_]["vector"] for id_ in ids if id_ in store}

    def _rows(self) -> tuple[dict[str, dict[str, Any]], NDArray[np.float32]]:
        # The rows never change in place, so a matrix is good as long as it was made of these.
        store, matrix = self.store, self._matrix
        if matrix is None or matrix[0] is not store:
            matrix = store, np.array([row["vector"] for row in store.values()], dtype=np.float32)
            self._matrix = matrix
        return matrix

    def _replace(self, changed: dict[str, dict[str, Any]]) -> None:
        # The file first: what is not on the disk was not kept.
        self._save(changed)
        self.store = changed

    def _save(self, store: dict[str, dict[str, Any]]) -> None:
        kept = {
            "version": VERSION,
            "format": FORMAT,
            "embeddingModel": self._embedding_model,
            "createdAt": self.generation,
            "updatedAt": _now(),
            "documents": [_encoded(row) for row in store.values()],
        }
        try:
            write_atomically(self._path, json.dumps(kept, ensure_ascii=False))
        except OSError as error:
            msg = f"the vector store {str(self._path)!r} cannot be written ({error.strerror}); check MEMORY_STORE_PATH"
            raise VectorStoreError(msg) from error

    def _load(self) -> None:
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            self._check(kept)
            self.store = {row["id"]: row for row in map(_decoded, kept["documents"])}
            self.generation = kept["createdAt"]
        except OSError as error:
            msg = f"the vector store {str(self._path)!r} cannot be read ({error.strerror}); check MEMORY_STORE_PATH"
            raise VectorStoreError(msg) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            msg = f"the vector store {str(self._path)!r} is broken ({type(error).__name__}: {error}); {REBUILD}"
            raise ConfigurationError(msg) from error

    def _check(self, kept: dict[str, Any]) -> None:
        if kept.get("version") != VERSION:
            found = kept.get("version")
            msg = f"the vector store {str(self._path)!r} has version {found!r}, not {VERSION!r}; {REBUILD}"
            raise ConfigurationError(msg)
        check_label(
            str(self._path),
            made_format=kept.get("format"),
            made_with=kept.get("embeddingModel"),
            embedding_model=self._embedding_model,
        )


class MemoryIndex(ChangedInPlace):
    """An index whose store is a file that is read into memory."""

    def __init__(self, file: Path, recipe: Recipe) -> None:
        super().__init__(file.with_name(f"{file.name}.index"), recipe)
        self._file = file
        self._beside = self.folder / "building" / "store.json"

    @property
    def place(self) -> str:
        """Return where the index is, for messages."""
        return f"memory in {self._file}"

    def _open_store(self, words: LexicalIndex | None) -> SavedMemoryStore:
        return self._opened(self._file, words)

    def _open_beside(self) -> SavedMemoryStore:
        return self._opened(self._beside, None)

    def _swap(self) -> None:
        if not self._beside.exists():
            self._open_beside().delete()  # This writes the file of an empty store.
        os.replace(self._beside, self._file)

    def _opened(self, file: Path, words: LexicalIndex | None) -> SavedMemoryStore:
        recipe = self.recipe
        return SavedMemoryStore(
            file, recipe.embeddings, embedding_model=recipe.embedding_model, indexed_text=recipe.text, words=words
        )


def _has(row: dict[str, Any], where: Mapping[str, str]) -> bool:
    return all(row["metadata"].get(name) == value for name, value in where.items())


def _row(id_: str, vector: Any, text: str, metadata: dict[str, Any]) -> dict[str, Any]:
    return {"id": id_, "vector": np.asarray(vector, dtype=np.float32), "text": text, "metadata": metadata}


def _encoded(row: dict[str, Any]) -> dict[str, Any]:
    vector = base64.b64encode(row["vector"].astype(_FLOAT).tobytes()).decode("ascii")
    return {"id": row["id"], "pageContent": row["text"], "metadata": row["metadata"], "vector": vector}


def _decoded(kept: dict[str, Any]) -> dict[str, Any]:
    vector = np.frombuffer(base64.b64decode(kept["vector"], validate=True), dtype=_FLOAT)
    return _row(kept["id"], vector, kept["pageContent"], dict(kept["metadata"]))


def _now() -> str:
    return datetime.now(UTC).isoformat()
