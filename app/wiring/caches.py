"""What is kept as long as what made it stays the same: cached results, and the certificate of the high confidence."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from typing import Any, Literal

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

import prompts
from app.adapters.embeddings.cached import CachedQuestionEmbeddings
from app.ledger.work import LedgerCache
from app.settings import Settings
from app.wiring.storage import ledger_of
from chains.caching.typed_cache import CacheStats, ExpiringStore, LevelName, MemoryStore, TypedCache, canonical
from chains.clock import Clock
from chains.confidence.calibrated import CalibratedConfidence, CertifiedConfidence, load_model
from chains.confidence.levels import ConfidenceStrategy
from chains.errors import ConfigurationError
from chains.logs import get_logger
from chains.retrieval.retriever import ChunkRetriever
from chains.state import Answer, Question

# Some 1,500 answers, or 10,000 vectors.
MEMORY_BYTES = 32 * 2**20

# The groups of settings that an answer depends on, besides where its index is.
ANSWERING = ("llm", "embedding", "store", "retrieval", "prompt", "citations", "confidence", "safety", "moderation")
FACT = "certificate"  # of the ledger.
COMMAND = "`waypoint eval QUESTIONS --certify`"
REMEDY = f"make it again by {COMMAND}, or remove it by `waypoint eval QUESTIONS --no-certify`"
Version = Callable[[], str | None]

log = get_logger(__name__)


@dataclass(frozen=True)
class Caches:
    """The three cache levels over one store; a disabled level returns its argument unchanged.

    What is cached under other settings for answering, or other prompts, does not count.
    """

    settings: Settings
    clock: Clock
    stats: CacheStats = field(default_factory=CacheStats)

    def embeddings(self, embeddings: Embeddings) -> Embeddings:
        if not self._is_on(self.settings.cache.embeddings):
            return embeddings
        return CachedQuestionEmbeddings(embeddings, self._level("embedding", TypeAdapter(list[float])))

    def retriever(self, retriever: ChunkRetriever, version: Version) -> ChunkRetriever:
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
        texts, values = self.facts
        fingerprint = canonical([version("waypoint-copilot"), texts | values | facts])
        return TypedCache(name, self._store, form, stats=self.stats, fingerprint=fingerprint)

    @cached_property
    def facts(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what answers depend on besides the index: texts and settings, as they were at the start."""
        return answer_facts(self.settings)

    @cached_property
    def _store(self) -> ExpiringStore:
        settings, ttl_s = self.settings, self.settings.cache.ttl
        if settings.cache.backend == "memory":
            return MemoryStore(capacity=MEMORY_BYTES, ttl_s=ttl_s, clock=self.clock)
        return LedgerCache(ledger_of(settings), ttl_s=ttl_s)


def answer_facts(settings: Settings) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what an answer depends on besides the index: all texts of prompts/, and the settings."""
    folder = settings.prompt.folder
    texts = {"prompts": prompts.texts(folder), "translations": prompts.translations(folder)}
    # Whole groups: a new setting enters by itself, and a missing one would return wrong answers. Secrets are asterisks.
    dumped = {name: getattr(settings, name).model_dump(mode="json") for name in ANSWERING}
    chunks = settings.ingestion.chunk_size, settings.ingestion.chunk_overlap
    return texts, dumped | {"provider": settings.llm.provider, "chunks": chunks}


class HighCertificate(BaseModel):
    """From which score on few answers are wrong, how that was found out, and what has to stay as it was."""

    model_config = ConfigDict(frozen=True)

    version: Literal[1] = 1
    date: str = Field(description="UTC, ISO 8601.")
    threshold: float = Field(gt=0, le=1)
    wrong_at_most: float
    confidence: float
    questions: int = Field(description="Number of the labelled questions.")
    answers: int
    kept: int = Field(description="Answers that reach the threshold.")
    wrong: int = Field(description="Those of them that are wrong.")
    bound: float = Field(description="Upper limit of the share that is wrong.")
    models: frozenset[str]
    made_by: dict[str, str] = Field(description="Index, prompts, settings, confidence model and program.")

    def promise(self) -> str:
        return f"at most {self.wrong_at_most:.0%} of such answers are wrong".replace("%", " %")


@dataclass(frozen=True)
class Certification:
    """The certificate of these settings' index, if there is one."""

    settings: Settings

    @cached_property
    def certificate(self) -> HighCertificate | None:
        """Return the certificate; None where there is none.

        Raise ConfigurationError if it is not understood; VectorStoreError if the ledger cannot be read.
        """
        kept = ledger_of(self.settings).fact(FACT)
        try:
            return None if kept is None else HighCertificate.model_validate_json(kept)
        except ValidationError as error:
            raise ConfigurationError(f"the certificate of the high confidence is not understood; {REMEDY}") from error

    @property
    def digest(self) -> str | None:
        return _digest(self.certificate.model_dump(mode="json", exclude={"models"})) if self.certificate else None

    def keep(self, **values: Any) -> None:
        """Keep a certificate of the index, prompts and settings as they are now.

        Raise VectorStoreError if the ledger cannot be written.
        """
        made = HighCertificate(date=datetime.now(UTC).isoformat(timespec="seconds"), made_by=self._made_by(), **values)
        ledger_of(self.settings).state(FACT, made.model_dump_json())

    def forget(self) -> None:
        """Remove the certificate: answers are high as the settings say."""
        ledger_of(self.settings).state(FACT, None)

    def changed(self) -> list[str]:
        if self.certificate is None:
            return []
        return [name for name, value in self._made_by().items() if self.certificate.made_by.get(name) != value]

    def status(self) -> str:
        """Return what is certified, in words.

        Raise ConfigurationError if nothing is certified, or something has changed since.
        """
        kept = self.certificate
        if kept is None or (changed := self.changed()):
            why = f"changed since it was certified: {', '.join(changed)}" if kept else "nothing is certified"
            raise ConfigurationError(f"no answer is high; {why}")
        return f"from a score of {kept.threshold:g} on {kept.promise()} ({kept.questions} questions, {kept.date[:10]})"

    def held(self, strategy: ConfidenceStrategy, *, same_chain: bool) -> ConfidenceStrategy:
        """Return a strategy that gives the high level by the certificate; as it is where there is none.

        Only answers of the `same_chain` that was certified can be high.
        """
        if self.certificate is None or not isinstance(strategy, CalibratedConfidence):
            return strategy
        if changed := self.changed():
            log.warning("high_confidence_not_certified", changed=changed, remedy=COMMAND)
        return CertifiedConfidence(
            strategy,
            self.certificate.threshold,
            self.certificate.promise(),
            self.certificate.models,
            self.changed if same_chain else lambda: ["citation style"],
        )

    def _made_by(self) -> dict[str, str]:
        return {"index": str(ledger_of(self.settings).fact("version")), **self._made_beside}

    @cached_property
    def _made_beside(self) -> Mapping[str, str]:
        """Return what made the answers besides the index and the model; an evaluation shows factors in any case."""
        settings = self.settings.replace(confidence_include_factors=True)
        prompts, values = answer_facts(settings)
        return {
            "prompts": _digest(prompts),
            "settings": _digest(values),
            "confidence model": _digest(load_model(settings.confidence.model).text()),
            "program": version("waypoint-copilot"),
        }


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()
