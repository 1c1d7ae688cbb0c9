"""Describe how an answer was made: counts, times, the model and its usage."""

from collections.abc import Sequence

from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableConfig

from chains.blocking import Moderation, SafetyReport
from chains.callbacks.cache_hits import furthest_hit
from chains.callbacks.stage_timer import stage_timer_of
from chains.message_metadata import LINKS_REMOVED, withheld_because
from chains.state import Citation, Metadata, Scored


def describe(state: Scored, config: RunnableConfig) -> Metadata:
    """Return the answer's metadata: counts, times, the model and what it used."""
    timer = stage_timer_of(config)
    message = state["message"]
    response, redirect = message.response_metadata, state.get("scope")
    return Metadata(
        query=state["question"],
        search_query=state.get("search_query") or state["question"],
        chunks_retrieved=len(state["documents"]) + state.get("passages_dropped", 0),
        chunks_used=count_marked(state["citations"]),
        latency_ms=timer.elapsed_ms() if timer else 0.0,
        timings_ms=dict(timer.laps_ms) if timer else {},
        model=response.get("model_name"),
        usage=_usage(message),
        finish_reason=response.get("finish_reason"),
        cache=furthest_hit(config),
        trace_id=str(timer.run_id) if timer else None,
        intent=redirect["intent"] if redirect else None,
        safety=_safety(state),
    )


def _safety(state: Scored) -> SafetyReport | None:
    """Return what the checks found; None where nothing is checked."""
    verdict = state.get("safety")
    if verdict is None:
        return None
    moderation = state.get("moderation")
    withheld = withheld_because(state["message"])
    blocked = withheld or ("moderation" if moderation and moderation["refusal"] else None)
    return SafetyReport(
        action="blocked" if blocked else verdict["action"],
        reason=blocked or verdict["reason"],
        redacted=verdict["redacted"],
        injection=verdict["injection"],
        passages_dropped=state.get("passages_dropped", 0),
        links_removed=state["message"].response_metadata.get(LINKS_REMOVED, 0),
        moderation=moderation and Moderation(result=moderation["result"], categories=moderation["categories"]),
    )


def count_marked(citations: Sequence[Citation]) -> int:
    """Return how many sources the answer marks, each counted once, however often it is marked."""
    return len({citation["number"] for citation in citations if citation["matched"]} - {None})


def _usage(message: BaseMessage) -> dict[str, int] | None:
    """Return the usage that the provider reported; cached answers may lack some or all of it.

    `cached_tokens` are those of `input_tokens` that the provider did not have to read again.
    """
    reported = getattr(message, "usage_metadata", None) or {}
    usage = {name: reported[name] for name in ("input_tokens", "output_tokens", "total_tokens") if name in reported}
    cached = (reported.get("input_token_details") or {}).get("cache_read")
    return usage | ({} if cached is None else {"cached_tokens": cached}) or None
