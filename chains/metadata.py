"""What messages carry about how they were made, and the metadata of an answer: counts, times, model, usage."""

from collections.abc import Sequence
from functools import reduce
from operator import add

from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.runnables import RunnableConfig

from chains.callbacks import record_of
from chains.state import Citation, Metadata, Moderation, SafetyReport, Scored

WITHHELD, LINKS_REMOVED = "withheld", "links_removed"
"""In a message's `response_metadata`: why the words are withheld; how many links, images and tags were taken out."""

DEGRADED = "degraded"
"""In a message's `response_metadata`: why the answer is not what it should be."""

MATCH = "match"
"""In a message's `response_metadata`: the probability, 0-1, that its first statement answers the question. Only a model
that chooses statements tells it."""

ASKED = "question"
"""In the `additional_kwargs` of a prompt's question: the question's own words, without the reminder behind them."""

UNSURE = "unsure"
"""In a message's `response_metadata`: True where there is evidence, but none that answers the question for sure."""

MISSING = "missing"
"""In a message's `response_metadata`: the names and nouns of the question that no passage holds."""

UNSAID = "unsaid"
"""In a message's `response_metadata`: those that the passage of its first statement does not hold."""

NEAREST = "nearest"
"""In a message's `response_metadata`: the place in the context of the passage nearest to a declined question."""

SEARCHED = "searched"
"""In the `additional_kwargs` of a prompt's question: the query that was searched for."""

SCORES = "scores"
"""In the `additional_kwargs` of a prompt's question: the similarity of each passage of the context, None if unknown."""

PARTS = "parts"
"""In the `additional_kwargs` of a prompt's question: the questions of a message that holds several, each with the
`places` of its passages in the context, best first, and their `scores`. In a message's `response_metadata`: the MATCH
and UNSURE of each of them."""


def joined(pieces: Sequence[BaseMessage]) -> BaseMessage:
    first, *others = pieces
    if others and isinstance(first, AIMessageChunk):
        return first + others  # At once; one by one each sum would copy the words so far.
    return reduce(add, pieces)


def describe(state: Scored, config: RunnableConfig) -> Metadata:
    """Return the answer's metadata: counts, times, the model and what it used."""
    record = record_of(config.get("callbacks"))
    message = state["message"]
    response, redirect = message.response_metadata, state.get("scope")
    return Metadata(
        query=state["question"],
        search_query=state.get("search_query") or state["question"],
        chunks_retrieved=len(state["documents"]) + state.get("passages_dropped", 0),
        chunks_used=count_marked(state["citations"]),
        latency_ms=record.elapsed_ms() if record else 0.0,
        timings_ms=dict(record.laps_ms) if record else {},
        model=response.get("model_name"),
        usage=_usage(message),
        finish_reason=response.get("finish_reason"),
        cache=record.furthest_hit() if record else None,
        trace_id=str(record.run_id) if record else None,
        intent=redirect["intent"] if redirect else None,
        safety=_safety(state),
    )


def _safety(state: Scored) -> SafetyReport | None:
    verdict = state.get("safety")
    if verdict is None:
        return None
    moderation = state.get("moderation")
    withheld = state["message"].response_metadata.get(WITHHELD)
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
