"""Rate an answer by the scores and number of its chunks and by its wording: a weighted mean of four factors.

0.35 x mean similarity + 0.30 x best similarity + 0.15 x coverage (chunks found of those asked for) + 0.20 x quality of
the answer (length and wording of doubt). Each factor is between 0 and 1.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from chains.confidence.levels import DEGRADED_SHARE, Thresholds
from chains.state import Cited, Confidence

WEIGHTS = {"retrieval": 0.35, "relevance": 0.30, "coverage": 0.15, "answer_quality": 0.20}
UNKNOWN_SCORE = 0.5  # Of a chunk whose retriever gives no score.

# The answer says that it is none.
_NO_INFORMATION = re.compile(
    r"\bi (?:could ?n[o']t find|do ?n[o']t know|can ?not answer)\b|\bno (?:relevant )?information\b"
    r"|\b(?:does|do) ?n[o']t (?:contain|hold|have|provide|include) (?:enough|sufficient|any|the)\b",
    re.IGNORECASE,
)
# May with a capital is a month. Some of these count twice, as a phrase and as a word.
_DOUBTS = re.compile(
    r"\bi'm not sure\b|\bi can(?:not|'t)\b|\bbased on limited information\b|\bmay not be\b|\bmight not\b", re.IGNORECASE
)
_DOUBT_WORDS = re.compile(r"\b(?:may|(?i:might|maybe|perhaps|possibly|unclear|uncertain))\b")
_TWICE = re.compile(r"\b(?:perhaps|possibly|unclear|uncertain)\b", re.IGNORECASE)
_NO_ANSWER = 0.1  # The quality of an answer that says that it is none.
_DOUBT_COSTS, _DOUBT_COSTS_AT_MOST = 0.15, 0.5
# The share of its quality that an answer shorter than this many characters keeps.
_LENGTHS = ((20, 0.3), (50, 0.6), (2001, 1.0))
_LONG = 0.8
# Where the words of an explanation change.
_HIGHLY_RELEVANT, _MODERATELY_RELEVANT, _COVERED, _SURE = 0.8, 0.6, 0.8, 0.6


@dataclass(frozen=True, slots=True)
class CompositeConfidence:
    """Scores answers by four factors; `top_k` is how many chunks a question asks for that does not say so itself."""

    thresholds: Thresholds = field(default_factory=Thresholds)
    top_k: int = 10

    def __call__(self, state: Cited) -> Confidence:
        """Return the composite confidence; an outcome that is no answer has 0, a degraded one is never high."""
        documents = state["documents"]
        scores = [UNKNOWN_SCORE if one["score"] is None else one["score"] for one in documents]
        found = factors(scores, len(documents), state.get("top_k", self.top_k), without_markers(state))
        score = composite(found)
        if doubted := self.thresholds.doubted(state, score, found):
            return doubted
        # The formula leaves 0.75 to an answer that says it has none.
        says_none = found["answer_quality"] <= _NO_ANSWER
        return self.thresholds.confidence(DEGRADED_SHARE * score if says_none else score, explanation(found), found)


def factors(scores: Sequence[float], chunks: int, top_k: int, answer: str) -> dict[str, float]:
    """Return the four factors, each 0-1, of an answer to a question that asked for `top_k` chunks."""
    clipped = [min(1.0, max(0.0, score)) for score in scores]
    return {
        "retrieval": sum(clipped) / len(clipped) if clipped else 0.0,
        "relevance": max(clipped, default=0.0),
        "coverage": min(1.0, chunks / top_k) if top_k else 0.0,
        "answer_quality": answer_quality(answer),
    }


def composite(found: dict[str, float]) -> float:
    return sum(weight * found[name] for name, weight in WEIGHTS.items()) if found["coverage"] else 0.0


def answer_quality(answer: str) -> float:
    """Return how sure the answer sounds, 0-1: by its length and its words of doubt."""
    text = answer.strip().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    if not text:
        return 0.0
    if _NO_INFORMATION.search(text):
        return _NO_ANSWER
    doubts = sum(len(words.findall(text)) for words in (_DOUBTS, _DOUBT_WORDS, _TWICE))
    length = next((share for below, share in _LENGTHS if len(text) < below), _LONG)
    return max(0.0, length - min(_DOUBT_COSTS * doubts, _DOUBT_COSTS_AT_MOST))


def explanation(found: dict[str, float]) -> str:
    if not found["coverage"]:
        return "No relevant documents were retrieved"
    levels = ((_HIGHLY_RELEVANT, "highly relevant"), (_MODERATELY_RELEVANT, "moderately relevant"))
    relevance = next((words for least, words in levels if found["retrieval"] >= least), None)
    parts = [f"{relevance} documents" if relevance else "limited document relevance"]
    if found["coverage"] < _COVERED:
        parts.append("incomplete context coverage")
    if found["answer_quality"] < _SURE:
        parts.append("answer contains uncertainty indicators")
    return ", ".join(parts)


def without_markers(state: Cited) -> str:
    text = state["answer"]
    for citation in sorted(state["citations"], key=lambda one: one["start"], reverse=True):
        if not citation["attributed"]:
            text = text[: citation["start"]] + text[citation["end"] :]
    return text
