"""What serves answers: callers, conversations, traces, metrics, and the chain with all that stands around it."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig
from langsmith import tracing_context

from app import hooks
from app.adapters.identity import ApiKeys, Authenticator, Identity, Scope
from app.ledger.work import MOST_CONVERSATIONS, Conversations
from app.observability.call_log import CallLog
from app.settings import Settings, load_settings, unused_variables
from app.wiring.chain import Answerer, open_answerer, redact_of, safe_text
from app.wiring.index import Index, Parts, open_index
from app.wiring.llm import close, offline_model, providers_of
from app.wiring.observability import QUESTION, Check, Tracing, backend_checks, index_check, provider_check, tracing_of
from app.wiring.storage import ledger_of, settings_to_ask
from chains.around import Around, ConversationStore, Disclosure, ObservedRunnable, Observer, WithConversations
from chains.caching.typed_cache import EVENTS, LEVELS
from chains.cited_answer import CitedAnswer
from chains.clock import Clock
from chains.errors import ConfigurationError, WaypointError
from chains.logs import get_logger
from chains.question import check_fields, check_question
from chains.regular_files import read_text
from chains.retrieval.passages import retrieve as retrieve_documents
from chains.retrieval.retriever import ASKED, ChunkRetriever
from chains.safety.cleaning import CleanQuestions
from chains.side_steps import counts
from chains.state import Answer, Passage, Question

if TYPE_CHECKING:
    from limits.aio.storage import Storage
    from prometheus_client.core import Metric
    from redis.asyncio import ConnectionPool

    from app.adapters.embeddings.http_embeddings import HttpEmbeddings
    from app.observability.metrics import Metrics

PROVIDER = ("model", "provider")
BREAKER_STATES = {"closed": 0.0, "half-open": 0.5, "open": 1.0}
# The id alone protects an anonymous conversation: a shorter one could be guessed.
SHORTEST_OF_STRANGERS = 16

# Longer than a cache's timeout: without its session, a request fails.
REDIS_TIMEOUT_S = 2

log = get_logger(__name__)
Chain = Runnable[Question, Answer]


@dataclass(frozen=True)
class Access:
    """Authentication and rate limits of the service, each built on first use."""

    settings: Settings

    @cached_property
    def authenticator(self) -> Authenticator | None:
        """Return the authenticator; None if callers have no tokens.

        Where AUTH_MODE is none or public, a key of API_KEYS allows what anonymous callers may not do, like /metrics.
        """
        access = self.settings.access
        if access.mode == "session":
            authenticator: Authenticator = hooks.wing("sessions.plugin:authenticator")(self.settings, self)
            return authenticator
        return ApiKeys(access.api_keys.get_secret_value()) if access.api_keys else None

    @cached_property
    def anonymous(self) -> Identity | None:
        """Return the identity of callers without a token; None if a token is required.

        The user of this machine may do everything; with AUTH_MODE=public, anonymous callers see public documents, and
        may neither read /metrics nor change the index.
        """
        access = self.settings.access
        if access.mode in {"session", "api_key"}:
            return None
        scopes = {Scope.ASK, Scope.FEEDBACK}
        if not access.is_public:
            if "ANONYMOUS_AUDIENCE" in unused_variables():  # It hid internal documents.
                msg = "ANONYMOUS_AUDIENCE is gone: set AUTH_MODE=public (public documents only), or remove it"
                raise ConfigurationError(msg)
            scopes |= {Scope.INTERNAL, Scope.METRICS, Scope.INGEST}
        return Identity(scopes=frozenset(scopes))

    @cached_property
    def rate_storage(self) -> "Storage":
        """Return where questions are counted: in this process, or in Redis for all processes."""
        from limits.aio.storage import MemoryStorage, RedisStorage

        if not self.settings.counts_in_redis:
            return MemoryStorage(wrap_exceptions=True)
        options: dict[str, Any] = {"connection_pool": self.redis}  # It has its own URL.
        return RedisStorage("async+redis://", wrap_exceptions=True, implementation="redispy", **options)

    @cached_property
    def redis(self) -> "ConnectionPool":
        """Return connections to Redis with a short timeout, because a request waits for them."""
        with hooks.from_extra("redis", "REDIS_URL"):
            from redis.asyncio import ConnectionPool
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff

        options: dict[str, Any] = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), REDIS_TIMEOUT_S)
        options["retry"] = Retry(NoBackoff(), 1)  # An idle connection may have been closed.
        try:
            return ConnectionPool.from_url(self.settings.redis.url.get_secret_value(), **options)
        except ValueError:
            raise ConfigurationError("REDIS_URL is not an address of Redis, like redis://127.0.0.1:6379/0") from None


@dataclass(frozen=True)
class Service:
    """Answers questions of callers.

    Attributes:
        answer_log: The log of answers; None if it is off, or this service only tests or measures.
    """

    answerer: Answerer
    access: Access
    tracing: Tracing
    conversations: ConversationStore
    answer_log: Any
    observers: list[Observer]
    _numbered: dict[str, Chain] = field(default_factory=dict, init=False)

    @property
    def index(self) -> Index:
        return self.answerer.index

    @property
    def settings(self) -> Settings:
        return self.index.settings

    @cached_property
    def uploads(self) -> Any:
        """Return what adds and removes documents over HTTP; None where that is left out of this installation."""
        return next((make(self.index) for make in hooks.wings("uploads.uploads:Uploads")), None)

    @cached_property
    def metrics(self) -> "Metrics":
        from app.observability.metrics import Metrics, counter, gauge

        def read() -> "Iterator[Metric]":
            outbox, uploads, models = self.index.outbox, self.uploads, self.answerer.models
            dropped = self.tracing.dropped()
            yield counter("waypoint_traces_dropped", "Traces that the backend did not accept", ("backend",), dropped)
            faults = "Steps beside an answer or an ingestion that failed"
            yield counter("waypoint_side_step_faults", faults, ("step",), counts)
            providers = {(model, provider.breaker.name): provider for model, provider in providers_of(models)}
            state = "Whether the circuit breaker of a provider is open: 0 closed, 1 open, 0.5 half open"
            is_open = {labels: BREAKER_STATES[provider.breaker.state] for labels, provider in providers.items()}
            yield gauge("waypoint_breaker_open", state, PROVIDER, is_open)
            waiting = {labels: provider.limiter.waiting for labels, provider in providers.items()}
            yield gauge("waypoint_llm_waiting", "Requests that wait because of LLM_RPM or LLM_TPM", PROVIDER, waiting)
            retries = {labels: provider.retries.count for labels, provider in providers.items()}
            yield counter("waypoint_llm_retries", "Retries of failed calls", PROVIDER, retries)
            for event in EVENTS:
                by_level = {level: self.index.caches.stats.of(level, event) for level in LEVELS}
                yield counter(f"waypoint_cache_{event}", f"Cache {event}", ("level",), by_level)
            if uploads is not None:
                files = {"added": uploads.added, "failed": uploads.failed}
                yield counter("waypoint_uploaded_files", "Uploaded files", ("result",), files)
            if outbox is not None:
                unsent = "Events that the broker has not confirmed yet"
                yield gauge("waypoint_events_waiting", unsent, (), {(): outbox.waiting})
                events = {"sent": outbox.sent, "dropped": outbox.dropped}
                yield counter("waypoint_events", "Events by result", ("result",), events)

        return Metrics(shared=self.settings.logs.metrics_folder, read=read)

    @cached_property
    def chain(self) -> Chain:
        return self.index.parts.chain or self._chain(self.settings.llm.model)

    def numbered_chain(self, model_id: str | None = None) -> Chain:
        """Return the chain of POST /chat: numbered citations, and a choice of allowed models."""
        name = model_id or self.settings.llm.model
        if name not in self._numbered:
            self._numbered[name] = self.index.parts.chain or self._chain(name, chat=True)
        return self._numbered[name]

    def _chain(self, model_id: str, *, chat: bool = False) -> Chain:
        """Return the sequence of stages with what stands around it, from the inside out.

        Caching answers equal questions once, tracing sends a trace of each call, observation logs, counts and
        publishes it, conversation reads the session's turns and adds this one, redaction removes personal data before
        the question is logged, traced or cached, and disclosure shows the public neither factors nor times.
        """
        settings, index, certification = self.settings, self.index, self.answerer.certification
        file = settings.retrieval.scope_file  # The index's own scope files are part of its version.
        chain = index.caches.answers(
            self.answerer.pipeline(model_id, chat=chat),
            index.stored.version,
            chat=chat,
            model_id=model_id,
            scope=read_text(file) if isinstance(file, Path) else file,
            certificate=certification.digest if certification else None,
        )
        if self.tracing.factories:
            chain = RunnableBinding(bound=chain, config_factories=self.tracing.factories)
        chain = ObservedRunnable(chain, self.observers)
        shortest = SHORTEST_OF_STRANGERS if settings.access.is_public else 1
        chain = WithConversations(chain, self.conversations, shortest_anonymous=shortest)
        if settings.safety.enabled:
            chain = CleanQuestions(chain, redact_of(settings))
        return Disclosure(chain)

    def checks(self) -> list[Check]:
        """Return the readiness checks of everything that the settings and the models built so far depend on."""
        index, answerer, settings = self.index, self.answerer, self.settings
        if answerer.remote is not None:
            checks = [Check.blocking("retrieval", answerer.remote.check)]
        else:
            checks = [index_check(index.parts.embeddings or index.embedder, index.current)]
        if settings.embedding.provider == "openai-compatible":
            checks.append(Check.blocking("embeddings", cast("HttpEmbeddings", index.embedder).check))
        usual = settings.llm.model
        for name, provider in providers_of({usual: answerer.model()} | answerer.models):
            checks.append(provider_check(provider, model=None if name == usual else name))
        return checks + backend_checks(settings, index.outbox)

    def warm_up(self) -> None:
        """Answer a question without the language model, untraced, so that everything is loaded for the first real one.

        Loaded objects stay until the process ends, so the garbage collector skips them: each full collection took a
        sixth of a second and delayed every running answer. A question that fails is only logged: the store may be up
        for the first real one.
        """
        self.numbered_chain()
        if self.answerer.remote is not None:
            return
        settings = self.settings.replace(retriever_type="hybrid", cache_enabled=False)
        caches = replace(self.index.caches, settings=settings)
        index = replace(self.index, settings=settings, caches=caches, parts=Parts())
        models = {settings.llm.model: offline_model(settings, index.embeddings)}
        try:
            with tracing_context(enabled=False):
                if self.answerer.scope is not None:
                    self.answerer.scope.invoke({"question": QUESTION})
                local = Answerer(index, models=models).pipeline(settings.llm.model)
                local.invoke({"question": QUESTION, "threshold": 0.0})  # Any index answers it that is not empty.
        except WaypointError as error:
            log.warning("warm_up_failed", stage=error.stage, error=type(error).__name__)
        gc.collect()
        gc.freeze()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Open what lives as long as the service, and close it afterwards; then no more questions can be asked."""
        index, answerer = self.index, self.answerer
        async with AsyncExitStack() as life:
            life.push_async_callback(asyncio.to_thread, self.tracing.close)
            life.push_async_callback(close, answerer.models)
            if self.answer_log is not None:
                life.push_async_callback(asyncio.to_thread, self.answer_log.close)
            if self.settings.uses_redis:
                life.push_async_callback(self.access.redis.disconnect)
            for service in (answerer.remote, answerer.moderation, self.access.authenticator):
                if service is not None:
                    life.push_async_callback(service.aclose)
            life.callback(index.library.close)
            life.push_async_callback(asyncio.to_thread, index.stored.vectors.close)
            index.stored.vectors.serves = answerer.remote is None
            if self.uploads is not None:
                life.push_async_callback(asyncio.to_thread, self.uploads.close)
                await asyncio.to_thread(self.uploads.resume)
            if index.outbox is not None:
                await life.enter_async_context(index.outbox.running())
            yield


def open_service(
    settings: Settings,
    *,
    clock: Clock | None = None,
    parts: Parts | None = None,
    serving: bool = True,
    logs_answers: bool = False,
) -> Service:
    """Return the service that the settings describe.

    Where it is `serving`, calls are counted and published as events, and answers are logged; `logs_answers` logs them
    where nothing is served, for `waypoint ask` and the like.
    """
    index = open_index(settings, clock=clock, parts=parts)
    tracing, answer_log = tracing_of(settings), None
    if (serving or logs_answers) and settings.database.logs_answers:
        logs = hooks.wings("knowledge.answer_log:KeptAnswers")
        answer_log = next((log(index, serving=serving) for log in logs), None)
    conversations = Conversations(ledger_of(settings), ttl_s=settings.database.session_ttl, capacity=MOST_CONVERSATIONS)
    observers: list[Observer] = [CallLog(questions=settings.logs.questions), *tracing.observers]
    service = Service(open_answerer(index), Access(settings), tracing, conversations, answer_log, observers)
    if serving:
        observers.append(service.metrics)
        if index.outbox is not None:
            model = "offline" if settings.llm.provider == "offline" else settings.llm.model
            observers.append(index.outbox.observer(model))
    if answer_log is not None:
        observers.append(answer_log)
    observers += (make(service) for make in hooks.each("observers"))
    return service


def is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Configured(Around):
    """The chain of the settings. It is pickled as them: None are those of the process that reads it."""

    def __init__(self, settings: Settings | None) -> None:
        service = _opened() if settings is None else open_service(settings, serving=False)
        super().__init__(service.chain)
        self._settings = settings

    def __reduce__(self) -> tuple[type["Configured"], tuple[Settings | None]]:
        return Configured, (self._settings,)


def open_chain(settings: Settings | None = None) -> Runnable[Question, Answer]:
    """Return the configured chain, as `waypoint ask` uses it; it can what a chain of `build_chain` can.

    Args:
        settings: default: those of the environment and `.env`; the chain is then shared by the process.

    Raises:
        SettingsError: a setting is invalid.
        WaypointError: the index or the model cannot be opened.
    """
    return CitedAnswer(bound=Configured(settings), custom_input_type=Question, custom_output_type=Answer)


def open_retriever(settings: Settings | None = None) -> ChunkRetriever:
    """Return the configured retriever; its documents have an id and, in their metadata, score, title, section, page.

    Raise SettingsError if a setting is invalid; WaypointError if the index cannot be opened.
    """
    service = _opened() if settings is None else open_service(settings, serving=False)
    return service.answerer.retriever


def process_query(
    question: str, *, history: Sequence[Any] = (), config: RunnableConfig | None = None, **fields: Any
) -> Answer:
    """Return the answer of `open_chain()`; `fields` are further ones of a Question, such as `top_k` or `filters`.

    Raise ConfigurationError if a question has no such field; WaypointError if it cannot be answered.
    """
    check_fields(fields, Question.__annotations__, "a question")
    asked: Any = {"question": question, "history": list(history)} | fields
    return open_chain().invoke(asked, config)


def retrieve(question: str, *, config: RunnableConfig | None = None, **fields: Any) -> list[Passage]:
    """Return the passages nearest to a question, best first, by the settings of `open_chain()`.

    `fields` are `top_k`, `threshold` and `filters`. Personal data is removed before the search, as for an answer. Raise
    ConfigurationError if a search has no such field; QuestionError if the question is empty, too long, or no text;
    RetrievalError if the documents cannot be searched.
    """
    check_fields(fields, ASKED, "a search")
    service = _opened()
    asked: Any = {"question": safe_text(service.settings, check_question(question))} | fields
    return retrieve_documents(service.answerer.retriever).invoke(asked, config)


@cache
def _opened() -> Service:
    return open_service(settings_to_ask(load_settings()), serving=False)
