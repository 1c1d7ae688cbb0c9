"""Build the safety checks of questions, passages and answers."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import prompts
from app import hooks
from app.settings import Settings
from chains.safety import CheckQuestion, Moderate, Reason, RiskThresholds, Safety, SystemPrompt, clean
from chains.safety.cleaning import Redact
from chains.safety.screening import suspicious_chunks

# The tokens that document fences and the guard of a suspicious question add to a prompt.
FENCE_TOKENS = 160
THRESHOLDS = RiskThresholds(guard=0.5, block=0.9)
NEVER_BLOCKED = RiskThresholds(guard=0.5, block=2)


def safe_text(settings: Settings, text: str) -> str:
    """Return a text without personal data that must not reach logs, traces or other services."""
    return clean(text, redact_of(settings)).text if settings.safety.enabled else text


def redact_of(settings: Settings) -> Redact | None:
    """Return what takes personal data out of a text; None where SAFETY_PII is off."""
    return None if settings.safety.pii == "off" else hooks.load("checks", "pii")


def safety_of(settings: Settings, system: str, moderate: Moderate | None = None) -> Safety | None:
    """Return the safety checks; None if SAFETY_ENABLED is off.

    Args:
        settings: the settings.
        system: the prompt that no answer may reveal.
        moderate: asks a moderator.
    """
    if not settings.safety.enabled:
        return None
    text = partial(prompts.load, folder=settings.prompt.folder)
    refusals: dict[Reason, str] = {"injection": text("blocked_injection"), "pii": text("blocked_pii")}
    spoken = (text(name) for name in ("decline", "no_results", "ungrounded"))
    scanner = scanner_of(settings)
    return Safety(
        question=CheckQuestion(
            refusals=refusals,
            block_pii=settings.safety.pii == "block",
            risk=scanner.question if scanner else None,
            thresholds=THRESHOLDS if settings.safety.injection == "block" else NEVER_BLOCKED,
        ),
        prompt=SystemPrompt(system, allowed=spoken),
        guard=text("guard"),
        is_suspicious=scanner.is_suspicious if scanner else None,
        moderate=moderate,
    )


def scanner_of(settings: Settings) -> Any:
    """Return the detector of attacks in questions and documents; None if SAFETY_INJECTION is off."""
    if not settings.safety.enabled or settings.safety.injection == "off":
        return None
    return hooks.load("checks", "injection")()


def suspicious_of(settings: Settings) -> Callable[[Sequence[str]], set[int]] | None:
    """Return the detector of chunks that try to steer the model."""
    scanner = scanner_of(settings)
    return partial(suspicious_chunks, is_suspicious=scanner.is_suspicious) if scanner else None
