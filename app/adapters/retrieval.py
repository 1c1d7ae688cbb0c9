"""Passages from a retrieval service (the MARP contract: `POST /search`), with retries and a circuit breaker."""

import json
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import httpx
from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun
from langchain_core.documents import Document
from pydantic import BaseModel, SecretStr, SkipValidation, ValidationError

from app.adapters.http_client import async_client, client, retry_after_s
from chains.audience import Audience, audience_of
from chains.callbacks.deadline import check_time, left_s, time_limit
from chains.clock import Clock, SystemClock
from chains.errors import (
    RetrievalCircuitError,
    RetrievalError,
    RetrievalRateLimitError,
    RetrievalUnavailableError,
)
from chains.resilience.breaker import CircuitBreaker
from chains.resilience.retry import RetryCounter, RetryPolicy, aretrying, retrying
from chains.retrieval import ChunkRetriever, Filters
from chains.retrieval.retriever import SCORE, ranked

# A health check sends no request if one has succeeded within these seconds.
RECENT_S = 30.0
SUSPECTS = {401: "RETRIEVAL_API_KEY", 403: "RETRIEVAL_API_KEY", 404: "RETRIEVAL_URL"}
# What a service may tell beside the contract, as ours does; the rest of a chunk's metadata is nobody's business.
MORE = ("section", "section_path", "category", "jurisdiction", "source_org", "source_type", "last_updated", "audience")


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


class Found(BaseModel):
    """What a search gives."""

    results: list[Hit]


class RetrievalService:
    """The service at `base_url`.

    Args:
        base_url: the address before `/search`.
        api_key: sent as bearer token; a service without keys needs none.
        timeout_s: the most that one attempt may take, to the last byte of the reply.
        policy: how often to retry, and how long to wait before.
        breaker_failures: after this many failures in a row the service is not called.
        breaker_reset_s: for this many seconds.
        unstated: who may see a passage that does not say so itself.
        clock: tells the time.

    Raises:
        RetrievalError: the service refuses, or answers what does not fit.
        RetrievalUnavailableError: it cannot be reached, or failed, also after the retries.
        DeadlineError: the question's time is used up.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: SecretStr | None = None,
        timeout_s: float = 30,
        policy: RetryPolicy | None = None,
        breaker_failures: int = 5,
        breaker_reset_s: float = 60,
        unstated: Audience = "internal",
        clock: Clock | None = None,
    ) -> None:
        self.url = f"{base_url.rstrip('/')}/search"
        self._headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"} if api_key else {}
        self._timeout_s = timeout_s
        self._policy = policy or RetryPolicy()
        self._unstated: Audience = unstated
        self._clock = clock or SystemClock()
        self.breaker = CircuitBreaker(
            clock=self._clock,
            name="retrieval service",
            failures=breaker_failures,
            reset_s=breaker_reset_s,
            open_error=RetrievalCircuitError,
        )
        self._retries = RetryCounter()
        # Calls that block are those of single commands and health checks, which keep no connection.
        self._client, self._async_client = client(headers={"Connection": "close"}), async_client()
        self._succeeded_at = -math.inf

    def search(self, query: str, *, top_k: int, filters: Filters, callbacks: Any = None) -> list[Document]:
        """Return the passages, best first, with the score that the service gave in the metadata."""
        return retrying(*self._rules(callbacks))(self._attempt, _body(query, top_k, filters), callbacks)

    async def asearch(self, query: str, *, top_k: int, filters: Filters, callbacks: Any = None) -> list[Document]:
        """Return the passages, best first, with the score that the service gave in the metadata."""
        body = _body(query, top_k, filters)
        found: list[Document] = await aretrying(*self._rules(callbacks))(self._aattempt, body, callbacks)
        return found

    def check(self) -> None:
        """Raise RetrievalError if the service does not work: if no request succeeded lately, one is sent."""
        is_recent = self._clock.now() - self._succeeded_at < RECENT_S
        if not is_recent or self.breaker.state != "closed":
            self._attempt(_body("ready", 1, Filters()), None)

    async def aclose(self) -> None:
        """Close the connections; the service cannot be asked any more."""
        self._client.close()
        await self._async_client.aclose()

    def _rules(self, callbacks: Any) -> tuple[Any, ...]:
        def time_left_s() -> float:
            return 0.0 if self.breaker.state == "open" else left_s(callbacks)

        return self._policy, self._clock, time_left_s, self._retries

    def _attempt(self, body: dict[str, Any], callbacks: Any) -> list[Document]:
        with self.breaker.guard():
            request = self._request(body, callbacks)
            try:
                return self._read(self._client.post(self.url, **request))
            except httpx.HTTPError as error:
                raise self._failure(error, request["timeout"]) from error

    async def _aattempt(self, body: dict[str, Any], callbacks: Any) -> list[Document]:
        with self.breaker.guard():
            request = self._request(body, callbacks)
            try:
                return self._read(await self._async_client.post(self.url, **request))
            except httpx.HTTPError as error:
                raise self._failure(error, request["timeout"]) from error

    def _request(self, body: dict[str, Any], callbacks: Any) -> dict[str, Any]:
        return {"json": body, "headers": self._headers, "timeout": min(self._timeout_s, check_time(callbacks))}

    def _read(self, response: httpx.Response) -> list[Document]:
        if not response.is_success:
            raise self._refused(response)
        try:
            found = Found.model_validate_json(response.content)
        except ValidationError as error:
            msg = f"the retrieval service at {self.url} answered no list of passages; check RETRIEVAL_URL"
            raise RetrievalError(msg) from error
        self._succeeded_at = self._clock.now()
        return [_document(hit, self._unstated) for hit in found.results]

    def _refused(self, response: httpx.Response) -> RetrievalError:
        status = response.status_code
        suspect = SUSPECTS.get(status, "the service, or try again")
        msg = f"the retrieval service at {self.url} answered {status}; check {suspect}"
        wait = retry_after_s(response.headers.get("retry-after"))
        if status == httpx.codes.TOO_MANY_REQUESTS:
            return RetrievalRateLimitError(msg, retry_after_s=wait)
        retryable = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.CONFLICT}
        if status in retryable or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return RetrievalUnavailableError(msg, retry_after_s=wait)
        return RetrievalError(msg)

    def _failure(self, error: httpx.HTTPError, timeout_s: float) -> RetrievalError:
        if isinstance(error, httpx.TimeoutException):
            msg = f"the retrieval service at {self.url} did not answer within {timeout_s:g} s; try again"
            return RetrievalUnavailableError(msg)
        if isinstance(error, httpx.DecodingError):
            msg = f"the retrieval service at {self.url} answered what cannot be read; check RETRIEVAL_URL"
            return RetrievalError(msg)
        msg = f"the retrieval service at {self.url} cannot be reached; check RETRIEVAL_URL"
        return RetrievalUnavailableError(msg)


class RemoteRetriever(ChunkRetriever):
    """The passages of a retrieval service. What the call may not see, did not ask for, or scores less, is dropped."""

    service: SkipValidation[RetrievalService]
    keeps_deadline: ClassVar[bool] = True

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        """Return the passages, best first."""
        found = self.service.search(query, top_k=top_k, filters=filters, callbacks=callbacks)
        return _wanted(found, top_k=top_k, threshold=threshold, filters=filters)

    async def aclose(self) -> None:
        """Close the connections to the service."""
        await self.service.aclose()

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        wanted = self.wanted(*(options.get(name) for name in ("top_k", "threshold", "filters")))
        top_k, filters = wanted["top_k"], wanted["filters"]
        if top_k <= 0:
            return []
        async with time_limit(run_manager):
            found = await self.service.asearch(query, top_k=top_k, filters=filters, callbacks=run_manager)
        return ranked(_wanted(found, **wanted), filters)


def _body(query: str, top_k: int, filters: Filters) -> dict[str, Any]:
    # A service that does not know the field ignores it; what it finds all the same is dropped here.
    narrower = {"audience": filters.audience} if filters.audience == "public" else {}
    return {"query": query, "top_k": top_k, **narrower}


def _wanted(found: list[Document], *, top_k: int, threshold: float, filters: Filters) -> list[Document]:
    # Other services may keep none of the limits.
    near = (document for document in found if document.metadata.get(SCORE, 1.0) >= threshold)
    return [document for document in near if filters.allow(document.metadata)][:top_k]


def _document(hit: Hit, unstated: Audience) -> Document:
    told = hit.metadata or {}
    more = {name: told[name] for name in MORE if isinstance(told.get(name), str)}
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
    metadata["audience"] = audience_of(metadata, unstated=unstated)
    return Document(hit.text, metadata=metadata | {"source_urls": json.dumps(urls)})
