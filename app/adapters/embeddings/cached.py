"""Embeddings that embed no text twice: in memory while a question is answered, in a cache, or in a file."""

import hashlib
import io
from array import array
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

import numpy as np
import platformdirs
from langchain_core.embeddings import Embeddings

from app.ledger.private_files import write_atomically
from chains.caching.typed_cache import TypedCache


class DelegatingEmbeddings(Embeddings):
    """Delegates to other `embeddings`."""

    def __init__(self, embeddings: Embeddings) -> None:
        self.embeddings = embeddings

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self.embeddings.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return self.embeddings.embed_query(text)


class MemoizedEmbeddings(DelegatingEmbeddings):
    """Remembers the vectors of the last questions: scope and retrieval embed the same question one after the other.

    `size` is more than the questions that are answered at the same time. CACHE_EMBEDDINGS keeps vectors for longer.
    """

    def __init__(self, embeddings: Embeddings, *, size: int = 512) -> None:
        super().__init__(embeddings)
        # A list of floats takes four times as much as an array.
        self._vector = lru_cache(size)(lambda text: array("d", embeddings.embed_query(text)))

    def embed_query(self, text: str) -> list[float]:
        return self._vector(text).tolist()


class CachedQuestionEmbeddings(DelegatingEmbeddings):
    """Keeps the vectors of questions in a cache.

    Documents are embedded once, at ingestion; their vectors would only push those of questions out.
    """

    def __init__(self, embeddings: Embeddings, vectors: TypedCache[list[float]]) -> None:
        super().__init__(embeddings)
        self._vectors = vectors

    def embed_query(self, text: str) -> list[float]:
        vector = self._vectors.get(text)
        if vector is None:
            vector = self.embeddings.embed_query(text)
            self._vectors.set(text, vector)
        return vector


class DiskCachedEmbeddings(DelegatingEmbeddings):
    """Keeps the vectors of a batch of documents in a file, for texts that are the same at every start.

    Questions are not kept. A file that is missing, broken or cannot be written only costs the time to embed. By default
    files are in the user's cache folder.
    """

    def __init__(self, embeddings: Embeddings, *, model: str, folder: Path | None = None) -> None:
        super().__init__(embeddings)
        self._model = model
        self._folder = folder or platformdirs.user_cache_path("waypoint-copilot")

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        key = hashlib.sha256("\0".join([self._model, *texts]).encode()).hexdigest()
        file = self._folder / f"vectors-{key[:24]}.npy"
        with suppress(OSError, ValueError, EOFError):
            vectors: list[list[float]] = np.load(file, allow_pickle=False).tolist()
            if len(vectors) == len(texts):
                return vectors
        vectors = self.embeddings.embed_documents(texts)
        content = io.BytesIO()
        np.save(content, np.asarray(vectors, dtype=np.float32))
        with suppress(OSError):
            write_atomically(file, content.getvalue())
        return vectors
