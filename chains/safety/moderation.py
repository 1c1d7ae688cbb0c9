"""Ask a moderator whether a question may be answered; without a verdict it is."""

from collections.abc import Collection, Mapping
from typing import Any, Literal

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.graph import Graph

from chains.callbacks import Limited
from chains.clock import Clock, SystemClock
from chains.ports import SELF_HARM, ModerationResult, Moderator
from chains.state import SMALL_TALK, ModerationVerdict, Searching, is_blocked

Harm = Literal["moderation", "self_harm"]


class Moderate(Runnable[Searching, ModerationVerdict | None]):
    """Ask the moderator about the question of a state, unless it is blocked already or small talk.

    Args:
        moderator: judges the question; whatever goes wrong there, the question is answered.
        refusals: the replies to flagged questions: those that speak of self-harm, and all others.
        ignored: categories that alone do not stop a question.
        timeout_s: how long the moderator may take, its retries included.
        clock: tells the time for that.
    """

    name = "moderate"

    def __init__(
        self,
        moderator: Moderator,
        refusals: Mapping[Harm, str],
        *,
        ignored: Collection[str] = (),
        timeout_s: float = 10,
        clock: Clock | None = None,
    ) -> None:
        self._ask = Limited(moderator, timeout_s, clock or SystemClock(), "moderation_failed")
        self._refusals = refusals
        self._ignored = frozenset(ignored)

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return self._ask.runnable.get_graph(config)

    def invoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> ModerationVerdict | None:
        if _is_settled(input):
            return None
        return self._verdict(self._ask.invoke(input["question"], config))

    async def ainvoke(
        self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any
    ) -> ModerationVerdict | None:
        if _is_settled(input):
            return None
        return self._verdict(await self._ask.ainvoke(input["question"], config))

    def _verdict(self, result: ModerationResult | None) -> ModerationVerdict:
        if result is None:
            return ModerationVerdict(result="failed", categories=[], refusal=None)
        categories = [category for category in result.categories if category not in self._ignored]
        if not result.flagged or (result.categories and not categories):
            return ModerationVerdict(result="allowed", categories=[], refusal=None)
        is_danger = any(category.startswith(SELF_HARM) for category in categories)
        refusal = self._refusals["self_harm" if is_danger else "moderation"]
        return ModerationVerdict(result="flagged", categories=categories, refusal=refusal)


def _is_settled(state: Searching) -> bool:
    redirect = state.get("scope")
    return is_blocked(state) or (redirect is not None and redirect["intent"] == SMALL_TALK)
