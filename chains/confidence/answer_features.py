"""Compute the features by which a right answer differs from a wrong one.

None knows a trade or a corpus. Few are enough: more features overfitted.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from chains.confidence.composite import answer_quality, without_markers
from chains.metadata import match_of
from chains.state import Cited, Passage
from chains.text.tokens import tokens

WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "match": ("No source answers this directly", "A source answers this directly"),
    "best_similarity": ("No source is close to the question", "A source is close to the question"),
    "first_by_words": ("The sources use different terms; check them", "A source uses the terms of the question"),
    "question_in_answer": ("The answer leaves out terms of the question", "The answer uses the terms of the question"),
    "background": ("One source is more relevant than the others", "Several sources are equally relevant"),
    "answer_quality": ("The answer is brief or hedged; check the source", "The answer is clear"),
}
"""For each feature what is said of a low and of a high value."""

# No probability is nearer to 0 or 1.
_NEARLY = 0.001


def features(state: Cited) -> dict[str, float]:
    """Return the features of an answer that are known; similarities and shares are between 0 and 1, `match` log odds.

    Match scores come only from a model that selects statements; not every retriever gives similarities.
    """
    passages, matched = state["documents"], [one for one in state["citations"] if one["matched"]]
    headings = " ".join(f"{one['title']} {one['section'] or ''}" for one in matched)
    answer = without_markers(state)
    return {
        **_match(match_of(state["message"])),
        **_similarity([passage["score"] for passage in passages]),
        **_words_found(passages),
        "question_in_answer": _held(state["question"], f"{answer} {headings}"),
        "answer_quality": answer_quality(answer),
    }


def _match(probability: float | None) -> dict[str, float]:
    if probability is None:
        return {}
    bounded = min(1 - _NEARLY, max(_NEARLY, probability))
    return {"match": math.log(bounded / (1 - bounded))}


def _similarity(scores: Sequence[float | None]) -> dict[str, float]:
    known = [score for score in scores if score is not None]
    return {"best_similarity": max(known), "background": sum(known) / len(known)} if known else {}


def _words_found(passages: Sequence[Passage]) -> dict[str, float]:
    """Return what the search for words added to the first passage's rank, against the other passages."""
    if all(one["score"] is None for one in passages):
        return {}
    added = [(one["metadata"].get("fused_score") or one["score"] or 0.0) - (one["score"] or 0.0) for one in passages]
    return {"first_by_words": added[0] - sum(added) / len(added)}


def _held(question: str, text: str) -> float:
    """Return the share of the question's words that a text holds, each by what it carries."""
    carried = {token.key: token.weight for token in tokens(question) if token.weight}
    held = {token.key for token in tokens(text)}
    total = sum(carried.values())
    return sum(weight for key, weight in carried.items() if key in held) / total if total else 0.0
