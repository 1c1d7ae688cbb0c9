"""Embeddings over HTTP, from any service with OpenAI's `/embeddings`, with retries and a circuit breaker."""

from functools import partial
from typing import Any, Literal

import httpx
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import ensure_config
from pydantic import BaseModel

from app.adapters.embeddings import NO_PREFIXES, Prefixes
from app.adapters.http_client import ServiceCalls, ServiceKind
from chains.errors import EmbeddingError

InputType = Literal["query", "passage"]
BATCH = 64
KIND = ServiceKind(
    name="embedding service",
    path="/embeddings",
    address="EMBEDDING_BASE_URL",
    key="EMBEDDING_API_KEY",
    model="EMBEDDING_MODEL",
    unreadable="no list of embeddings",
    error=EmbeddingError,
    keeps_connection=True,
    max_bytes=16 * 1024 * 1024,  # 64 vectors of 4,096 numbers are 6 MB of JSON.
)


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class _Reply(BaseModel):
    data: list[_Embedding]


class HttpEmbeddings(Embeddings):
    """Embeddings by `POST {base_url}/embeddings`, up to 64 texts a request; all vectors have one dimension.

    `prefixes` are what the model wants before a question and before a passage; with `input_type` the service is told
    which of the two a text is, and adds them itself. Methods raise EmbeddingError where the service fails or answers
    what does not fit, and DeadlineError where the question's time is used up.
    """

    def __init__(
        self, *, base_url: str, model: str, prefixes: Prefixes = NO_PREFIXES, input_type: bool = False, **options: Any
    ) -> None:
        self._calls = ServiceCalls(KIND, base_url, **options)
        self._model, self._prefixes, self._input_type = model, prefixes, input_type
        self._dimensions: int | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return self._embedded(texts, "passage")

    def embed_query(self, text: str) -> list[float]:
        return self._embedded([text], "query")[0]

    def check(self) -> None:
        """Raise EmbeddingError if the service does not work: if no request succeeded lately, one is sent."""
        self._calls.check(self._body(["ready"], "query"), self._read)

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
        data = sorted(self._calls.reply(response, _Reply).data, key=lambda row: row.index)
        if [row.index for row in data] != list(range(expected)):
            raise self._calls.misfit(f"{len(data)} embeddings for {expected} texts")
        vectors = [row.embedding for row in data]
        for vector in vectors:
            self._dimensions = self._dimensions or len(vector)
            if not vector or len(vector) != self._dimensions:
                raise self._calls.misfit(f"a vector of {len(vector)} dimensions, not {self._dimensions}")
        return vectors
