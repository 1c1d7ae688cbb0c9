"""Rerank by a service with `POST {base_url}/rerank`, as Cohere, Jina, vLLM and llama.cpp offer it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from httpx import Client
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import BaseModel, PrivateAttr, SecretStr, ValidationError

from app.adapters.http_client import client
from app.adapters.service_calls import ServiceCalls, ServiceKind
from app.wiring.models import RERANKER_TIMEOUT_S
from chains.errors import RetrievalError
from chains.retrieval.retriever import with_metadata

if TYPE_CHECKING:
    from app.settings import Settings

KIND = ServiceKind(
    name="reranking service",
    address="RERANKER",
    settings="RERANKER and RERANKER_MODEL",
    suspects={400: "RERANKER_MODEL", 401: "RERANKER_API_KEY", 403: "RERANKER_API_KEY", 404: "RERANKER"},
    unreadable="no list of results",
    error=RetrievalError,
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

    It is asked once. After five failures in a row it is not asked for a minute.

    Args:
        base_url: the address before `/rerank`.
        model: the model's name; None leaves the choice to the service.
        api_key: sent as bearer token; a service without keys needs none.
        timeout_s: the most seconds that a request may take.
    """

    model: str | None
    _calls: ServiceCalls = PrivateAttr()
    _client: Client = PrivateAttr()

    def __init__(self, base_url: str, *, model: str | None, api_key: SecretStr | None, timeout_s: float) -> None:
        super().__init__(model=model)
        self._calls = ServiceCalls(KIND, f"{base_url.rstrip('/')}/rerank", timeout_s=timeout_s)
        headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"} if api_key else {}
        self._client = client(headers=headers)

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Return the passages, most relevant first.

        Raises:
            RetrievalError: the service refuses, or answers what does not fit.; or it cannot be reached, or failed.
        """
        body = {"query": query, "documents": [document.page_content for document in documents]}
        with self._calls.attempt(callbacks) as timeout_s:
            asked = body | ({"model": self.model} if self.model else {})
            response = self._client.post(self._calls.url, json=asked, timeout=timeout_s)
            response.raise_for_status()
            results = self._read(response.content, len(documents))
        best = sorted(results, key=lambda one: one.relevance_score, reverse=True)
        return [with_metadata(documents[one.index], {"relevance_score": one.relevance_score}) for one in best]

    def _read(self, content: bytes, count: int) -> list[Result]:
        try:
            results = Reply.model_validate_json(content).results
        except ValidationError as error:
            raise self._calls.misfit(KIND.unreadable) from error
        if not all(0 <= one.index < count for one in results):
            msg = f"results that are not among the {count} passages"
            raise self._calls.misfit(msg)
        return results


def service(settings: "Settings", _model: Any) -> ServiceReranker:
    own, address = settings.retrieval, settings.retrieval.reranker or ""
    return ServiceReranker(
        address, model=own.reranker_model, api_key=own.reranker_api_key, timeout_s=RERANKER_TIMEOUT_S
    )
