"""Stage 1. A question -> the passages that may hold its answer, best first, each with its cosine similarity."""

from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnableConfig, RunnableLambda
from langchain_core.vectorstores import VectorStore

from chains.state import Passage, Question, check_question

SCORE = "score"


class SimilarityRetriever(BaseRetriever):
    """The `top_k` chunks nearest to the question whose cosine similarity reaches `threshold`."""

    store: VectorStore
    top_k: int = 10
    threshold: float = 0.15

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> list[Document]:
        found = self.store.similarity_search_with_relevance_scores(query, k=self._limit(top_k))
        return filter_by_threshold(found, self._floor(threshold))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        top_k: int | None = None,
        threshold: float | None = None,
    ) -> list[Document]:
        found = await self.store.asimilarity_search_with_relevance_scores(query, k=self._limit(top_k))
        return filter_by_threshold(found, self._floor(threshold))

    def _limit(self, top_k: int | None) -> int:
        return self.top_k if top_k is None else top_k

    def _floor(self, threshold: float | None) -> float:
        return self.threshold if threshold is None else threshold


def filter_by_threshold(scored: list[tuple[Document, float]], threshold: float) -> list[Document]:
    """Keep the documents that score at least `threshold`, and write the score into their metadata."""
    return [
        Document(id=document.id, page_content=document.page_content, metadata={**document.metadata, SCORE: score})
        for document, score in scored
        if score >= threshold
    ]


def passage(document: Document) -> Passage:
    """Return a retrieved document as plain data, its score taken out of the metadata."""
    metadata = dict(document.metadata)
    score = min(1.0, max(0.0, float(metadata.pop(SCORE, 0.0))))
    return Passage(content=document.page_content, metadata=metadata, score=round(score, 6))


def retrieve(retriever: BaseRetriever) -> Runnable[Question, list[Passage]]:
    """Return the verb of stage 1: ask `retriever`, with the question's own `top_k` and `threshold` where it has them.

    Raises:
        QuestionError: the question is empty, too long, or no text.
    """

    def search(state: Question, config: RunnableConfig) -> list[Passage]:
        found = retriever.invoke(check_question(state.get("question")), config, **_limits(state, retriever))
        return [passage(document) for document in found]

    async def asearch(state: Question, config: RunnableConfig) -> list[Passage]:
        found = await retriever.ainvoke(check_question(state.get("question")), config, **_limits(state, retriever))
        return [passage(document) for document in found]

    return RunnableLambda(search, afunc=asearch, name="search")


def _limits(state: Question, retriever: BaseRetriever) -> dict[str, Any]:
    # A foreign retriever may know neither option; it then answers with its own.
    known = type(retriever).model_fields
    return {name: state[name] for name in ("top_k", "threshold") if name in known and state.get(name) is not None}
