"""The finished state and the call's laps -> what happened on the way."""

from langchain_core.runnables import RunnableConfig

from chains.caching.hits import furthest_hit
from chains.state import Metadata, Scored
from chains.timing import laps_of


def describe(state: Scored, config: RunnableConfig) -> Metadata:
    """Return the answer's metadata: counts, times, the model and what it used."""
    laps = laps_of(config)
    message = state["message"]
    response = message.response_metadata
    return Metadata(
        query=state["question"],
        search_query=state["question"],
        chunks_retrieved=len(state["documents"]),
        chunks_used=len({citation["number"] for citation in state["citations"] if citation["matched"]} - {None}),
        latency_ms=laps.elapsed_ms() if laps else 0.0,
        timings_ms=dict(laps.laps_ms) if laps else {},
        model=response.get("model_name"),
        usage=_usage(getattr(message, "usage_metadata", None)),
        finish_reason=response.get("finish_reason"),
        cache=furthest_hit(config),
        trace_id=str(laps.run_id) if laps else None,
    )


def _usage(usage: dict[str, int] | None) -> dict[str, int] | None:
    if usage is None:
        return None
    return {name: usage[name] for name in ("input_tokens", "output_tokens", "total_tokens")}
