"""Ten plain features of a claim and its evidence, which any comparison of words begins with."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from chains.citations.evidence import Evidence
from chains.citations.support import match, weigh
from chains.text.tokens import Kind, Token, tokens

FEATURES: Final = (
    "words found",
    "rare words found",
    "of the best sentence",
    "of the best three sentences",
    "names found",
    "numbers found",
    "pairs found",
    "in order",
    "negation differs",
    "length",
)
_NEAR: Final = 3
_NEGATIONS: Final = frozenset({"not", "no", "never", "without", "none", "nor", "neither", "cannot"})


def lexical(claim: str, evidence: Evidence) -> list[float]:
    """Return the features, in their order."""
    every = tokens(claim)
    words = [word for word in every if word.weight > 0]
    held, weights = match(words, evidence, None), weigh(words, evidence)
    found, weights = held.max(axis=0), weights / max(float(weights.sum()), 1e-6)
    windows = [float(held[first : first + 3].max(axis=0) @ weights) for first in range(len(held))]
    best = evidence.spans[int((held @ weights).argmax())].tokens
    keys = [word.key for word in words]
    return [
        float(found.mean()),
        float(found @ weights),
        float((held @ weights).max()),
        max(windows),
        _share(words, found.tolist(), "name"),
        _share(words, found.tolist(), "number"),
        _pairs(keys, evidence),
        _in_order(keys, [word.key for word in best]) / len(keys),
        float(_negates(every) != _negates(best)),
        float(np.log(len(keys))),
    ]


def _share(words: Sequence[Token], found: Sequence[float], kind: Kind) -> float:
    some = [strength for word, strength in zip(words, found, strict=True) if word.kind == kind]
    return sum(some) / len(some) if some else 1.0


def _pairs(keys: Sequence[str], evidence: Evidence) -> float:
    """Return the share of neighbouring content words that stand near each other in the evidence, in their order."""
    wanted = set(pairwise(keys))
    near = {
        (first.key, second.key)
        for span in evidence.spans
        for place, first in enumerate(span.tokens)
        for second in span.tokens[place + 1 : place + 1 + _NEAR]
    }
    return len(wanted & near) / len(wanted) if wanted else 1.0


def _in_order(first: Sequence[str], second: Sequence[str]) -> int:
    """Return the length of the longest common subsequence."""
    row = [0] * (len(second) + 1)
    for key in first:
        above = row[:]
        for place, other in enumerate(second):
            row[place + 1] = above[place] + 1 if key == other else max(row[place], above[place + 1])
    return row[-1]


def _negates(words: Sequence[Token]) -> bool:
    return any(word.key in _NEGATIONS or word.text.endswith(("n't", "n’t")) for word in words)
