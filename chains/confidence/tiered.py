"""Rate an answer High, Medium or Low by the scores and number of its chunks, its citations and its outcome.

High: at least 3 chunks with an average cosine similarity of at least 0.5. Medium: at least 2 with at least 0.3.
Low: everything else, every answer that did not come from the documents, and every degraded one.

A retriever that gives no scores leaves the similarity unknown. How well the sources support the answer then decides,
and no answer is High: a supported statement may still be about something else than the question.
"""

from chains.confidence.levels import DEGRADED_SHARE, NO_MATCH, REASONS, UNKNOWN_SCORES, disagreement_of, supported_share
from chains.metadata import degradation_of
from chains.state import Cited, Confidence

HIGH_CHUNKS, HIGH_AVERAGE = 3, 0.5
MEDIUM_CHUNKS, MEDIUM_AVERAGE = 2, 0.3
RATED_BY_SUPPORT = f"{UNKNOWN_SCORES}; rated by how well the sources support the answer"


def score_confidence(state: Cited) -> Confidence:
    """Return the tiered confidence of an answer; its score is the average similarity of the chunks, 0-1.

    Without similarities it is half of the answer's support.
    """
    scores = [passage["score"] for passage in state["documents"] if passage["score"] is not None]
    chunks = len(state["documents"])
    unknown = chunks > 0 and not scores
    support = [citation["support"] for citation in state["citations"] if citation["matched"]]
    matched = len(support)
    average = sum(scores) / max(1, len(scores))
    if unknown:
        average = 0.5 * supported_share(state) * sum(support) / max(1, matched)
    factors = {"chunks": float(chunks), "matched_citations": float(matched)}
    if not unknown:
        factors["average_score"] = round(average, 4)
    outcome = state["outcome"]
    if outcome in REASONS:
        return Confidence(level="Low", score=0.0, reason=REASONS[outcome], factors=factors)
    if outcome == "degraded":
        reason = degradation_of(state["message"]) or REASONS["ungrounded"]
        score = round(DEGRADED_SHARE * average, 4) if matched else 0.0
        return Confidence(level="Low", score=score, reason=reason, factors=factors)
    level = "Low"
    if matched:
        level = ("Medium" if average >= MEDIUM_AVERAGE else "Low") if unknown else _level(chunks, average)
    reason = RATED_BY_SUPPORT if matched and unknown else _reason(level, chunks, average, matched)
    if matched and (disagreement := disagreement_of(state)):
        level, reason = "Medium" if level == "High" else level, disagreement
    return Confidence(level=level, score=round(average, 4), reason=reason, factors=factors)


def _level(chunks: int, average: float) -> str:
    if chunks >= HIGH_CHUNKS and average >= HIGH_AVERAGE:
        return "High"
    if chunks >= MEDIUM_CHUNKS and average >= MEDIUM_AVERAGE:
        return "Medium"
    return "Low"


def _reason(level: str, chunks: int, average: float, matched: int) -> str:
    if not matched:
        return NO_MATCH
    if level == "High":
        return f"{chunks} relevant sources with {matched} citation{'s' if matched > 1 else ''}"
    if level == "Medium":
        return f"{chunks} sources found, average relevance {average:.0%}"
    return "Only 1 source found" if chunks == 1 else f"Low relevance scores (avg {average:.0%})"
