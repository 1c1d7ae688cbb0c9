"""Settings -> the chat model: the providers in turn, each behind its breaker and budget, then the offline answerer."""

from collections.abc import Mapping

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel

from app.settings import Settings
from chains.clock import Clock
from chains.generation.breaker import Breaker
from chains.generation.budget import Budget
from chains.generation.provider import Provider
from chains.generation.resilient import ResilientChatModel
from chains.generation.retry import RetryPolicy
from chains.ports import TokenCounter


def chat_model(settings: Settings, embeddings: Embeddings, *, clock: Clock, tokens: TokenCounter) -> BaseChatModel:
    """Return what answers: the offline answerer alone where no provider is set."""
    offline = offline_model(embeddings)
    if settings.provider == "offline":
        return offline
    return ResilientChatModel(
        providers=providers(settings, clock),
        last_resort=offline if settings.llm_fallback else None,
        max_tokens=settings.llm_max_tokens,
        tokens=tokens,
    )


def offline_model(embeddings: Embeddings) -> BaseChatModel:
    """Return the answerer that needs no network."""
    from app.adapters.llm.offline import OfflineChatModel

    return OfflineChatModel(embeddings=embeddings)


def providers(settings: Settings, clock: Clock) -> tuple[Provider, ...]:
    """Return the provider that LLM_PROVIDER names, and the one to fall back on where there is one."""
    budget = Budget(
        clock=clock,
        requests=settings.llm_rpm,
        tokens=settings.llm_tpm,
        patience_s=settings.llm_queue_timeout_s,
    )
    first = _provider(settings, clock, first_model(settings), budget, "language model")
    second = second_model(settings) if settings.llm_fallback else None
    if second is None:
        return (first,)
    other = Budget(clock=clock, patience_s=settings.llm_queue_timeout_s)
    return first, _provider(settings, clock, second, other, "second language model")


def providers_of(models: Mapping[str, BaseChatModel]) -> list[tuple[str, Provider]]:
    """Return the providers of chat models, where they have any, each after the name of its model."""
    made = list(models.items())  # Another thread may be making one more.
    return [(name, one) for name, model in made if isinstance(model, ResilientChatModel) for one in model.providers]


async def close(models: Mapping[str, BaseChatModel]) -> None:
    """Close the connections to all providers of chat models, which cannot be asked any more."""
    from app.adapters.llm.validated_model import Checked

    for _, provider in providers_of(models):
        if isinstance(provider.model, Checked):
            await provider.model.aclose()


def first_model(settings: Settings) -> BaseChatModel:
    """Return the model of LLM_PROVIDER."""
    if settings.provider == "openai-compatible":
        from app.adapters.llm.openai_compatible import openai_compatible_model

        return openai_compatible_model(
            base_url=settings.llm_base_url or "",
            model=settings.llm_model,
            api_key=settings.llm_api_key,
            temperature=settings.llm_temperature,
            max_tokens=settings.llm_max_tokens,
            timeout_s=settings.llm_timeout_s,
        )
    from app.adapters.llm.groq import groq_model

    return groq_model(
        api_key=settings.required_key,
        model=settings.llm_model,
        base_url=settings.llm_base_url,
        temperature=settings.llm_temperature,
        max_tokens=settings.llm_max_tokens,
        timeout_s=settings.llm_timeout_s,
    )


def second_model(settings: Settings) -> BaseChatModel | None:
    """Return the model of LLM_FALLBACK_BASE_URL; None where it is not set."""
    if settings.llm_fallback_base_url is None:
        return None
    from app.adapters.llm.openai_compatible import openai_compatible_model

    return openai_compatible_model(
        base_url=settings.llm_fallback_base_url,
        model=settings.llm_fallback_model or settings.llm_model,
        api_key=settings.llm_fallback_api_key,
        temperature=settings.llm_temperature,
        max_tokens=settings.llm_max_tokens,
        timeout_s=settings.llm_timeout_s,
    )


def _provider(settings: Settings, clock: Clock, model: BaseChatModel, budget: Budget, name: str) -> Provider:
    breaker = Breaker(
        clock=clock, failures=settings.llm_breaker_failures, reset_s=settings.llm_breaker_reset_s, name=name
    )
    return Provider(
        model=model,
        breaker=breaker,
        budget=budget,
        clock=clock,
        policy=RetryPolicy(retries=settings.llm_max_retries),
        timeout_s=settings.llm_timeout_s,
    )
