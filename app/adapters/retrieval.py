"""Passages from a retrieval service (the MARP contract: `POST /search`), with retries and a circuit breaker."""

import json
from collections.abc import Mapping
from typing import Any

import httpx
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun
from langchain_core.documents import Document
from pydantic import BaseModel, SkipValidation

from app.adapters.http_client import ServiceCalls, ServiceKind
from chains.callbacks import time_limit
from chains.documents.audience import audience_of
from chains.errors import QuestionError, RetrievalError
from chains.retrieval.filters import Filters, check_known
from chains.retrieval.retriever import SCORE, ChunkRetriever

KIND = ServiceKind(
    name="retrieval service",
    path="/search",
    address="RETRIEVAL_URL",
    key="RETRIEVAL_API_KEY",
    unreadable="no list of passages",
    error=RetrievalError,
    recent_s=5,  # Asking it costs nobody anything, and without it nothing is found.
)
# What a service may tell beside the contract, as ours does; the rest of a chunk's metadata is nobody's business.
FIELDS = (
    *("section", "section_path", "category", "jurisdiction"),
    *("source_org", "source_type", "last_updated", "audience"),
)


class Hit(BaseModel):
    """A passage as the contract has it; other services may leave out what they do not know."""

    text: str
    document_id: str | None = None
    chunk_index: int | None = None
    title: str | None = None
    page: int | None = None
    url: str | None = None
    score: float | None = None
    source_urls: list[str] | None = None
    metadata: dict[str, Any] | None = None


class SearchReply(BaseModel):
    """What a search gives."""

    results: list[Hit]


class RemoteRetriever(ChunkRetriever):
    """The passages of the retrieval service that `calls` asks, best first, with the score that it gave.

    What the call may not see, did not ask for, or scores less, is dropped; a passage that does not say who may see it
    is internal. A search raises QuestionError where the service has no documents with a field of the filters,
    RetrievalError where it fails or answers what does not fit, DeadlineError where the question's time is used up.
    """

    calls: SkipValidation[ServiceCalls]

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        documents = self.calls.post(_body(query, top_k, filters), self._read, callbacks)
        return _wanted(documents, top_k=top_k, threshold=threshold, filters=filters)

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        wanted = self.wanted(*(options.get(name) for name in ("top_k", "threshold", "filters")))
        top_k, filters = wanted["top_k"], wanted["filters"]
        if top_k <= 0:
            return []
        async with time_limit(run_manager):
            documents = await self.calls.apost(_body(query, top_k, filters), self._read, run_manager)
        return self.ranked(_wanted(documents, **wanted), filters)

    def check(self) -> None:
        """Raise RetrievalError if the service does not work: if no request succeeded lately, one is sent."""
        self.calls.check(_body("ready", 1, Filters()), self._read)

    async def aclose(self) -> None:
        await self.calls.aclose()

    def _read(self, response: httpx.Response) -> list[Document]:
        if response.status_code == httpx.codes.BAD_REQUEST and '"filters: ' in response.text:
            raise QuestionError("filters: the documents of the retrieval service have no such field; leave it out")
        return [_document(hit) for hit in self.calls.reply(response, SearchReply).results]


def _body(query: str, top_k: int, filters: Filters) -> dict[str, Any]:
    check_known(filters.conditions, FIELDS)
    # A service that does not know these fields ignores them; what it finds all the same is dropped here.
    narrower: dict[str, Any] = {"audience": filters.audience} if filters.audience == "public" else {}
    if filters.conditions:
        narrower["filters"] = {condition.field: condition.given for condition in filters.conditions}
    return {"query": query, "top_k": top_k, **narrower}


def _wanted(found: list[Document], *, top_k: int, threshold: float, filters: Filters) -> list[Document]:
    # Other services may keep none of the limits.
    near = (document for document in found if document.metadata.get(SCORE, 1.0) >= threshold)
    return [document for document in near if filters.allow(document.metadata)][:top_k]


def _document(hit: Hit) -> Document:
    given = hit.metadata or {}
    more = {name: given[name] for name in FIELDS if isinstance(given.get(name), str)}
    known: Mapping[str, Any] = {
        "doc_id": hit.document_id,
        "chunk_index": hit.chunk_index,
        "title": hit.title,
        "page": hit.page or None,  # 0 is none.
        # What is above 1 is no similarity, but a score of another kind, whose scale nobody here knows.
        SCORE: hit.score if hit.score is not None and hit.score <= 1 else None,
    }
    urls = hit.source_urls if hit.source_urls is not None else [hit.url] if hit.url else []
    metadata = more | {name: value for name, value in known.items() if value is not None}
    metadata["audience"] = audience_of(metadata)
    return Document(hit.text, metadata=metadata | {"source_urls": json.dumps(urls)})
