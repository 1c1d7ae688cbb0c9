"""Ask what the service depends on whether it works."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from anyio import to_thread  # Its threads are not those that questions wait for.
from langchain_core.embeddings import Embeddings

from app import hooks
from app.ports import Outbox
from app.settings import Settings
from chains.errors import LLMCircuitError, LLMRateLimitError, VectorStoreError
from chains.generation.provider import Provider

if TYPE_CHECKING:
    from app.adapters.embeddings.http_embeddings import HttpEmbeddings
    from app.ledger.passages import Passages

# How long readiness waits for a check.
ANSWER_WITHIN_S = 1.5


@dataclass(frozen=True, slots=True)
class Check:
    """One dependency: `ask` returns a detail or None if it works, and raises if not."""

    name: str
    ask: Callable[[], Awaitable[str | None]]
    required: bool = False


def index_check(embeddings: Embeddings, store: "Callable[[], Passages]") -> Check:
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

    return Check("vector_store", partial(to_thread.run_sync, search), required=True)


def service_check(name: str, check: Callable[[], None]) -> Check:
    """Probe a service without which nothing is found, by a check that blocks."""
    return Check(name, partial(to_thread.run_sync, check), required=True)


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
    by_service = settings.embedding.provider == "openai-compatible"
    embeddings = [service_check("embeddings", cast("HttpEmbeddings", embedder).check)] if by_service else []
    usual = settings.llm.model
    models = [provider_check(provider, model=None if name == usual else name) for name, provider in providers]
    return embeddings + models + backend_checks(settings, outbox)


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
TIMEOUT_S = 5


def answers(ping: Callable[[], Coroutine[Any, Any, None]]) -> str:
    """Return that a server answers, or raise what `ping` raises."""
    asyncio.run(ping())
    return "answers"
