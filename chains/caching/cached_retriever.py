"""A retriever that keeps the chunks it found."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from langchain_core.documents import Document
from pydantic import SkipValidation

from chains.caching.typed_cache import TypedCache, canonical
from chains.retrieval import ChunkRetriever, Filters


class CachedRetriever(ChunkRetriever):
    """The chunks that `retriever` finds, kept by limits, filters, question and version of the index.

    Args:
        retriever: what searches.
        cache: where found chunks are kept.
        version: returns the version of the index; None where its changes are not known, so that nothing is kept.
    """

    retriever: ChunkRetriever
    cache: SkipValidation[TypedCache[list[Document]]]
    version: Callable[[], str | None]

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        """Return the chunks that were found under the same conditions before, or search."""
        limits: dict[str, Any] = {"top_k": top_k, "threshold": threshold}
        version = self.version()
        if version is None:
            return self.retriever.find(query, **limits, filters=filters, callbacks=callbacks)
        key = canonical([version, query, limits, asdict(filters)])
        found = self.cache.get(key)
        if found is None:
            found = self.retriever.find(query, **limits, filters=filters, callbacks=callbacks)
            self.cache.set(key, found)
        return found
