"""Similarity retrieval from any vector store of LangChain that has relevance scores."""

from typing import Any

from langchain_core.documents import Document
from langchain_core.vectorstores import VectorStore

from chains.retrieval.filters import Filters
from chains.retrieval.retriever import ChunkRetriever, filter_by_threshold


class SimilarityRetriever(ChunkRetriever):
    """The `top_k` chunks nearest to the question whose cosine similarity reaches `threshold`."""

    store: VectorStore

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        """Return the nearest chunks, the nearest first."""
        where = filters.where()
        options = {"filter": where} if where else {}
        return filter_by_threshold(
            self.store.similarity_search_with_relevance_scores(query, k=top_k, **options), threshold
        )
