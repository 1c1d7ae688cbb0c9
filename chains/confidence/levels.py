"""Levels of confidence, the strategy by tiers of similarity, and answers that do not come from the documents."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from chains.errors import ConfigurationError
from chains.metadata import DEGRADED, PARTS, UNSURE
from chains.state import Cited, Confidence, Outcome, PartConfidence, passages_of

UNKNOWN_SCORES = "The retriever gives no relevance scores"
NO_MATCH = "No citation could be matched to a source"
UNCONFIRMED = "Doubtful; check the sources. The model named none, and the documents alone do not lead to this"
DISAGREEMENT = "The sources disagree: {figures}; check them"
OLDER = "Another version says {older}"
LEAST_CERTAIN = "Question {number} is the least certain"
NEARLY = 0.001  # No probability is nearer to 0 or 1, or to the level above.
# Share of the score that is kept where the language model was unreachable or broke off.
DEGRADED_SHARE = 0.5

REASONS: dict[Outcome, str] = {
    "no_results": "No relevant documents found",
    "unsure": "This may not be the answer",
    "declined": "No source answers this reliably",
    "ungrounded": "The answer could not be tied to the documents",
    "blocked": "The question was blocked",
}
"""The reason for each outcome that is no answer from the documents."""


ConfidenceStrategy = Callable[[Cited], Confidence]
"""Stage 5 of the pipeline: what returns the confidence of the answer in the state."""

UNRATED: frozenset[Outcome] = frozenset({"small_talk", "question_back", "redirected"})
"""The outcomes that answer nothing from documents, nor should: there is no confidence to have."""


def disagreement_of(state: Cited) -> str | None:
    """Return how the sources disagree, in words; None where they do not."""
    figures = state.get("disagreement")
    return DISAGREEMENT.format(figures=" and ".join(figures)) if figures else None


def supported_share(state: Cited) -> float:
    """Return the share, 0-1, of the answer's characters that stand outside its unsupported sentences."""
    unsupported = sum(end - start for start, end in state.get("unsupported", []))
    return 1 - unsupported / max(1, len(state.get("replacement") or state["answer"]))


@dataclass(frozen=True, slots=True)
class RateAnswers:
    """Rates answers from the documents by a strategy.

    With several questions, each answered one is rated by its own passages and match, and the lowest rating counts.
    """

    strategy: ConfidenceStrategy

    def __call__(self, state: Cited) -> Confidence | None:
        """Return the confidence; None for small talk, a question back and a redirection."""
        if state["outcome"] in UNRATED:
            return None
        answered = [part for part in range(len(state.get("parts", []))) if part not in state["unanswered"]]
        if not answered:
            rating = self.strategy(state)
            older = f". {OLDER.format(older=state['older'])}" if state.get("older") else ""
            return {**rating, "reason": rating["reason"] + older}
        rated = {part: self.strategy(_of_part(part, state)) for part in answered}
        least = min(answered, key=lambda part: rated[part]["score"])
        parts = [
            PartConfidence(level=rated[part]["level"], score=rated[part]["score"], reason=rated[part]["reason"])
            if part in rated
            else PartConfidence(level="none", score=0.0, reason="")
            for part in range(len(state["parts"]))
        ]
        is_alike = all(one == rated[least] for one in rated.values())
        note = "" if is_alike else f". {LEAST_CERTAIN.format(number=least + 1)}"
        return {**rated[least], "reason": rated[least]["reason"] + note, "parts": parts}


def _of_part(part: int, state: Cited) -> Cited:
    """Return the state as if only one question of the message were asked."""
    documents = [passage for _, passage in passages_of(part, state["documents"])]
    question, message = state["parts"][part]["question"], state["message"]
    own = message.response_metadata.get(PARTS)  # Of a model that chooses statements, for each question by itself.
    if own:
        message = message.model_copy(update={"response_metadata": {**message.response_metadata, **own[part]}})
    outcome: Outcome = "unsure" if own and own[part][UNSURE] else state["outcome"]
    found = {**state, "question": question, "translation": question, "documents": documents}
    return cast("Cited", {**found, "message": message, "outcome": outcome})


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The least score, 0-1, of each level but `very_low`; infinite for a high level that is never given.

    Raises ConfigurationError where they are not in order, or not between 0 and 1.
    """

    low: float = 0.4
    medium: float = 0.6
    high: float = 0.8

    def __post_init__(self) -> None:
        if not (
            0 <= self.low < self.medium < self.high and self.medium < 1 and (self.high <= 1 or self.high == math.inf)
        ):
            raise ConfigurationError(f"the thresholds must be in order, 0 <= low < medium < high <= 1, not {self}")

    def doubted(self, state: Cited, score: float, found: Mapping[str, float]) -> Confidence | None:
        """Return the confidence of what no strategy rates higher: no answer, a degraded or a doubtful one."""
        if state["outcome"] in REASONS:
            return self.confidence(0.0, REASONS[state["outcome"]], found)
        if state["outcome"] == "degraded":
            reason = state["message"].response_metadata.get(DEGRADED) or REASONS["ungrounded"]
            return self.confidence(DEGRADED_SHARE * score, reason, found)
        if not any(citation["matched"] for citation in state["citations"]):
            return self.confidence(DEGRADED_SHARE * score, NO_MATCH, found)
        if state.get("match") == 0:
            return self.confidence(min(score, self.medium - NEARLY), UNCONFIRMED, found)
        disagreement = disagreement_of(state)
        return self.confidence(min(score, self.medium), disagreement, found) if disagreement else None

    def level(self, score: float) -> str:
        bounds = (("high", self.high), ("medium", self.medium), ("low", self.low))
        return next((name for name, least in bounds if score >= least), "very_low")

    def confidence(self, score: float, reason: str, found: Mapping[str, float]) -> Confidence:
        factors = {name: round(value, 4) for name, value in found.items()}
        return Confidence(level=self.level(score), score=round(score, 4), reason=reason, factors=factors)


def without_confidence(_: Cited) -> Confidence:
    return Confidence(level="unknown", score=0.0, reason="Confidence is turned off", factors={})


@dataclass(frozen=True, slots=True)
class WithoutFactors:
    """A strategy that hides its factors."""

    strategy: ConfidenceStrategy

    def __call__(self, state: Cited) -> Confidence:
        return {**self.strategy(state), "factors": {}}


HIGH_CHUNKS, HIGH_AVERAGE = 3, 0.5
MEDIUM_CHUNKS, MEDIUM_AVERAGE = 2, 0.3
RATED_BY_SUPPORT = f"{UNKNOWN_SCORES}; rated by how well the sources support the answer"


def score_confidence(state: Cited) -> Confidence:
    """Return the tiered confidence of an answer; its score is the average similarity of the chunks, 0-1.

    High: at least 3 chunks with an average cosine similarity of at least 0.5. Medium: at least 2 with at least 0.3.
    Low: everything else, every answer that did not come from the documents, and every degraded one.

    A retriever that gives no scores leaves the similarity unknown. Half of the answer's support then decides, and no
    answer is High: a supported statement may still be about something else than the question.
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
