"""Ask a moderator whether a question may be answered; without a verdict it is."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from langchain_core.runnables import Runnable, RunnableConfig
from langchain_core.runnables.graph import Graph

from chains.blocking import ModerationVerdict, is_blocked
from chains.callbacks import Deadline, call_in_time, time_limit, within
from chains.clock import Clock, SystemClock
from chains.logs import get_logger
from chains.ports import SELF_HARM, ModerationResult, Moderator
from chains.state import SMALL_TALK, Searching

log = get_logger(__name__)

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
        self._moderator = moderator
        self._refusals = refusals
        self._ignored = frozenset(ignored)
        self._timeout_s = timeout_s
        self._clock = clock or SystemClock()

    def get_graph(self, config: RunnableConfig | None = None) -> Graph:
        return self._moderator.get_graph(config)

    def invoke(self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any) -> ModerationVerdict | None:
        """Return the verdict; None for a question that is not sent."""
        if _is_settled(input):
            return None
        deadline, result = self._deadline(), None
        with _failures_logged():
            ask, own = self._moderator.invoke, within(deadline, config)
            result = call_in_time([deadline], ask, input["question"], own)
        return self._verdict(result)

    async def ainvoke(
        self, input: Searching, config: RunnableConfig | None = None, **kwargs: Any
    ) -> ModerationVerdict | None:
        if _is_settled(input):
            return None
        deadline, result = self._deadline(), None
        with _failures_logged():
            async with time_limit([deadline]):
                result = await self._moderator.ainvoke(input["question"], within(deadline, config))
        return self._verdict(result)

    def _deadline(self) -> Deadline:
        return Deadline(self._timeout_s, self._clock)

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


@contextmanager
def _failures_logged() -> Iterator[None]:
    try:
        yield
    except Exception as error:  # Any moderator may be handed in, and none of its errors may cost the answer.
        log.warning("moderation_failed", error=type(error).__name__)
