"""Embeddings that embed no text twice: in memory while a question is answered, or in a cache."""

import hashlib
from array import array
from contextlib import suppress
from functools import lru_cache

import numpy as np
from langchain_core.embeddings import Embeddings

from chains.caching.typed_cache import ExpiringStore, StoreError, TypedCache


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


class CachedBatchEmbeddings(DelegatingEmbeddings):
    """Keeps the vectors of a batch of documents in a store, for texts that are the same at every start.

    Questions are not kept. A store that fails only costs the time to embed.
    """

    def __init__(self, embeddings: Embeddings, store: ExpiringStore, *, model: str) -> None:
        super().__init__(embeddings)
        self._store, self._model = store, model

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        key = hashlib.sha256("\0".join([self._model, *texts]).encode()).hexdigest()
        name = f"batch:{key}"
        with suppress(StoreError):
            if kept := self._store.get(name):
                vectors: list[list[float]] = np.frombuffer(kept, "<f4").reshape(len(texts), -1).tolist()
                return vectors
        vectors = self.embeddings.embed_documents(texts)
        with suppress(StoreError):
            self._store.set(name, np.asarray(vectors, "<f4").tobytes())
        return vectors
