"""Embeddings over HTTP, from any service with OpenAI's `/embeddings`, with retries and a circuit breaker."""

import math
from typing import Any

import httpx
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import ensure_config
from pydantic import SecretStr

from app.adapters.http_client import client, retry_after_s
from chains.callbacks.deadline import check_time, left_s
from chains.clock import Clock, SystemClock
from chains.errors import EmbeddingCircuitError, EmbeddingError, EmbeddingRateLimitError, EmbeddingUnavailableError
from chains.resilience.breaker import CircuitBreaker
from chains.resilience.retry import RetryCounter, RetryPolicy, retrying

BATCH = 64
MAX_BYTES = 16 * 1024 * 1024  # 64 vectors of 4,096 numbers are 6 MB of JSON.
# A health check sends no request if one has succeeded within these seconds.
RECENT_S = 30.0
SUSPECTS = {
    400: "EMBEDDING_MODEL",
    401: "EMBEDDING_API_KEY",
    403: "EMBEDDING_API_KEY",
    404: "EMBEDDING_BASE_URL and EMBEDDING_MODEL",
}


class HttpEmbeddings(Embeddings):
    """Embeddings by `POST {base_url}/embeddings`, up to 64 texts a request; all vectors have one dimension.

    Args:
        base_url: the address up to and with `/v1`.
        model: the model's name.
        api_key: sent as Bearer token; a service without keys needs none.
        timeout_s: the most that one attempt may take, to the last byte of the reply.
        policy: how often to retry, and how long to wait before.
        breaker_failures: after this many failures in a row the service is not called.
        breaker_reset_s: for this many seconds.
        clock: tells the time.

    Raises:
        EmbeddingError: the service refuses, or answers what does not fit.
        EmbeddingUnavailableError: it cannot be reached, or failed, also after the retries.
        DeadlineError: the question's time is used up.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str,
        api_key: SecretStr | None = None,
        timeout_s: float = 30,
        policy: RetryPolicy | None = None,
        breaker_failures: int = 5,
        breaker_reset_s: float = 60,
        clock: Clock | None = None,
    ) -> None:
        headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"} if api_key else {}
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model = model
        self._client = client(headers=headers, max_bytes=MAX_BYTES)
        self._timeout_s = timeout_s
        self._policy = policy or RetryPolicy()
        self._clock = clock or SystemClock()
        self._breaker = CircuitBreaker(
            clock=self._clock,
            name="embedding service",
            failures=breaker_failures,
            reset_s=breaker_reset_s,
            open_error=EmbeddingCircuitError,
        )
        self._retries = RetryCounter()
        self._dimensions: int | None = None
        self._succeeded_at = -math.inf

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the texts, in their order."""
        callbacks = ensure_config().get("callbacks")

        def time_left_s() -> float:
            return 0.0 if self._breaker.state == "open" else left_s(callbacks)

        vectors: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            attempts = retrying(self._policy, self._clock, time_left_s, self._retries)
            vectors += attempts(self._attempt, texts[start : start + BATCH], callbacks)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text."""
        return self.embed_documents([text])[0]

    def check(self) -> None:
        """Raise EmbeddingError if the service does not work: if no request succeeded lately, one is sent."""
        is_recent = self._clock.now() - self._succeeded_at < RECENT_S
        if not is_recent or self._breaker.state != "closed":
            self._attempt(["ready"], None)

    def _attempt(self, texts: list[str], callbacks: Any) -> list[list[float]]:
        with self._breaker.guard():
            timeout_s = min(self._timeout_s, check_time(callbacks))
            vectors = self._checked(self._post(texts, timeout_s), len(texts))
        self._succeeded_at = self._clock.now()
        return vectors

    def _post(self, texts: list[str], timeout_s: float) -> list[Any]:
        try:
            body = {"model": self._model, "input": texts}
            response = self._client.post(self._url, json=body, timeout=timeout_s)
            response.raise_for_status()
            return sorted(response.json()["data"], key=lambda one: one["index"])
        except httpx.HTTPStatusError as error:
            raise self._refused(error.response) from error
        except httpx.TimeoutException as error:
            msg = f"the embedding service at {self._url} did not answer within {timeout_s:g} s; try again"
            raise EmbeddingUnavailableError(msg) from error
        except (httpx.DecodingError, ValueError, KeyError, TypeError) as error:
            raise EmbeddingError(self._misfit("no list of embeddings")) from error
        except httpx.HTTPError as error:
            msg = f"the embedding service at {self._url} cannot be reached; check EMBEDDING_BASE_URL"
            raise EmbeddingUnavailableError(msg) from error

    def _refused(self, response: httpx.Response) -> EmbeddingError:
        status = response.status_code
        suspect = SUSPECTS.get(status, "the service, or try again")
        msg = f"the embedding service at {self._url} answered {status}; check {suspect}"
        wait = retry_after_s(response.headers.get("retry-after"))
        if status == httpx.codes.TOO_MANY_REQUESTS:
            return EmbeddingRateLimitError(msg, retry_after_s=wait)
        retryable = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.CONFLICT}
        if status in retryable or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return EmbeddingUnavailableError(msg, retry_after_s=wait)
        return EmbeddingError(msg)

    def _checked(self, data: list[Any], expected: int) -> list[list[float]]:
        if [one.get("index") for one in data] != list(range(expected)):
            raise EmbeddingError(self._misfit(f"{len(data)} embeddings for {expected} texts"))
        vectors: list[list[float]] = [one.get("embedding") or [] for one in data]
        for vector in vectors:
            self._dimensions = self._dimensions or len(vector)
            if not vector or len(vector) != self._dimensions:
                raise EmbeddingError(self._misfit(f"a vector of {len(vector)} dimensions, not {self._dimensions}"))
        return vectors

    def _misfit(self, what: str) -> str:
        return f"the embedding service at {self._url} answered {what}; check EMBEDDING_BASE_URL and EMBEDDING_MODEL"
