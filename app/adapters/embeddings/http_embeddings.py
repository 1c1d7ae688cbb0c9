"""An address and a model's name -> embeddings over HTTP, from any service that speaks OpenAI's `/embeddings`."""

from typing import Any

import httpx
from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from chains.errors import EmbeddingError

BATCH = 64


class HttpEmbeddings(Embeddings):
    """Embeddings by `POST {base_url}/embeddings`, up to 64 texts a request; all vectors have one dimension."""

    def __init__(self, *, base_url: str, model: str, api_key: SecretStr | None = None, timeout_s: float = 30) -> None:
        headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"} if api_key else {}
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._model = model
        self._client = httpx.Client(headers=headers, timeout=timeout_s)
        self._timeout_s = timeout_s
        self._dimensions: int | None = None

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the texts, in their order.

        Raises:
            EmbeddingError: the service cannot be reached, refuses, or answers what does not fit.
        """
        batches = (texts[start : start + BATCH] for start in range(0, len(texts), BATCH))
        return [vector for batch in batches for vector in self._checked(self._ask(batch), len(batch))]

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of one text."""
        return self.embed_documents([text])[0]

    def _ask(self, texts: list[str]) -> list[Any]:
        try:
            response = self._client.post(self._url, json={"model": self._model, "input": texts})
            response.raise_for_status()
            return sorted(response.json()["data"], key=lambda one: one["index"])
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            msg = f"the embedding service at {self._url} answered {status}; check {_suspect(status)}"
            raise EmbeddingError(msg) from error
        except httpx.TimeoutException as error:
            msg = f"the embedding service at {self._url} did not answer within {self._timeout_s:g} s; try again"
            raise EmbeddingError(msg) from error
        except httpx.HTTPError as error:
            msg = f"the embedding service at {self._url} cannot be reached; check EMBEDDING_BASE_URL"
            raise EmbeddingError(msg) from error
        except (ValueError, KeyError, TypeError) as error:
            raise EmbeddingError(self._misfit("no list of embeddings")) from error

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


def _suspect(status: int) -> str:
    return {
        401: "EMBEDDING_API_KEY",
        403: "EMBEDDING_API_KEY",
        404: "EMBEDDING_BASE_URL and EMBEDDING_MODEL",
        400: "EMBEDDING_MODEL",
    }.get(status, "the service, or try again")
