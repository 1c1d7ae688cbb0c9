"""The verdicts of the safety checks, in the state and in an answer's metadata."""

from collections.abc import Mapping
from typing import Any, Literal, NotRequired

from langchain_core.messages import BaseMessage
from typing_extensions import TypedDict

WITHHELD, LINKS_REMOVED = "withheld", "links_removed"
"""In a message's `response_metadata`: why the words are withheld; how many links, images and tags were taken out."""


class SafetyVerdict(TypedDict):
    """What is known of a question before it is searched for; `refusal` is what a blocked one is answered with.

    `canary` are random words of this call, which stand in its prompt and in no answer.
    """

    action: Literal["none", "guarded", "blocked"]
    reason: str | None
    refusal: str | None
    redacted: list[str]
    injection: float
    canary: str


class Moderation(TypedDict):
    """What the moderator said of a question, and the categories of harm; `failed` where it gave no verdict in time."""

    result: Literal["allowed", "flagged", "failed"]
    categories: list[str]


class ModerationVerdict(Moderation):
    """What the moderator said, and what a flagged question is answered with."""

    refusal: str | None


class SafetyReport(TypedDict):
    """What the checks found.

    `action` says what became of the question, and `reason` why. `redacted` names the kinds of personal data that were
    taken out of it. `injection` is the probability that the question is an attack. `passages_dropped` were not shown to
    the model; of its words, `links_removed` links, images and tags were taken out. `moderation` is None where no
    moderator was asked.
    """

    action: Literal["none", "guarded", "blocked"]
    reason: str | None
    redacted: list[str]
    injection: float
    passages_dropped: int
    links_removed: int
    moderation: NotRequired[Moderation | None]


def withheld_because(message: BaseMessage) -> str | None:
    """Return why the message's words are not shown; None for one that may be."""
    reason: str | None = message.response_metadata.get(WITHHELD)
    return reason


def is_blocked(state: Mapping[str, Any]) -> bool:
    """Return whether a safety check or the moderator blocked the question."""
    return _blocked_text(state) is not None


def refusal_of(state: Mapping[str, Any]) -> str | None:
    """Return the reply to a question that is blocked or out of scope; None for others."""
    blocked, redirect = _blocked_text(state), state.get("scope")
    return blocked or (str(redirect["text"]) if redirect else None)


def _blocked_text(state: Mapping[str, Any]) -> str | None:
    verdicts = (state.get("safety"), state.get("moderation"))
    return next((str(verdict["refusal"]) for verdict in verdicts if verdict and verdict["refusal"] is not None), None)
