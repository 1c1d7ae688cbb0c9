"""Question, passages, citations, answer -> plain numbers that tell a right answer from a wrong one.

None knows a trade or a corpus: similarities count against those of the same question's other passages, words by how
rare they are among these passages.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Final

from chains.confidence.composite import answer_quality, without_markers
from chains.state import Cited, Passage, match_of
from chains.text.tokens import tokens

WORDS: Final[Mapping[str, tuple[str, str]]] = {
    "match": ("no statement of the passages fits the question well", "a statement of the passages fits the question"),
    "best_similarity": ("no passage is close to the question", "a passage is close to the question"),
    "cited_above_mean": ("the cited passage fits no better than others", "the cited passage fits better than others"),
    "first_by_words": ("its words are not those of the question", "the best passage has the question's own words"),
    "question_in_answer": (
        "words of the question are missing in the answer",
        "the answer takes up the question's words",
    ),
    "question_in_quotes": (
        "the quoted words hold little of the question",
        "the quoted words hold the question's words",
    ),
    "background": ("few passages are near the question", "all passages are near the question"),
    "documents": ("the passages are of few documents", "the passages are scattered over many documents"),
    "answer_quality": ("it is short or sounds unsure", "it sounds sure"),
}
"""For each feature what is said of a low and of a high value."""

# Added to the logarithm of a word's rarity, so that a word that every passage holds counts a little.
_LEAST_RARITY = 0.3
# No probability is nearer to 0 or 1.
_NEARLY = 0.001


def features(state: Cited) -> dict[str, float]:
    """Return the features of an answer that are known; similarities and shares are between 0 and 1, `match` log odds.

    Only a model that chooses statements tells how well they match, and not every retriever gives similarities.
    """
    passages, matched = state["documents"], [one for one in state["citations"] if one["matched"]]
    keys = [_keys(_text(passage)) for passage in passages]
    weights = _rarity(state["question"], keys)
    cited = [n for n, passage in enumerate(passages) if any(one["quote"] in passage["content"] for one in matched)]
    answer = without_markers(state)
    headings = " ".join(f"{one['title']} {one['section'] or ''}" for one in matched)
    return {
        **_match(match_of(state["message"])),
        **_similarity([passage["score"] for passage in passages], cited),
        **_words_found(passages),
        "documents": len({one["metadata"].get("doc_id") for one in passages}) / len(passages) if passages else 0.0,
        "question_in_answer": _share(weights, _keys(f"{answer} {headings}")),
        "question_in_quotes": _share(weights, _keys(" ".join(one["quote"] for one in matched))),
        "answer_quality": answer_quality(answer),
    }


def _match(probability: float | None) -> dict[str, float]:
    if probability is None:
        return {}
    bounded = min(1 - _NEARLY, max(_NEARLY, probability))
    return {"match": math.log(bounded / (1 - bounded))}


def _similarity(scores: Sequence[float | None], cited: Sequence[int]) -> dict[str, float]:
    known = [score for score in scores if score is not None]
    if not known:
        return {}
    mean = sum(known) / len(known)
    return {
        "best_similarity": max(known),
        "background": mean,
        "cited_above_mean": max((scores[n] or 0.0 for n in cited), default=mean) - mean,
    }


def _words_found(passages: Sequence[Passage]) -> dict[str, float]:
    """Return what the search for words added to the first passage's rank, against the other passages."""
    if all(one["score"] is None for one in passages):
        return {}
    added = [(one["metadata"].get("fused_score") or one["score"] or 0.0) - (one["score"] or 0.0) for one in passages]
    return {"first_by_words": added[0] - sum(added) / len(added)}


def _rarity(question: str, passages: Sequence[Collection[str]]) -> dict[str, float]:
    """Return the weight of each content word of the question: what it carries, times its rarity in the passages."""
    carried = {token.key: token.weight for token in tokens(question) if token.weight}
    held = {key: sum(key in keys for keys in passages) for key in carried}
    most = len(passages) + 1
    return {key: weight * (_LEAST_RARITY + math.log(most / (held[key] + 0.5))) for key, weight in carried.items()}


def _share(weights: Mapping[str, float], keys: Collection[str]) -> float:
    total = sum(weights.values())
    return sum(weight for key, weight in weights.items() if key in keys) / total if total else 0.0


def _text(passage: Passage) -> str:
    metadata = passage["metadata"]
    return f"{metadata.get('title') or ''} {metadata.get('section_path') or ''} {passage['content']}"


def _keys(text: str) -> set[str]:
    return {token.key for token in tokens(text) if token.weight}
