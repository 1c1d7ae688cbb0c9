"""Readiness checks: each asks one dependency whether it works now."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from langchain_core.embeddings import Embeddings

from chains.errors import LLMCircuitError
from chains.resilience.breaker import CircuitBreaker

# How long a check waits; readiness itself waits no longer for any of them.
ANSWER_WITHIN_S = 1.5


@dataclass(frozen=True, slots=True)
class Check:
    """One dependency and how to ask it.

    Attributes:
        name: The dependency.
        ask: Returns a detail or None if it works, and raises if not.
        required: Whether the service can answer nothing without it.
    """

    name: str
    ask: Callable[[], Awaitable[str | None]]
    required: bool = False


def store_check(count: Callable[[], int]) -> Check:
    """Ask the vector store for the number of its chunks."""

    async def ask() -> str:
        return f"{await asyncio.to_thread(count)} chunks"

    return Check("vector_store", ask, required=True)


def embeddings_check(embeddings: Embeddings) -> Check:
    """Ask the service that embeds questions: without it nothing is found."""

    async def ask() -> None:
        from app.adapters.embeddings.http_embeddings import HttpEmbeddings

        if isinstance(embeddings, HttpEmbeddings):
            await asyncio.to_thread(embeddings.check)

    return Check("embeddings", ask, required=True)


def breaker_check(breaker: CircuitBreaker, *, model: str | None = None) -> Check:
    """Ask the breaker, not the provider: a probe costs no tokens. While it is open, others answer in its place.

    `model` is part of the check's name where it is not the default model that stands behind the breaker.
    """
    name = breaker.name.replace(" ", "_")

    async def ask() -> str:
        if breaker.state == "open":
            raise LLMCircuitError
        return breaker.state

    return Check(name if model is None else f"{name}:{model}", ask)


def redis_check(url: str, *, required: bool) -> Check:
    """Ask Redis; `required` where sessions live in it."""

    async def ask() -> None:
        from app.adapters.health_probes import ping_redis

        await ping_redis(url, timeout_s=ANSWER_WITHIN_S)

    return Check("redis", ask, required=required)


def broker_check(url: str) -> Check:
    """Ask RabbitMQ; while it is away events wait, and answers do not."""

    async def ask() -> None:
        from app.adapters.health_probes import ping_rabbitmq

        await ping_rabbitmq(url, timeout_s=ANSWER_WITHIN_S)

    return Check("rabbitmq", ask)
