"""Try every part that the settings name, for `waypoint doctor`."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from app.settings import Settings
from app.settings.presets import LOCAL_SERVERS
from app.wiring.build import Services
from app.wiring.llm import first_model, second_model
from chains.errors import WaypointError
from chains.logs import masked
from chains.ports import Moderator

if TYPE_CHECKING:
    from app.ports import Outbox

QUESTION = "Which documents are needed?"
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


@dataclass(frozen=True, slots=True)
class _Trial:
    part: str
    run: Callable[[], str | None]
    remedy: str
    required: bool = True


def summary(services: Services) -> dict[str, Any]:
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


def findings(services: Services) -> Iterator[Finding]:
    """Try the parts one by one."""
    settings = services.settings
    for trial in [*_retrieval(services), *_models(settings), *_moderation(services), *_backends(services)]:
        try:
            yield Finding(trial.part, "ok", trial.run() or "works", trial.required)
        except Exception as error:  # Any error: the other parts are still tried.
            detail = str(error) if isinstance(error, WaypointError) and str(error) else type(error).__name__
            yield Finding(trial.part, "failed", masked(detail), trial.required, trial.remedy)
    for part, name, used in (
        ("language model", "LLM_API_KEY", settings.provider != "offline"),
        ("moderation", "MODERATION_PROVIDER", services.moderation is not None),
        ("redis", "CACHE_BACKEND, RATE_LIMIT_BACKEND, SESSION_BACKEND or AUTH_MODE", settings.uses_redis),
        ("rabbitmq", "RABBITMQ_URL", services.outbox is not None),
        ("tracing", "LANGSMITH_TRACING or OTEL_EXPORTER_OTLP_ENDPOINT", bool(services.tracing.exports)),
    ):
        if not used:
            yield Finding(part, "off", f"not used; {name} turns it on", required=False)


def _retrieval(services: Services) -> Iterator[_Trial]:
    settings = services.settings

    def embed() -> str:
        return f"{settings.embedding.model}, {len(services.embeddings.embed_query(QUESTION))} dimensions"

    def search() -> str:
        found = services.store.nearest(services.embeddings.embed_query(QUESTION), 1, {})
        count = services.store.count()
        empty = "; fill it with `waypoint ingest PATH`, or `waypoint ask` for the sample corpus" if count == 0 else ""
        return f"{_place(services)}: {count} chunks, a search found {len(found)}{empty}"

    def ask() -> str:
        found = services.retriever.invoke(QUESTION, {"configurable": {"audience": "internal"}})
        return f"{_place(services)}: a search found {len(found)}"

    if settings.embedding.provider == "openai-compatible":
        yield _Trial("embedding service", embed, "check EMBEDDING_BASE_URL, EMBEDDING_API_KEY and EMBEDDING_MODEL")
    else:
        yield _Trial("embedding model", embed, "reinstall the package: its model files are missing or changed")
    if services.remote is not None:
        yield _Trial("retrieval service", ask, "check RETRIEVAL_URL and RETRIEVAL_API_KEY")
        return
    place = STORE_SETTINGS.get(settings.store.kind, "its settings")
    yield _Trial("vector store", search, f"check VECTOR_STORE_TYPE, {place}; `waypoint ingest --reset PATH`")


def _models(settings: Settings) -> Iterator[_Trial]:
    def ask(model: Any) -> str:
        reply = model.invoke("Answer with the word yes.")
        return f"{reply.response_metadata.get('model_name', settings.llm.model)} answered{_listed(settings, model)}"

    if settings.provider != "offline":
        server = f"start {settings.provider}, or check" if settings.provider in LOCAL_SERVERS else "check LLM_API_KEY,"
        remedy = f"{server} LLM_BASE_URL and LLM_MODEL; LLM_PROVIDER=offline needs no model"
        yield _Trial("language model", lambda: ask(first_model(settings)), remedy)
        if settings.llm.fallback and settings.llm.fallback_base_url:
            remedy = "check LLM_FALLBACK_BASE_URL, LLM_FALLBACK_MODEL and LLM_FALLBACK_API_KEY"
            yield _Trial("second language model", lambda: ask(second_model(settings)), remedy, required=False)


def _listed(settings: Settings, model: Any) -> str:
    """Return the models that a local server lists."""
    if settings.provider not in LOCAL_SERVERS:
        return ""
    from app.adapters.llm.local import listed_models

    return f"; the server lists {', '.join(listed_models(model))}"


def _moderation(services: Services) -> Iterator[_Trial]:
    def judge(moderator: Moderator) -> str:
        result = moderator.invoke(QUESTION)
        provider = services.settings.of_variable("moderation_provider")
        return f"{provider} {'flags' if result.flagged else 'allows'} {QUESTION!r}"

    if services.moderation is not None:
        remedy = "check MODERATION_API_KEY, MODERATION_BASE_URL and MODERATION_MODEL; questions are answered without it"
        yield _Trial("moderation", partial(judge, services.moderation.moderator), remedy, required=False)


def _backends(services: Services) -> Iterator[_Trial]:
    from app.adapters.health_probes import ping_redis

    settings = services.settings
    if settings.uses_redis:
        remedy = "start Redis, or check REDIS_URL"
        ping = partial(ping_redis, settings.redis.url.get_secret_value(), timeout_s=TIMEOUT_S)
        yield _Trial("redis", partial(_answers, ping), remedy, settings.has_redis_sessions)
    if settings.session.backend == "postgres":
        yield _Trial("conversations", services.conversations.check, "check DATABASE_URL", required=False)  # type: ignore[attr-defined] # Only this kind has it.
    if services.outbox is not None:
        yield _events(settings, services.outbox)
        remedy = "start RabbitMQ, check RABBITMQ_URL, or set EVENTS_ENABLED=false"
        ping = partial(services.outbox.ping, timeout_s=TIMEOUT_S)
        yield _Trial("rabbitmq", partial(_answers, ping), remedy, required=False)
    for name, probe in services.tracing.probes.items():
        remedy = "check the LANGSMITH_ variables" if name == "langsmith" else "check OTEL_EXPORTER_OTLP_ENDPOINT"
        yield _Trial(name, probe, remedy, required=False)


def _events(settings: Settings, outbox: "Outbox") -> _Trial:
    if settings.of_variable("events_backend") == "postgres":
        remedy = "check DATABASE_URL, and run `waypoint migrate`; events wait in memory meanwhile"
        return _Trial("events", outbox.check, remedy, required=False)
    return _Trial("events", outbox.check, "check EVENTS_PATH and the disk")


def _answers(ping: Callable[[], Coroutine[Any, Any, None]]) -> str:
    asyncio.run(ping())
    return "answers"


def _base_url(settings: Settings) -> str | None:
    if settings.provider == "offline":
        return None
    usual = "https://openrouter.ai/api/v1" if settings.provider == "openrouter" else "https://api.groq.com"
    return settings.llm.base_url or usual


def _place(services: Services) -> str:
    remote = services.settings.retrieval.url
    return services.stored.place if remote is None else str(masked(remote))
