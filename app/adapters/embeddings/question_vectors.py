"""Embeddings and a store of vectors -> the same embeddings, which embed no question twice."""

from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_core.embeddings import Embeddings
from langchain_core.stores import BaseStore


class QuestionVectors(CacheBackedEmbeddings):
    """LangChain's cached embeddings for questions only.

    Documents are embedded once, when they are ingested: keeping their vectors would push out those of questions.
    """

    def __init__(self, embeddings: Embeddings, vectors: BaseStore[str, list[float]]) -> None:
        super().__init__(embeddings, vectors, query_embedding_store=vectors)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the texts, without a look at the store."""
        return self.underlying_embeddings.embed_documents(texts)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the same without blocking the event loop."""
        return await self.underlying_embeddings.aembed_documents(texts)
