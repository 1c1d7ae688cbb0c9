"""Build adapters and chain from the settings, each part when it is first used."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable

from app import hooks
from app.adapters.feedback_file import MEGABYTE, FeedbackFile
from app.observability.answer_log import AnswerLog
from app.ports import Moderation, Outbox
from app.settings import Settings
from app.wiring.access import Access
from app.wiring.caches import Caches
from app.wiring.chain import pipeline
from app.wiring.checks import Check, index_check, retrieval_check, service_checks
from app.wiring.conversations import conversations_of
from app.wiring.examples import ExampleQuestions
from app.wiring.library import Library, folder_beside
from app.wiring.llm import chat_model, close, providers_of
from app.wiring.models import current_retriever, embedding_model, remote_retriever, token_counter, word_similarity
from app.wiring.observability import Tracing, metrics_of, tracing_of
from app.wiring.parts import Parts
from app.wiring.reformulation import reformulation_of
from app.wiring.scope import sample_corpus, scope_gate, scope_text
from app.wiring.storage import IndexReader, stored_index
from app.wiring.surroundings import AROUND, Surroundings
from app.wiring.teams import Teams
from chains.clock import Clock, SystemClock
from chains.conversations import ConversationStore
from chains.observers import Observer
from chains.pipeline import Reformulation
from chains.ports import TokenCounter, WordSimilarity
from chains.retrieval import ChunkRetriever
from chains.state import Answer, CitationStyle, Question, Redirect, Searching

if TYPE_CHECKING:
    from app.adapters.retrieval import RemoteRetriever
    from app.adapters.stores.index import Store, StoredIndex, Words
    from app.observability.metrics import Metrics
    from app.wiring.ingestion import Ingestion
    from chains.ingestion.index import Report


@dataclass(frozen=True)
class Services:
    """The parts that commands and routes use, each built on first use."""

    settings: Settings
    clock: Clock = field(default_factory=SystemClock)
    parts: Parts = field(default_factory=Parts)
    serving: bool = True  # Whether calls are counted and published as events; single commands need neither.
    models: dict[str, BaseChatModel] = field(default_factory=dict, init=False)
    _numbered_chains: dict[str, Runnable[Question, Answer]] = field(default_factory=dict, init=False)

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
    def stored(self) -> "StoredIndex":
        """Return the index as the settings name it, for opening and changing."""
        return stored_index(self.settings, self.embeddings)

    @cached_property
    def index(self) -> IndexReader:
        """Return the holder of the open index."""
        return IndexReader(self.stored)

    @cached_property
    def library(self) -> Library:
        """Return the library, which reads whole documents."""
        return Library(self.settings, self.index, sample_corpus().resolve())

    @cached_property
    def uploads(self) -> Any:
        """Return what adds and removes documents over HTTP; None where that is left out of this installation."""
        made = [make(self.settings, self.library, self.ingestion) for make in hooks.each("uploads")]
        return made[0] if made else None

    @cached_property
    def feedback(self) -> FeedbackFile:
        """Return the file of users' scores and comments."""
        folder = folder_beside(self.settings, self.settings.feedback.folder, "feedback")
        return FeedbackFile(folder, max_bytes=self.settings.feedback.max_mb * MEGABYTE)

    @cached_property
    def ingestion(self) -> "Ingestion":
        """Return the ingestion, which changes the index."""
        from app.wiring.ingestion import Ingestion

        return Ingestion(self.settings, self.stored, sample_corpus())

    @property
    def store(self) -> "Store":
        """Return the vector store, checked against the embedding model."""
        return self.index.current().store

    @property
    def words(self) -> "Words":
        """Return the word index of the store."""
        return self.index.current().words

    @property
    def model(self) -> BaseChatModel:
        """Return the chat model: the configured providers, then the offline answerer."""
        return self._model_of(self.settings.llm.model)

    def _model_of(self, name: str) -> BaseChatModel:
        if self.parts.model is not None:
            return self.parts.model
        if name not in self.models:
            settings = self.settings.replace(llm_model=name)
            self.models[name] = chat_model(
                settings, self.embeddings, clock=self.clock, tokens=self.tokens, similarity=self.word_similarity
            )
        return self.models[name]

    @cached_property
    def remote(self) -> "RemoteRetriever | None":
        """Return the retriever for RETRIEVAL_URL; None if the local index is searched."""
        return remote_retriever(self.settings, self.clock) if self.settings.retrieval.url else None

    @cached_property
    def retriever(self) -> ChunkRetriever:
        """Return the retriever: RETRIEVAL_URL, or RETRIEVER_TYPE over the current index."""
        if self.remote is not None:
            return self.remote
        return self.caches.retriever(current_retriever(self.settings, self.index.current, lambda: self.model))

    @cached_property
    def word_similarity(self) -> WordSimilarity:
        """Return the word similarity that checks quotations."""
        return word_similarity()

    @cached_property
    def reformulation(self) -> Reformulation:
        """Return the reformulation of follow-ups; it always uses LLM_MODEL."""
        return reformulation_of(self.settings, self.word_similarity, self.clock, self.model)

    @cached_property
    def moderation(self) -> Moderation | None:
        """Return the moderation of questions, or None."""
        if not self.settings.safety.enabled:
            return None
        made = (make(self.settings, self.clock) for make in hooks.each("moderators"))
        return next(filter(None, made), None)

    @cached_property
    def chain(self) -> Runnable[Question, Answer]:
        """Return the pipeline."""
        return self.parts.chain or self._pipeline(self.settings.citations.style, self.settings.llm.model)

    def numbered_chain(self, model_id: str | None = None) -> Runnable[Question, Answer]:
        """Return the pipeline of POST /chat: numbered citations, and a choice of allowed models."""
        if self.parts.chain is not None:
            return self.parts.chain
        name = model_id or self.settings.llm.model
        if name not in self._numbered_chains:
            cut, warmth = self.settings.prompt.chat_passage_characters, self.settings.llm.chat_temperature
            self._numbered_chains[name] = self._pipeline(
                "numbered", name, passage_characters=cut, temperature=warmth, markers_suffice=True
            )
        return self._numbered_chains[name]

    def _pipeline(self, style: CitationStyle, model_id: str, **options: Any) -> Runnable[Question, Answer]:
        chain = pipeline(
            self.settings,
            style=style,
            retriever=self.retriever,
            model=self._model_of(model_id),
            model_id=model_id,
            scope=self.scope,
            tokens=self.tokens,
            similarity=self.word_similarity,
            reformulation=self.reformulation,
            clock=self.clock,
            moderate=self.moderation.step if self.moderation else None,
            **options,
        )
        facts = {
            "style": style,
            "model_id": model_id,
            "scope": scope_text(self.settings),
            "passage_characters": options.get("passage_characters"),
        }
        parts = Surroundings(self.settings, self.caches, self.tracing, self.observers, self.conversations, facts)
        for wrap in AROUND:
            chain = wrap(chain, parts)
        return chain

    @cached_property
    def conversations(self) -> ConversationStore:
        """Return the store of conversations."""
        return conversations_of(self.settings, self.access, self.clock)

    @cached_property
    def observers(self) -> list[Observer]:
        """Return the observers of every call of the chain."""
        observers: list[Observer] = [AnswerLog(questions=self.settings.logs.questions), *self.tracing.observers]
        if self.serving:
            observers.append(self.metrics)
        if self.serving and self.outbox is not None:
            observers.append(
                self.outbox.observer("offline" if self.settings.provider == "offline" else self.settings.llm.model)
            )
        return observers

    @cached_property
    def outbox(self) -> Outbox | None:
        """Return the outbox of events; None if events are off."""
        if self.parts.outbox is not None:
            return self.parts.outbox
        return next((made for make in hooks.each("events") if (made := make(self.settings))), None)

    @cached_property
    def metrics(self) -> "Metrics":
        """Return the metrics of GET /metrics."""
        parts: dict[str, Any] = {"tracing": self.tracing, "caches": self.caches.stats, "models": self.models}
        return metrics_of(self.settings, outbox=self.outbox, uploads=self.uploads, **parts)

    @cached_property
    def tracing(self) -> Tracing:
        """Return the exports of traces and users' scores."""
        return tracing_of(self.settings)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open what lives as long as the service, and close it afterwards; then no more questions can be asked."""
        async with AsyncExitStack() as life:
            life.push_async_callback(asyncio.to_thread, self.tracing.close)
            life.push_async_callback(close, self.models)
            for service in (self.remote, self.moderation):
                if service is not None:
                    life.push_async_callback(service.aclose)
            life.callback(self.library.close)
            if self.uploads is not None:
                life.push_async_callback(asyncio.to_thread, self.uploads.close)
                await asyncio.to_thread(self.uploads.resume)
            parts: list[Any] = [self.caches, self.access, self.outbox]
            for part in filter(None, parts):
                await life.enter_async_context(part.running())
            yield

    @cached_property
    def access(self) -> Access:
        """Return access control: authentication and rate limits."""
        return Access(self.settings)

    @cached_property
    def scope(self) -> Runnable[Searching, Redirect | None] | None:
        """Return the scope gate; None if it is off or there is no list."""
        if self.remote is not None and self.settings.scope.file is None:
            return None
        return scope_gate(self.settings, self.embeddings, self.index.current)

    @cached_property
    def examples(self) -> ExampleQuestions:
        """Return the example questions of the page."""
        return ExampleQuestions(self.settings.web.examples_file, self.stored.holds_own_documents)

    @cached_property
    def teams(self) -> Teams:
        """Return the teams to contact when the documents have no answer."""
        return Teams(self.settings.web.teams_file, self.stored.holds_own_documents)

    def checks(self) -> list[Check]:
        """Return the readiness checks of everything that the settings and the models built so far depend on."""
        embedder = self.parts.embeddings or self.embedder
        source = index_check(embedder, lambda: self.store) if self.remote is None else retrieval_check(self.remote)
        models = {self.settings.llm.model: self.model} | self.models
        return [source, *service_checks(self.settings, self.embedder, providers_of(models), self.outbox)]

    def warm_up(self) -> None:
        """Answer a question without the language model, so that everything is loaded for the first real one."""
        from app.wiring.warm_up import local_chain, warm_up

        self.numbered_chain()
        if self.remote is None:
            parts = (self.embeddings, self.tokens, self.word_similarity)
            warm_up(local_chain(self.settings, self.index.current(), *parts, clock=self.clock), self.scope)

    def ingest(self, paths: Sequence[Path | str], **options: Any) -> "Report":
        """Update the index from files and addresses, by default the sample corpus.

        The `options` are those of `Ingestion.run`.

        Raises:
            IngestionError: a path or address cannot be read, or the sample corpus would go into a user's index.
            VectorStoreError, ConfigurationError: the store cannot be written, or was made with another model.
        """
        return self.ingestion.run(paths, **options)
