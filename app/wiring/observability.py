"""What operators see of the service: tracing, scores, and whether what it depends on works."""

import asyncio
import atexit
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from anyio import to_thread  # Its threads are not those that questions wait for.
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import RunnableConfig

from app import hooks
from app.ledger.passages import Passages
from app.observability.tracing import SHUTDOWN_TIMEOUT_S, Export, close
from app.settings import Settings
from chains.around import Observer
from chains.errors import LLMCircuitError, LLMRateLimitError, VectorStoreError
from chains.generation.resilient import Provider
from chains.logs import get_logger

SPANS_WAITING, SPANS_A_BATCH = 4096, 512
SCORES_WAITING = 1000
ANSWER_WITHIN_S = 1.5  # How long readiness waits for a check.
QUESTION, TIMEOUT_S = "Which documents are needed?", 5  # What doctor and warm-up ask; how long the doctor waits.

log = get_logger(__name__)


@dataclass
class Tracing:
    """Tracers and observers for the chain, and the exports that send their traces and the users' scores."""

    exports: dict[str, Export[Any]] = field(default_factory=dict)
    factories: list[Callable[[RunnableConfig], RunnableConfig]] = field(default_factory=list)
    observers: list[Observer] = field(default_factory=list)
    connections: list[Callable[[], None]] = field(default_factory=list)
    probes: dict[str, Callable[[], None]] = field(default_factory=dict)
    scores: Export[dict[str, Any]] | None = None

    def dropped(self) -> dict[str, float]:
        """Return the number of lost traces (for OpenTelemetry: spans) or scores, by backend."""
        return {name: export.dropped for name, export in self.exports.items()}

    def close(self, *, within_s: float = SHUTDOWN_TIMEOUT_S) -> None:
        atexit.unregister(self.close)
        close(self.exports.values(), within_s=within_s)
        while self.connections:
            self.connections.pop()()


def tracing_of(settings: Settings) -> Tracing:
    """Return the tracing that the settings ask for; it is closed when the process ends, if not before."""
    tracing, langsmith = Tracing(), settings.langsmith
    if langsmith.tracing:
        from app.adapters.langsmith import LangSmith

        options = {name: getattr(langsmith, name) for name in ("api_key", "project", "hides")}
        backend = LangSmith(api_url=langsmith.endpoint, **options)
        export = Export("langsmith", backend.send)
        tracing.scores = Export("langsmith_scores", backend.send_scores, waiting=SCORES_WAITING, batch=1)
        tracing.exports |= {"langsmith": export, "langsmith_scores": tracing.scores}
        tracing.factories.append(lambda config: backend.callbacks(config, export.put))
        tracing.probes["langsmith"] = backend.probe
        tracing.connections.append(backend.close)
    if settings.logs.otlp_endpoint:
        from app.adapters.opentelemetry import EXPORT_TIMEOUT_S, CallSpans, Collector

        address = f"{settings.logs.otlp_endpoint.rstrip('/')}/v1/traces"
        collector = Collector(address, timeout=EXPORT_TIMEOUT_S)
        spans = Export("opentelemetry", collector.send, waiting=SPANS_WAITING, batch=SPANS_A_BATCH)
        tracing.exports["opentelemetry"] = spans
        tracing.observers.append(CallSpans(spans.put))
        tracing.probes["opentelemetry"] = lambda: collector.send([])
        tracing.connections.append(collector.shutdown)
    if tracing.exports:
        atexit.register(tracing.close)
    return tracing


def check_outbox(outbox: Any) -> None:
    """Check the store of waiting events; an unreachable database is only a warning, because it may come back.

    Raise ConfigurationError if the tables do not fit this program.
    """
    try:
        outbox.check()
    except VectorStoreError as error:
        log.warning("events_wait_in_memory", error=str(error))


@dataclass(frozen=True, slots=True)
class Check:
    """One dependency: `ask` returns a detail or None if it works, and raises if not."""

    name: str
    ask: Callable[[], Awaitable[str | None]]
    required: bool = False

    @classmethod
    def blocking(cls, name: str, ask: Callable[[], str | None]) -> "Check":
        """Ask what questions cannot do without, in a thread."""
        return cls(name, partial(to_thread.run_sync, ask), required=True)


def index_check(embeddings: Embeddings, store: Callable[[], Passages]) -> Check:
    """Search the index: it is ready if a question can be embedded and finds a chunk, unless the index is empty.

    The detail says what searches the vectors, and not how many there are, because readiness is public.
    """

    def search() -> str:
        index = store()
        chunks = index.count()
        if chunks and not index.get_by_ids(list(index.nearest(embeddings.embed_query("ready"), 1, {}))):
            msg = f"a search finds none of {chunks} chunks; rebuild the index with `waypoint ingest --reset PATH`"
            raise VectorStoreError(msg)
        return index.searched_by().partition(":")[0]

    return Check.blocking("vector_store", search)


def provider_check(provider: Provider, *, model: str | None = None) -> Check:
    """Read the state of breaker and limiter, so that a probe costs no tokens; fallbacks answer meanwhile.

    `model` is part of the check's name unless it is the default model.
    """
    name = provider.breaker.name.replace(" ", "_")

    async def ask() -> str:
        if provider.breaker.state == "open":
            raise LLMCircuitError
        if provider.limiter.paused_s:
            raise LLMRateLimitError(retry_after_s=provider.limiter.paused_s)
        return provider.breaker.state

    return Check(name if model is None else f"{name}:{model}", ask)


def backend_checks(settings: Settings, outbox: Any) -> list[Check]:
    """Check Redis and RabbitMQ if they are used; only sessions require Redis, and events wait for RabbitMQ."""
    checks = []
    if settings.uses_redis:
        ask = partial(ping_redis, settings.redis.url.get_secret_value(), timeout_s=ANSWER_WITHIN_S)
        checks.append(Check("redis", ask, required=settings.has_redis_sessions))
    if outbox is not None:
        checks.append(Check("rabbitmq", partial(outbox.ping, timeout_s=ANSWER_WITHIN_S)))
    return checks


async def ping_redis(url: str, *, timeout_s: float) -> None:
    """Send a PING over a connection of its own.

    Raise ConfigurationError if the package redis is not installed; redis.exceptions.RedisError if nothing answers
    there, or it refuses.
    """
    with hooks.from_extra("redis", "REDIS_URL"):
        from redis.asyncio import Redis

    async with Redis.from_url(url, socket_connect_timeout=timeout_s, socket_timeout=timeout_s) as client:
        await client.ping()


def answers(ping: Callable[[], Coroutine[Any, Any, None]]) -> str:
    asyncio.run(ping())
    return "answers"
