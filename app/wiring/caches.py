"""Wrap embeddings, retriever and chain in the enabled caches."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable
from pydantic import TypeAdapter

import prompts
from app.ledger.work import LedgerCache
from app.settings import Settings
from app.settings.answering import ANSWERING
from app.wiring.storage import ledger_of
from chains.caching.typed_cache import CacheStats, LevelName, TypedCache, canonical
from chains.clock import Clock
from chains.retrieval import ChunkRetriever
from chains.state import Answer, Question

if TYPE_CHECKING:
    from chains.caching.typed_cache import ExpiringStore

# Some 1,500 answers, or 10,000 vectors.
MEMORY_BYTES = 32 * 2**20

PLACES = {"chroma_path", "chroma_host", "chroma_port", "chroma_ssl", "memory_store_path"}
Version = Callable[[], str | None]


@dataclass(frozen=True)
class Caches:
    """The three cache levels over one store; a disabled level returns its argument unchanged.

    What is cached under other settings for answering, or other prompts, does not count.
    """

    settings: Settings
    clock: Clock
    store: "ExpiringStore | None" = None
    stats: CacheStats = field(default_factory=CacheStats)

    def embeddings(self, embeddings: Embeddings) -> Embeddings:
        """Return the embeddings with the vectors of questions cached."""
        if not self._is_on(self.settings.cache.embeddings):
            return embeddings
        from app.adapters.embeddings.cached import CachedQuestionEmbeddings

        return CachedQuestionEmbeddings(embeddings, self._level("embedding", TypeAdapter(list[float])))

    def retriever(self, retriever: ChunkRetriever, version: Version) -> ChunkRetriever:
        """Return the retriever with its chunks cached, for each version of the index."""
        if not self._is_on(self.settings.cache.retrieval):
            return retriever
        from chains.caching.answers import CachedRetriever

        level = self._level("retrieval", TypeAdapter(list[Document]))
        same = {name: getattr(retriever, name) for name in ("top_k", "threshold", "executor", "link_hosts")}
        return CachedRetriever(retriever=retriever, cache=level, version=version, **same)

    def answers(self, chain: Runnable[Question, Answer], version: Version, **facts: Any) -> Runnable[Question, Answer]:
        """Return the chain with cached answers; `facts` are what it depends on besides settings and index."""
        settings = self.settings
        if not self._is_on(settings.cache.llm):
            return chain
        from chains.caching.answers import CachedAnswers

        return CachedAnswers(
            chain,
            cache=self._level("answer", TypeAdapter(Answer), **facts),
            version=version,
            stats=self.stats,
            clock=self.clock,
            ttl_s=settings.cache.ttl,
            defaults={"top_k": settings.retrieval.top_k, "threshold": settings.retrieval.threshold, "history": []},
        )

    def _is_on(self, level: bool) -> bool:
        return self.settings.cache.enabled and level

    def _level(self, name: LevelName, form: TypeAdapter[Any], **facts: Any) -> TypedCache[Any]:
        fingerprint = canonical([version("waypoint-copilot"), self._facts | facts])
        return TypedCache(name, self._store, form, stats=self.stats, fingerprint=fingerprint)

    @cached_property
    def _facts(self) -> dict[str, Any]:
        texts, values = answer_facts(self.settings)
        return texts | values

    @cached_property
    def _store(self) -> "ExpiringStore":
        if self.store is not None:
            return self.store
        settings, ttl_s = self.settings, self.settings.cache.ttl
        if settings.cache.backend == "memory":
            from chains.caching.typed_cache import MemoryStore

            return MemoryStore(capacity=MEMORY_BYTES, ttl_s=ttl_s, clock=self.clock)
        return LedgerCache(ledger_of(settings), ttl_s=ttl_s)


def answer_facts(settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what an answer depends on besides the index: all texts of prompts/, and the settings."""
    folder = settings.prompt.folder
    texts = {"prompts": prompts.texts(folder), "translations": prompts.translations(folder)}
    # Those for answering and chunking, not the addresses of services. New answering settings enter by themselves: a
    # missing one would return wrong answers. Secrets are dumped as asterisks.
    depended_on = {variable for group in ANSWERING for variable in group.variables()} - PLACES
    dumped = settings.as_variables(sorted(depended_on | {"chunk_size", "chunk_overlap"}), mode="json")
    return texts, dumped | {"provider": settings.provider}
