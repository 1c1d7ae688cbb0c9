"""Build the moderation of questions."""

from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import prompts
from app.ports import Moderation, Trial
from app.settings import Settings
from app.wings.safety.moderators import OPENAI, OpenAIModeration, guard_moderator
from app.wiring.llm import close, providers
from app.wiring.observability import QUESTION
from chains.clock import Clock, SystemClock
from chains.generation.resilient import ResilientChatModel
from chains.ports import Moderator
from chains.resilience import RetryPolicy
from chains.safety import Moderate

GROQ_MODEL = "openai/gpt-oss-safeguard-20b"
OPENAI_MODEL = "omni-moderation-latest"
# Reasoning models write their thoughts before the verdict.
REPLY_TOKENS = 1000
# Models trained on a fixed policy, which accept no other.
LLAMA_GUARD = "llama-guard"
# Of a moderation, retries included.
TIMEOUT_S, RETRIES = 10, 3
# Categories that block no question by themselves.
IGNORED = ("specialized-advice", "privacy", "intellectual-property")

Made = tuple[Moderator, Callable[[], Awaitable[None]]]


def moderation_of(settings: Settings, clock: Clock) -> Moderation | None:
    """Return the moderator that MODERATION_PROVIDER names, or None."""
    chosen = settings.moderation
    if not settings.safety.enabled or chosen.provider == "off":
        return None
    made = _guard_model if chosen.provider == "groq" else _openai
    moderator, aclose = made(settings, clock)
    text = partial(prompts.load, folder=settings.prompt.folder)
    step = Moderate(
        moderator,
        {"moderation": text("blocked_moderation"), "self_harm": text("blocked_self_harm")},
        ignored=IGNORED,
        timeout_s=TIMEOUT_S,
        clock=clock,
    )
    return Moderation(moderator, step, aclose)


def _guard_model(settings: Settings, clock: Clock) -> Made:
    chosen = settings.moderation
    name = chosen.model or GROQ_MODEL
    asked: dict[str, Any] = {
        "llm_provider": "groq",
        "llm_model": name,
        "llm_api_key": chosen.api_key or settings.llm.api_key,
        "llm_base_url": _base_url(settings),
        "llm_temperature": 0,
        "llm_max_tokens": REPLY_TOKENS,
        "llm_timeout_s": TIMEOUT_S,
        "llm_options": {"reasoning_effort": "low"} if "gpt-oss" in name else None,
        "llm_fallback": False,
        "llm_rpm": None,
        "llm_tpm": None,
        "llm_max_retries": RETRIES,
    }
    model = ResilientChatModel(providers=providers(settings.replace(**asked), clock), max_tokens=REPLY_TOKENS)
    policy = None if LLAMA_GUARD in name.lower() else prompts.load("moderation", settings.prompt.folder)
    return guard_moderator(model, policy=policy), partial(close, {name: model})


def _base_url(settings: Settings) -> str | None:
    chosen = settings.moderation
    return chosen.base_url or (settings.llm.base_url if chosen.uses_llm_key(settings.llm) else None)


def _openai(settings: Settings, clock: Clock) -> Made:
    chosen = settings.moderation
    moderator = OpenAIModeration(
        base_url=_base_url(settings) or OPENAI,
        model=chosen.model or OPENAI_MODEL,
        api_key=chosen.api_key or settings.llm.api_key,
        timeout_s=TIMEOUT_S,
        policy=RetryPolicy(retries=RETRIES),
        clock=clock,
    )
    return moderator, moderator.aclose


def trials(settings: Settings) -> Iterator[Trial]:
    moderation, provider = moderation_of(settings, SystemClock()), settings.moderation.provider
    if moderation is None:
        yield Trial("moderation", None, "MODERATION_PROVIDER")
        return

    def judge() -> str:
        result = moderation.moderator.invoke(QUESTION)
        return f"{provider} {'flags' if result.flagged else 'allows'} {QUESTION!r}"

    remedy = "check MODERATION_API_KEY, MODERATION_BASE_URL and MODERATION_MODEL; questions are answered without it"
    yield Trial("moderation", judge, remedy, required=False)
