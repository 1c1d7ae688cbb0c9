"""Rerank by a service with `POST {base_url}/rerank`, as Cohere, Jina, vLLM and llama.cpp offer it."""

from collections.abc import Sequence
from typing import Any, Unpack

import httpx
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import BaseModel, PrivateAttr

from app.adapters.service_calls import CallOptions, ServiceCalls, ServiceKind
from app.settings import Settings
from app.wiring.models import RERANKER_TIMEOUT_S
from chains.errors import RetrievalError
from chains.retrieval.retriever import with_metadata

KIND = ServiceKind(
    name="reranking service",
    path="/rerank",
    address="RERANKER",
    key="RERANKER_API_KEY",
    model="RERANKER_MODEL",
    unreadable="no list of results",
    error=RetrievalError,
    keeps_connection=True,
)


class Result(BaseModel):
    """The score of one passage, by its place in the request."""

    index: int
    relevance_score: float


class Reply(BaseModel):
    """What a service answers."""

    results: list[Result]


class ServiceReranker(BaseDocumentCompressor):
    """The passages in the order of a service's scores, each with its `relevance_score` in the metadata.

    Without a model the service chooses. It is asked once; after five failures in a row it is not asked for a minute.
    """

    model: str | None
    _calls: ServiceCalls = PrivateAttr()

    def __init__(self, *, base_url: str, model: str | None, **options: Unpack[CallOptions]) -> None:
        super().__init__(model=model)
        self._calls = ServiceCalls(KIND, base_url, **options)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the passages, most relevant first.

        Raise RetrievalError if the service refuses, or answers what does not fit; or it cannot be reached, or failed.
        """
        body = {"query": query, "documents": [document.page_content for document in documents]}
        asked = body | ({"model": self.model} if self.model else {})
        results = self._calls.post_once(asked, lambda response: self._read(response, len(documents)), callbacks)
        best = sorted(results, key=lambda one: one.relevance_score, reverse=True)
        return [with_metadata(documents[one.index], {"relevance_score": one.relevance_score}) for one in best]

    def _read(self, response: httpx.Response, count: int) -> list[Result]:
        results = self._calls.reply(response, Reply).results
        if not all(0 <= one.index < count for one in results):
            raise self._calls.misfit(f"results that are not among the {count} passages")
        return results


def service(settings: Settings, _model: Any) -> ServiceReranker:
    own = settings.retrieval
    return ServiceReranker(
        base_url=own.reranker or "",
        model=own.reranker_model,
        api_key=own.reranker_api_key,
        timeout_s=RERANKER_TIMEOUT_S,
    )
