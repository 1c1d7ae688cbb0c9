"""The verdicts of the safety checks, in the state and in an answer's metadata."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict


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
    """The moderator's verdict on the question."""

    result: Annotated[Literal["allowed", "flagged", "failed"], Field(description="failed: no verdict in time.")]
    categories: list[str]


class ModerationVerdict(Moderation):
    """What the moderator said, and what a flagged question is answered with."""

    refusal: str | None


class SafetyReport(TypedDict):
    """What the checks of question, passages and answer found."""

    action: Literal["none", "guarded", "blocked"]
    reason: str | None
    redacted: Annotated[list[str], Field(description="Kinds of personal data that were removed from the question.")]
    injection: Annotated[float, Field(description="How likely the question is an attack, 0 to 1.")]
    passages_dropped: int
    links_removed: Annotated[int, Field(description="Links, images and tags that were removed from the answer.")]
    moderation: NotRequired[Annotated[Moderation | None, Field(description="Null if no moderator was asked.")]]


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
