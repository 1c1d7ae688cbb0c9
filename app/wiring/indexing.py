"""What holds the documents: embeddings, caches, the index and what changes it, each built on first use."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from app import hooks
from app.ledger.faults import Faults
from app.ports import Outbox
from app.settings import Settings
from app.wiring.caches import Caches
from app.wiring.ledger import ledger_of
from app.wiring.library import Library
from app.wiring.models import embedding_model, token_counter
from app.wiring.sample import sample_corpus
from app.wiring.storage import IndexReader, stored_index
from app.wiring.upgrade import bring_index_over
from chains.clock import Clock, SystemClock
from chains.ports import TokenCounter
from chains.side_steps import keep_faults, side_step

if TYPE_CHECKING:
    from app.ledger.index import PassageIndex
    from app.ledger.passages import Passages
    from app.wiring.ingestion import Ingestion
    from chains.caching.typed_cache import ExpiringStore
    from chains.ingestion.index import Report


@dataclass(frozen=True)
class Parts:
    """Parts that replace those of the settings."""

    embeddings: Embeddings | None = None
    model: BaseChatModel | None = None
    chain: Runnable[Any, Any] | None = None
    outbox: Outbox | None = None
    cache_store: "ExpiringStore | None" = None


@dataclass(frozen=True)
class Indexing:
    """The index, and what reads and changes it."""

    settings: Settings
    clock: Clock = field(default_factory=SystemClock)
    parts: Parts = field(default_factory=Parts)

    def __post_init__(self) -> None:
        keep_faults(self.faults.keep)

    @cached_property
    def faults(self) -> Faults:
        """Return what failed beside answers and ingestions."""
        return Faults(ledger_of(self.settings))

    @cached_property
    def embedder(self) -> Embeddings:
        """Return the embedding model itself."""
        return embedding_model(self.settings, self.clock)

    @cached_property
    def embeddings(self) -> Embeddings:
        """Return the embeddings for questions and passages."""
        from app.adapters.embeddings.cached import MemoizedEmbeddings

        return self.caches.embeddings(self.parts.embeddings or MemoizedEmbeddings(self.embedder))

    @cached_property
    def caches(self) -> Caches:
        """Return the caches of vectors, passages and answers."""
        version = lambda: self.stored.version()  # noqa: E731, PLW0108 - what is stored is embedded by way of the caches.
        return Caches(self.settings, self.clock, index_version=version, store=self.parts.cache_store)

    @cached_property
    def tokens(self) -> TokenCounter:
        """Return the token counter."""
        return token_counter(self.embedder)

    @cached_property
    def stored(self) -> "PassageIndex":
        """Return the index as the settings name it, for opening and changing."""
        return stored_index(self.settings, self.embeddings)

    @cached_property
    def index(self) -> IndexReader:
        """Return the holder of the open index."""
        return IndexReader(self.stored, lambda: bring_index_over(self.settings, self.stored))

    @cached_property
    def library(self) -> Library:
        """Return the library, which reads whole documents."""
        return Library(self.settings, self.index, sample_corpus().resolve())

    @cached_property
    def uploads(self) -> Any:
        """Return what adds and removes documents over HTTP; None where that is left out of this installation."""
        made = [make(self.settings, self.library, self.ingestion) for make in hooks.wings("uploads.plugin:folder")]
        return made[0] if made else None

    @cached_property
    def ingestion(self) -> "Ingestion":
        """Return the ingestion, which changes the index."""
        from app.wiring.ingestion import Ingestion

        return Ingestion(self.settings, self.stored, self._changed)

    def _changed(self) -> None:
        for tell in hooks.wings("knowledge.ingested:index_changed"):
            with side_step(tell.__name__):
                tell(self)

    @property
    def store(self) -> "Passages":
        """Return the passages, checked against the embedding model."""
        return self.index.current()

    def ingest(self, paths: Sequence[Path | str], **options: Any) -> "Report":
        """Update the index from files and addresses.

        The `options` are those of `Ingestion.run`.

        Raises:
            IngestionError: a path or address cannot be read.
            VectorStoreError, ConfigurationError: the store cannot be written, or was made with another model.
        """
        return self.ingestion.run(paths, **options)
