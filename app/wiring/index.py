"""The index: what embeds documents and questions, where passages are, and what reads and changes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from app import hooks
from app.ledger.index import PassageIndex
from app.ledger.work import Faults
from app.ports import Outbox
from app.settings import Settings
from app.wiring.caches import Caches
from app.wiring.library import Library
from app.wiring.models import embedding_model, token_counter
from app.wiring.storage import current_of, ledger_of, sample_corpus, stored_index
from app.wiring.upgrade import bring_index_over
from chains.around.side_steps import keep_faults, side_step
from chains.clock import Clock, SystemClock
from chains.ports import TokenCounter

if TYPE_CHECKING:
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
class Index:
    """The documents.

    Attributes:
        embedder: The embedding model itself.
        embeddings: The same, with the vectors of questions remembered.
        stored: The index as an ingestion changes it.
        current: Returns the passages as they are now, or raises what `current_of` says.
    """

    settings: Settings
    clock: Clock
    parts: Parts
    caches: Caches
    embedder: Embeddings
    embeddings: Embeddings
    tokens: TokenCounter
    stored: PassageIndex
    current: "Callable[[], Passages]"
    library: Library

    @cached_property
    def outbox(self) -> Outbox | None:
        """Return the outbox of events; None if events are off."""
        events = self.settings.events
        if self.parts.outbox is not None or events.rabbitmq_url is None or not events.enabled:
            return self.parts.outbox
        outbox: Outbox = hooks.wing("events.plugin:outbox")(self.settings)
        return outbox

    @cached_property
    def ingestion(self) -> "Ingestion":
        from app.wiring.ingestion import Ingestion

        def tell() -> None:
            for changed in hooks.wings("knowledge.recall:index_changed"):
                with side_step(changed.__name__):
                    changed(self)

        return Ingestion(self.settings, self.stored, tell)

    def ingest(self, paths: Sequence[Path | str], **options: Any) -> "Report":
        """Update the index from files and addresses; options and errors are those of `Ingestion.run`."""
        return self.ingestion.run(paths, **options)


def open_index(settings: Settings, *, clock: Clock | None = None, parts: Parts | None = None) -> Index:
    """Return the index that the settings name; nothing is read before it is asked for."""
    from app.adapters.embeddings.cached import MemoizedEmbeddings

    clock, parts = clock or SystemClock(), parts or Parts()
    keep_faults(Faults(ledger_of(settings)).keep)
    caches = Caches(settings, clock, parts.cache_store)
    embedder = embedding_model(settings, clock)
    embeddings = caches.embeddings(parts.embeddings or MemoizedEmbeddings(embedder))
    stored = stored_index(settings, embeddings)
    current = current_of(stored, lambda: bring_index_over(settings, stored))
    library, tokens = Library(settings, current, sample_corpus().resolve()), token_counter(embedder)
    return Index(settings, clock, parts, caches, embedder, embeddings, tokens, stored, current, library)
