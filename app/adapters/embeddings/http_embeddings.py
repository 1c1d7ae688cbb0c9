"""Embeddings over HTTP, from any service with OpenAI's `/embeddings`, with retries and a circuit breaker."""

from typing import Any, Literal, Unpack

from langchain_core.embeddings import Embeddings
from langchain_core.runnables import ensure_config
from pydantic import SecretStr

from app.adapters.embeddings.prefixes import NO_PREFIXES, Prefixes
from app.adapters.http_client import client
from app.adapters.service_calls import CallOptions, ServiceCalls, ServiceKind
from chains.errors import EmbeddingError

InputType = Literal["query", "passage"]
BATCH = 64
MAX_BYTES = 16 * 1024 * 1024  # 64 vectors of 4,096 numbers are 6 MB of JSON.
KIND = ServiceKind(
    name="embedding service",
    address="EMBEDDING_BASE_URL",
    settings="EMBEDDING_BASE_URL and EMBEDDING_MODEL",
    suspects={
        400: "EMBEDDING_MODEL",
        401: "EMBEDDING_API_KEY",
        403: "EMBEDDING_API_KEY",
        404: "EMBEDDING_BASE_URL and EMBEDDING_MODEL",
    },
    unreadable="no list of embeddings",
    error=EmbeddingError,
)


class HttpEmbeddings(Embeddings):
    """Embeddings by `POST {base_url}/embeddings`, up to 64 texts a request; all vectors have one dimension.

    Args:
        base_url: the address up to and with `/v1`.
        model: the model's name.
        api_key: sent as Bearer token; a service without keys needs none.
        prefixes: what the model wants before a question and before a passage.
        input_type: tell the service which of the two a text is, so that it adds the prefix itself.
        options: the limits of its calls.

    Raises:
        EmbeddingError: the service refuses, or answers what does not fit; or it cannot be reached, or failed.
        DeadlineError: the question's time is used up.
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
        headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"} if api_key else {}
        self._calls = ServiceCalls(KIND, f"{base_url.rstrip('/')}/embeddings", **options)
        self._model = model
        self._prefixes = prefixes
        self._input_type = input_type
        self._client = client(headers=headers, max_bytes=MAX_BYTES)
        self._dimensions: int | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embedded(texts, "passage")

    def embed_query(self, text: str) -> list[float]:
        return self._embedded([text], "query")[0]

    def check(self) -> None:
        """Raise EmbeddingError if the service does not work: if no request succeeded lately, one is sent."""
        if not self._calls.is_known_to_work():
            self._attempt(["ready"], "query", None)

    def _embedded(self, texts: list[str], kind: InputType) -> list[list[float]]:
        callbacks = ensure_config().get("callbacks")
        prefix = getattr(self._prefixes, kind)
        prefixed = [f"{prefix}{text}" for text in texts]
        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            vectors += self._calls.retrying(callbacks)(self._attempt, prefixed[start : start + BATCH], kind, callbacks)
        return vectors

    def _attempt(self, texts: list[str], kind: InputType, callbacks: Any) -> list[list[float]]:
        with self._calls.attempt(callbacks) as timeout_s:
            body = {"model": self._model, "input": texts, **({"input_type": kind} if self._input_type else {})}
            response = self._client.post(self._calls.url, json=body, timeout=timeout_s)
            response.raise_for_status()
            try:
                data = sorted(response.json()["data"], key=lambda one: one["index"])
            except (ValueError, KeyError, TypeError) as error:
                raise self._calls.misfit(KIND.unreadable) from error
            return self._checked(data, len(texts))

    def _checked(self, data: list[Any], expected: int) -> list[list[float]]:
        if [one.get("index") for one in data] != list(range(expected)):
            msg = f"{len(data)} embeddings for {expected} texts"
            raise self._calls.misfit(msg)
        vectors: list[list[float]] = [one.get("embedding") or [] for one in data]
        for vector in vectors:
            self._dimensions = self._dimensions or len(vector)
            if not vector or len(vector) != self._dimensions:
                msg = f"a vector of {len(vector)} dimensions, not {self._dimensions}"
                raise self._calls.misfit(msg)
        return vectors
