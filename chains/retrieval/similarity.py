"""Similarity retrieval: the chunks nearest to the question in meaning."""

from typing import Any

from langchain_core.documents import Document
from pydantic import SkipValidation

from chains.ports import ChunkStore
from chains.retrieval.filters import Filters
from chains.retrieval.retriever import SCORE, ChunkRetriever, fetched


class SimilarityRetriever(ChunkRetriever):
    """The `top_k` chunks nearest to the question whose cosine similarity reaches `threshold`."""

    store: SkipValidation[ChunkStore]

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        """Return the nearest chunks, the nearest first."""
        vector = self.store.embeddings.embed_query(query)
        with self.store.reading():
            scores = self.store.nearest(vector, top_k, filters.where())
            return fetched(self.store, {id_: {SCORE: score} for id_, score in scores.items() if score >= threshold})
