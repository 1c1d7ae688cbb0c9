"""Detect a negation in a sentence or its evidence that the other lacks."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chains.citations.evidence import Evidence
from chains.text.tokens import Token
from chains.text.words import word_set

COVERAGE: Final = 0.7  # The share of the sentence's words that make a sentence of the evidence speak of the same.
REACH: Final = 4  # Words after a negation that may hold what it denies, and words before it that may open a condition.

_NEGATIONS: Final = word_set("not no never without neither nor cannot none")
_CONTRACTIONS: Final = ("n't", "n’t")
# A limit denies nothing: "not more than 5 days", "not only", "no later than", "not until".
_LIMITS: Final = word_set("more less fewer later earlier sooner than only just until unless before after yet")
_CONDITIONS: Final = word_set("if when where whether unless until")
# Words that deny without a negation: "prohibited" for "not allowed".
_DENIALS: Final = word_set(
    "prohibited forbidden banned except excluding excluded exclude excludes unless until lack lacks lacking fail fails "
    "failed refuse refused rejected denied exempt waived nil zero unable invalid instead rather otherwise avoid "
    "unlikely non"
)


def is_denied(
    everything: Sequence[Token], words: Sequence[Token], evidence: Evidence, strengths: NDArray[np.float32]
) -> bool:
    """Return whether the best-aligned sentence of the evidence uses a word of the sentence that one alone denies."""
    weights = np.array([word.weight for word in words], dtype=np.float32)
    coverage = (strengths == 1.0) @ weights / weights.sum()
    best = int(coverage.argmax())
    theirs = evidence.spans[best].tokens
    differ = _denied_here_alone(everything, theirs) or _denied_here_alone(theirs, everything)
    return differ and bool(coverage[best] >= COVERAGE)


def _denied_here_alone(words: Sequence[Token], others: Sequence[Token]) -> bool:
    said = {word.key for word in others} - denied(others)
    return bool(denied(words) & said) and not _holds(others, _DENIALS)


def denied(words: Sequence[Token]) -> set[str]:
    """Return the words that a negation before them denies, outside conditions."""
    places = [place for place, word in enumerate(words) if _is_negation(word)]
    sure = [place for place in places if not _holds(words[max(0, place - REACH) : place], _CONDITIONS)]
    return {key for place in sure if (key := _next_content(words[place + 1 : place + 1 + REACH]))}


def _holds(words: Sequence[Token], some: frozenset[str]) -> bool:
    return any(word.text.lower() in some for word in words)


def _is_negation(word: Token) -> bool:
    text = word.text.lower()
    return text in _NEGATIONS or text.endswith(_CONTRACTIONS)


def _next_content(words: Sequence[Token]) -> str | None:
    for word in words:
        if word.text.lower() in _LIMITS:
            return None
        if word.weight > 0 and word.key != "longer":  # "no longer"
            return word.key
    return None
