"""Embeddings -> the same embeddings, which still know the vectors of the questions that are being answered.

The gate and the retriever embed the same question one after the other; the second finds the vector here. It is no cache
that outlives questions: that one has a switch, a lifetime and counts (CACHE_EMBEDDINGS).
"""

import threading
from collections import OrderedDict

from langchain_core.embeddings import Embeddings


class RecentQuestions(Embeddings):
    """Embeds a question once while it is answered; `kept` is more than are answered at the same time."""

    def __init__(self, embeddings: Embeddings, *, kept: int = 512) -> None:
        self._embeddings = embeddings
        self._kept = kept
        self._vectors: OrderedDict[str, list[float]] = OrderedDict()
        self._lock = threading.Lock()

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the texts."""
        return self._embeddings.embed_documents(texts)

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of the texts without blocking the event loop."""
        return await self._embeddings.aembed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        """Return the question's vector."""
        return self._vectors.get(text) or self._keep(text, self._embeddings.embed_query(text))

    async def aembed_query(self, text: str) -> list[float]:
        """Return the same without blocking the event loop."""
        return self._vectors.get(text) or self._keep(text, await self._embeddings.aembed_query(text))

    def _keep(self, text: str, vector: list[float]) -> list[float]:
        with self._lock:
            self._vectors[text] = vector
            if len(self._vectors) > self._kept:
                self._vectors.popitem(last=False)
        return vector
