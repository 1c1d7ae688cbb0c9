"""Rate an answer High, Medium or Low by the scores and number of its chunks, its citations and its outcome.

High: at least 3 chunks with an average cosine similarity of at least 0.5. Medium: at least 2 with at least 0.3.
Low: everything else, every answer that did not come from the documents, and every degraded one.

A retriever that gives no scores leaves the similarity unknown. How well the sources support the answer then decides,
and no answer is High: a supported statement may still be about something else than the question.
"""

from chains.confidence.levels import DEGRADED_SHARE, NO_MATCH, REASONS, UNKNOWN_SCORES, disagreement_of, supported_share
from chains.metadata import DEGRADED
from chains.state import Cited, Confidence

HIGH_CHUNKS, HIGH_AVERAGE = 3, 0.5
MEDIUM_CHUNKS, MEDIUM_AVERAGE = 2, 0.3
RATED_BY_SUPPORT = f"{UNKNOWN_SCORES}; rated by how well the sources support the answer"


def score_confidence(state: Cited) -> Confidence:
    """Return the tiered confidence of an answer; its score is the average similarity of the chunks, 0-1.

    Without similarities it is half of the answer's support.
    """
    scores = [passage["score"] for passage in state["documents"] if passage["score"] is not None]
    support = [citation["support"] for citation in state["citations"] if citation["matched"]]
    chunks, matched, outcome = len(state["documents"]), len(support), state["outcome"]
    factors = {"chunks": float(chunks), "matched_citations": float(matched)}
    is_known = bool(scores) or not chunks
    average = sum(scores) / max(1, len(scores))
    if is_known:
        factors["average_score"] = round(average, 4)
    else:
        average = 0.5 * supported_share(state) * sum(support) / max(1, matched)
    level = "Low"
    if outcome in REASONS:
        average, reason = 0.0, REASONS[outcome]
    elif outcome == "degraded":
        average = DEGRADED_SHARE * average if matched else 0.0
        reason = state["message"].response_metadata.get(DEGRADED) or REASONS["ungrounded"]
    elif not matched:
        reason = NO_MATCH
    elif not is_known:
        level, reason = "Medium" if average >= MEDIUM_AVERAGE else "Low", RATED_BY_SUPPORT
    elif chunks >= HIGH_CHUNKS and average >= HIGH_AVERAGE:
        level, reason = "High", f"{chunks} relevant sources with {matched} citation{'s' if matched > 1 else ''}"
    elif chunks >= MEDIUM_CHUNKS and average >= MEDIUM_AVERAGE:
        level, reason = "Medium", f"{chunks} sources found, average relevance {average:.0%}"
    else:
        reason = "Only 1 source found" if chunks == 1 else f"Low relevance scores (avg {average:.0%})"
    if matched and outcome == "answered" and (disagreement := disagreement_of(state)):
        level, reason = "Medium" if level == "High" else level, disagreement
    return Confidence(level=level, score=round(average, 4), reason=reason, factors=factors)
