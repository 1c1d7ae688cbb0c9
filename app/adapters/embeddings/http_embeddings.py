"""Embeddings over HTTP, from any service with OpenAI's `/embeddings`, with retries and a circuit breaker."""

from functools import partial
from typing import Any, Literal, Unpack

import httpx
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import ensure_config
from pydantic import SecretStr

from app.adapters.embeddings.prefixes import NO_PREFIXES, Prefixes
from app.adapters.service_calls import CallOptions, ServiceCalls, ServiceKind
from chains.errors import EmbeddingError

InputType = Literal["query", "passage"]
BATCH = 64
MAX_BYTES = 16 * 1024 * 1024  # 64 vectors of 4,096 numbers are 6 MB of JSON.
KIND = ServiceKind(
    name="embedding service",
    address="EMBEDDING_BASE_URL",
    key="EMBEDDING_API_KEY",
    model="EMBEDDING_MODEL",
    unreadable="no list of embeddings",
    error=EmbeddingError,
)


class HttpEmbeddings(Embeddings):
    """Embeddings by `POST {base_url}/embeddings`, up to 64 texts a request; all vectors have one dimension.

    `prefixes` are what the model wants before a question and before a passage; with `input_type` the service is told
    which of the two a text is, and adds them itself. Methods raise EmbeddingError where the service fails or answers
    what does not fit, and DeadlineError where the question's time is used up.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: SecretStr | None = None,
        prefixes: Prefixes = NO_PREFIXES,
        input_type: bool = False,
        **options: Unpack[CallOptions],
    ) -> None:
        address = f"{base_url.rstrip('/')}/embeddings"
        self._calls = ServiceCalls(KIND, address, api_key=api_key, max_bytes=MAX_BYTES, **options)
        self._model, self._prefixes, self._input_type = model, prefixes, input_type
        self._dimensions: int | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embedded(texts, "passage")

    def embed_query(self, text: str) -> list[float]:
        return self._embedded([text], "query")[0]

    def check(self) -> None:
        """Raise EmbeddingError if the service does not work: if no request succeeded lately, one is sent."""
        if not self._calls.is_known_to_work():
            self._calls.post_once(self._body(["ready"], "query"), self._read)

    def _embedded(self, texts: list[str], kind: InputType) -> list[list[float]]:
        callbacks, prefix = ensure_config().get("callbacks"), getattr(self._prefixes, kind)
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            batch = [f"{prefix}{text}" for text in texts[start : start + BATCH]]
            vectors += self._calls.post(self._body(batch, kind), partial(self._read, expected=len(batch)), callbacks)
        return vectors

    def _body(self, texts: list[str], kind: InputType) -> dict[str, Any]:
        return {"model": self._model, "input": texts, **({"input_type": kind} if self._input_type else {})}

    def _read(self, response: httpx.Response, expected: int = 1) -> list[list[float]]:
        response.raise_for_status()
        try:
            data = sorted(response.json()["data"], key=lambda one: one["index"])
        except (ValueError, KeyError, TypeError) as error:
            raise self._calls.misfit(KIND.unreadable) from error
        return self._checked(data, expected)

    def _checked(self, data: list[Any], expected: int) -> list[list[float]]:
        if [one.get("index") for one in data] != list(range(expected)):
            raise self._calls.misfit(f"{len(data)} embeddings for {expected} texts")
        vectors: list[list[float]] = [one.get("embedding") or [] for one in data]
        for vector in vectors:
            self._dimensions = self._dimensions or len(vector)
            if not vector or len(vector) != self._dimensions:
                raise self._calls.misfit(f"a vector of {len(vector)} dimensions, not {self._dimensions}")
        return vectors
