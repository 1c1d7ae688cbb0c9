"""Ask dependencies whether they work: quickly for readiness, and thoroughly for `waypoint doctor`."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

from anyio import to_thread  # Its threads are not those that questions wait for.
from langchain_core.embeddings import Embeddings

from app import hooks
from app.ports import Outbox, Trial
from app.settings import Settings
from app.settings.values import LOCAL_SERVERS
from app.wiring.answering import Answering
from app.wiring.certification import COMMAND, REMEDY
from app.wiring.llm import first_model, second_model
from app.wiring.sample import ingest_command
from chains.errors import ConfigurationError, LLMCircuitError, LLMRateLimitError, VectorStoreError, WaypointError
from chains.generation.provider import Provider
from chains.logs import masked

if TYPE_CHECKING:
    from app.adapters.embeddings.http_embeddings import HttpEmbeddings
    from app.adapters.retrieval import RemoteRetriever
    from app.ledger.passages import Passages

# How long readiness waits for a check.
ANSWER_WITHIN_S = 1.5


@dataclass(frozen=True, slots=True)
class Check:
    """One dependency and how to ask it.

    Attributes:
        name: The dependency.
        ask: Returns a detail or None if it works, and raises if not.
        required: Whether the service cannot answer without it.
    """

    name: str
    ask: Callable[[], Awaitable[str | None]]
    required: bool = False


def index_check(embeddings: Embeddings, store: "Callable[[], Passages]") -> Check:
    """Search the index: it is ready if a question can be embedded and finds a chunk, unless the index is empty.

    The detail says what searches the vectors.

    The number of chunks is not returned, because readiness is public.
    """

    def search() -> str:
        index = store()
        chunks = index.count()
        if chunks and not index.get_by_ids(list(index.nearest(embeddings.embed_query("ready"), 1, {}))):
            msg = f"a search finds none of {chunks} chunks; rebuild the index with `waypoint ingest --reset PATH`"
            raise VectorStoreError(msg)
        return index.searched_by().partition(":")[0]

    return Check("vector_store", partial(to_thread.run_sync, search), required=True)


def retrieval_check(retriever: "RemoteRetriever") -> Check:
    """Probe the retrieval service."""
    return Check("retrieval", partial(to_thread.run_sync, retriever.service.check), required=True)


def embeddings_check(embeddings: Embeddings) -> Check:
    """Probe the embedding service."""
    check = cast("HttpEmbeddings", embeddings).check
    return Check("embeddings", partial(to_thread.run_sync, check), required=True)


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


def service_checks(
    settings: Settings, embedder: Embeddings, providers: Sequence[tuple[str, Provider]], outbox: Outbox | None
) -> list[Check]:
    """Check the embedding service, the language models, and the stores of sessions, caches and events."""
    checks = [embeddings_check(embedder)] if settings.embedding.provider == "openai-compatible" else []
    for name, provider in providers:
        checks.append(provider_check(provider, model=None if name == settings.llm.model else name))
    return checks + backend_checks(settings, outbox)


async def ping_redis(url: str, *, timeout_s: float) -> None:
    """Send a PING over a connection of its own.

    Raises:
        ConfigurationError: the package redis is not installed.
        redis.exceptions.RedisError: nothing answers there, or it refuses.
    """
    with hooks.from_extra("redis", "REDIS_URL"):
        from redis.asyncio import Redis

    async with Redis.from_url(url, socket_connect_timeout=timeout_s, socket_timeout=timeout_s) as client:
        await client.ping()


def backend_checks(settings: Settings, outbox: Outbox | None) -> list[Check]:
    """Check Redis and RabbitMQ if they are used; only sessions require Redis, and events wait for RabbitMQ."""
    checks = []
    if settings.uses_redis:
        ask = partial(ping_redis, settings.redis.url.get_secret_value(), timeout_s=ANSWER_WITHIN_S)
        checks.append(Check("redis", ask, required=settings.has_redis_sessions))
    if outbox is not None:
        checks.append(Check("rabbitmq", partial(outbox.ping, timeout_s=ANSWER_WITHIN_S)))
    return checks


QUESTION = "Which documents are needed?"
TRIALS_OF_WINGS = ("events.plugin:trials", "office.doctor:trials", "safety.moderator:trials")
TIMEOUT_S = 5
STORE_SETTINGS = {"memory": "MEMORY_STORE_PATH", "chroma": "CHROMA_PATH or CHROMA_HOST", "postgres": "DATABASE_URL"}

State = Literal["ok", "failed", "off"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of trying one part.

    Attributes:
        required: Whether the service cannot work without it.
        remedy: What to do about a failure.
    """

    part: str
    state: State
    detail: str
    required: bool = True
    remedy: str | None = None


def summary(services: Answering) -> dict[str, Any]:
    """Return a summary of the service: provider, model, address, store, index size, anonymous access."""
    settings, anonymous = services.settings, services.access.anonymous
    strangers = "refused" if anonymous is None else f"{anonymous.audience} documents"
    return {
        "provider": settings.provider,
        "model": None if settings.provider == "offline" else settings.llm.model,
        "base_url": masked(_base_url(settings)),
        "store": _place(services),
        "chunks": services.store.count() if services.remote is None else None,
        "without_token": strangers,
    }


def findings(services: Answering) -> Iterator[Finding]:
    """Try the parts one by one; those of a wing are its own to name."""
    left_out: list[Finding] = []
    trials = [
        *_retrieval(services),
        *_models(services.settings),
        *_certificate(services),
        *_backends(services),
        _beside(services),
    ]
    for place in TRIALS_OF_WINGS:
        try:
            trials += hooks.wing(place)(services)
        except ConfigurationError as error:
            left_out.append(Finding(place.partition(".")[0], "off", str(error), required=False))
    yield from (_found(trial) for trial in sorted(trials, key=lambda trial: trial.run is None))
    yield from left_out


def _found(trial: Trial) -> Finding:
    if trial.run is None:
        return Finding(trial.part, "off", f"not used; {trial.remedy} turns it on", required=False)
    try:
        return Finding(trial.part, "ok", trial.run() or "works", trial.required)
    except Exception as error:  # Any error: the other parts are still tried.
        detail = str(error) if isinstance(error, WaypointError) and str(error) else type(error).__name__
        return Finding(trial.part, "failed", masked(detail), trial.required, trial.remedy)


def _retrieval(services: Answering) -> Iterator[Trial]:
    settings = services.settings

    def embed() -> str:
        return f"{settings.embedding.model}, {len(services.embeddings.embed_query(QUESTION))} dimensions"

    def search() -> str:
        found = services.store.nearest(services.embeddings.embed_query(QUESTION), 1, {})
        count = services.store.count()
        empty = f"; fill it with `{ingest_command(settings)}`" if count == 0 else ""
        by = services.store.searched_by()
        return f"{_place(services)}: {count} chunks, a search by {by} found {len(found)}{empty}"

    def ask() -> str:
        found = services.retriever.invoke(QUESTION, {"configurable": {"audience": "internal"}})
        return f"{_place(services)}: a search found {len(found)}"

    if settings.embedding.provider == "openai-compatible":
        yield Trial("embedding service", embed, "check EMBEDDING_BASE_URL, EMBEDDING_API_KEY and EMBEDDING_MODEL")
    else:
        yield Trial("embedding model", embed, "reinstall the package: its model files are missing or changed")
    if services.remote is not None:
        yield Trial("retrieval service", ask, "check RETRIEVAL_URL and RETRIEVAL_API_KEY")
        return
    place = STORE_SETTINGS.get(settings.store.kind, "its settings")
    yield Trial("vector store", search, f"check VECTOR_STORE_TYPE, {place}; `waypoint ingest --reset PATH`")


def _models(settings: Settings) -> Iterator[Trial]:
    def ask(model: Any) -> str:
        reply = model.invoke("Answer with the word yes.")
        return f"{reply.response_metadata.get('model_name', settings.llm.model)} answered{_listed(settings, model)}"

    if settings.provider == "offline":
        yield Trial("language model", None, "LLM_API_KEY")
    else:
        server = f"start {settings.provider}, or check" if settings.provider in LOCAL_SERVERS else "check LLM_API_KEY,"
        remedy = f"{server} LLM_BASE_URL and LLM_MODEL; LLM_PROVIDER=offline needs no model"
        yield Trial("language model", lambda: ask(first_model(settings)), remedy)
        if settings.llm.fallback and settings.llm.fallback_base_url:
            remedy = "check LLM_FALLBACK_BASE_URL, LLM_FALLBACK_MODEL and LLM_FALLBACK_API_KEY"
            yield Trial("second language model", lambda: ask(second_model(settings)), remedy, required=False)


def _listed(settings: Settings, model: Any) -> str:
    """Return the models that a local server lists."""
    if settings.provider not in LOCAL_SERVERS:
        return ""
    from app.adapters.llm.openai_compatible import listed_models

    return f"; the server lists {', '.join(listed_models(model))}"


def _certificate(services: Answering) -> Iterator[Trial]:
    certification = services.certification
    status = certification.status if certification else None
    with suppress(WaypointError):  # The trial tells of it.
        status = status if certification and certification.certificate else None
    yield Trial("high confidence", status, REMEDY if status else COMMAND, required=False)


def _beside(services: Answering) -> Trial:
    remedy = "report it with its log line `side_step_failed`; a fault is told for seven days"
    return Trial("side steps", services.faults.status, remedy, required=False)


def _backends(services: Answering) -> Iterator[Trial]:
    settings = services.settings
    if settings.uses_redis:
        ping = partial(ping_redis, settings.redis.url.get_secret_value(), timeout_s=TIMEOUT_S)
        yield Trial("redis", partial(answers, ping), "start Redis, or check REDIS_URL", settings.has_redis_sessions)
    else:
        yield Trial("redis", None, "RATE_LIMIT_BACKEND or AUTH_MODE")
    for name, probe in services.tracing.probes.items():
        remedy = "check the LANGSMITH_ variables" if name == "langsmith" else "check OTEL_EXPORTER_OTLP_ENDPOINT"
        yield Trial(name, probe, remedy, required=False)
    if not services.tracing.exports:
        yield Trial("tracing", None, "LANGSMITH_TRACING or OTEL_EXPORTER_OTLP_ENDPOINT")


def answers(ping: Callable[[], Coroutine[Any, Any, None]]) -> str:
    """Return that a server answers, or raise what `ping` raises."""
    asyncio.run(ping())
    return "answers"


def _base_url(settings: Settings) -> str | None:
    if settings.provider == "offline":
        return None
    usual = "https://openrouter.ai/api/v1" if settings.provider == "openrouter" else "https://api.groq.com"
    return settings.llm.base_url or usual


def _place(services: Answering) -> str:
    remote = services.settings.retrieval.url
    return services.stored.place if remote is None else str(masked(remote))
