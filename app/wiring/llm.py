"""Build the chat model: the providers in turn, each behind its breaker and limiter, then the offline answerer."""

import socket
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import Runnable

from app import hooks
from app.settings import Settings
from app.settings.values import LISTED_MODEL, LOCAL_SERVERS
from app.wiring.models import word_similarity
from chains.clock import Clock
from chains.generation.rate_limiter import RateLimiter
from chains.generation.resilient import Provider, ResilientChatModel
from chains.ports import TokenCounter
from chains.resilience import CircuitBreaker, RetryPolicy

OFFLINE = "offline"
# How long a question waits for LLM_RPM and LLM_TPM.
QUEUE_S = 20
# Consecutive failures that open the circuit breaker, and the seconds it stays open.
BREAKER_FAILURES, BREAKER_RESET_S = 5, 60
# The tokens of a standalone question; a longer reply is not one.
CONDENSED_TOKENS = 100
PROBE_TIMEOUT_S = 0.3


def chat_model(settings: Settings, embeddings: Embeddings, *, clock: Clock, tokens: TokenCounter) -> BaseChatModel:
    """Return the chat model; without a provider it is the offline answerer alone."""
    if settings.llm.provider == OFFLINE:
        return offline_model(settings, embeddings)
    return ResilientChatModel(
        providers=providers(settings, clock),
        last_resort=offline_model(settings, embeddings) if settings.llm.fallback else None,
        max_tokens=settings.llm.max_tokens,
        tokens=tokens,
    )


def offline_model(settings: Settings, embeddings: Embeddings) -> BaseChatModel:
    model: BaseChatModel = hooks.wing("offline:OfflineChatModel")(
        embeddings=embeddings, similarity=word_similarity(), prompts_folder=settings.prompt.folder
    )
    return model


def condensing_model(
    model: BaseChatModel, clock: Clock, *, timeout_s: float, max_tokens: int = CONDENSED_TOKENS
) -> Runnable[Any, BaseMessage] | None:
    """Return the first provider's model for rewriting questions and answers; None if no provider is set.

    It shares the provider's limits, does not retry, and has its own breaker: its timeouts are short and say nothing
    about answers.
    """
    if not isinstance(model, ResilientChatModel):
        return None
    breaker, once = _breaker(clock, "query reformulation"), RetryPolicy(retries=0)
    provider = replace(model.providers[0], breaker=breaker, policy=once, timeout_s=timeout_s)
    rewriter = ResilientChatModel(providers=(provider,), max_tokens=max_tokens, tokens=model.tokens)
    return rewriter.bind(temperature=0, max_tokens=max_tokens)


def providers(settings: Settings, clock: Clock) -> tuple[Provider, ...]:
    limits = {"requests": settings.llm.rpm, "tokens": settings.llm.tpm}
    models = [("language model", first_model(settings), limits)]
    if isinstance(settings.llm.fallback, str):
        models.append(("second language model", second_model(settings), {}))
    return tuple(
        Provider(
            model=model,
            breaker=_breaker(clock, name),
            limiter=RateLimiter(clock=clock, max_wait_s=QUEUE_S, **own),
            clock=clock,
            policy=RetryPolicy(retries=settings.llm.max_retries),
            timeout_s=settings.llm.timeout_s,
        )
        for name, model, own in models
    )


def providers_of(models: Mapping[str, BaseChatModel]) -> list[tuple[str, Provider]]:
    made = list(models.items())  # Another thread may add one.
    return [(name, one) for name, model in made if isinstance(model, ResilientChatModel) for one in model.providers]


async def close(models: Mapping[str, BaseChatModel]) -> None:
    from app.adapters.llm.validated_model import ValidatedModel

    for _, provider in providers_of(models):
        if isinstance(provider.model, ValidatedModel):
            await provider.model.aclose()


def first_model(settings: Settings) -> BaseChatModel:
    model: BaseChatModel = hooks.load("models", settings.llm.provider)(settings)
    return model


def groq(settings: Settings) -> BaseChatModel:
    from app.adapters.llm.groq_compat import groq_model

    return groq_model(**_options(settings))


def openrouter(settings: Settings) -> BaseChatModel:
    with hooks.from_extra("openai", "LLM_PROVIDER=openrouter"):
        from app.adapters.llm.openai_compatible import openrouter_model
    return openrouter_model(**_options(settings) | {"api_key": settings.llm.openrouter_api_key or settings.llm.api_key})


def openai_compatible(settings: Settings) -> BaseChatModel:
    with hooks.from_extra("openai", "a provider that speaks OpenAI's protocol"):
        from app.adapters.llm.openai_compatible import openai_compatible_model
    return openai_compatible_model(**_options(settings))


def local_server(settings: Settings) -> BaseChatModel:
    """Return the model of a server on this machine; by default the first that it lists."""
    with hooks.from_extra("openai", f"LLM_PROVIDER={settings.llm.provider}"):
        from app.adapters.llm.openai_compatible import local_model
    name = None if settings.llm.model == LISTED_MODEL else settings.llm.model
    return local_model(**_options(settings) | {"model": name})


def _options(settings: Settings) -> dict[str, Any]:
    names = ("base_url", "api_key", "model", "temperature", "max_tokens", "timeout_s")
    return {name: getattr(settings.llm, name) for name in names} | (settings.llm.options or {})


def unused_local_server(settings: Settings) -> str | None:
    """Return the local provider whose server answers on its default port, if none was chosen; else None."""
    if settings.llm.chosen is not None or settings.llm.provider != "offline":
        return None
    return next((name for name, url in LOCAL_SERVERS.items() if lists_models(url)), None)


def lists_models(url: str) -> bool:
    """Return whether a server at the address, up to and with `/v1`, lists models; where none is, this takes no time."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname, parts.port), PROBE_TIMEOUT_S).close()
    except OSError:
        return False
    import httpx

    try:
        reply = httpx.get(f"{url}/models", timeout=PROBE_TIMEOUT_S, trust_env=False)
        return reply.status_code == httpx.codes.OK and isinstance(reply.json()["data"], list)
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return False


def second_model(settings: Settings) -> BaseChatModel:
    address, _, model = str(settings.llm.fallback).partition(" ")
    second = {"llm_provider": "openai-compatible", "llm_base_url": address, "llm_model": model or settings.llm.model}
    return first_model(settings.replace(**second, llm_api_key=settings.llm.fallback_api_key))


def _breaker(clock: Clock, name: str) -> CircuitBreaker:
    return CircuitBreaker(clock=clock, failures=BREAKER_FAILURES, reset_s=BREAKER_RESET_S, name=name)
