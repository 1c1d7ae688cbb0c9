"""Cosine similarities, the one scale of all scores; rank candidates by cosine plus BM25, and near-duplicates.

The plain sum beats min-max scaling and reciprocal ranks: it needs no set of candidates to scale by, and a long
question, which matches more words, leans on the words by itself.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chains.ports import ChunkPlace
from chains.text.words import plain_words


def cosines(rows: NDArray[np.float32], vector: Sequence[float]) -> NDArray[np.float32]:
    """Return the cosine of `vector` to each row, clipped to 0-1; that of a row of zeros is 0."""
    if not len(rows):
        return np.zeros(0, dtype=np.float32)
    asked = np.asarray(vector, dtype=np.float32)
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(asked)
    similarities: NDArray[np.float32] = np.clip(rows @ asked / np.where(lengths == 0, 1, lengths), 0.0, 1.0)
    return similarities


# BM25 (0 to about 20) times this stands beside a cosine; the figures are flat between .015 and .04.
BM25_WEIGHT = 0.025
# A chunk of a text without headings also gets this much of its better neighbour's BM25.
NEIGHBOUR_WEIGHT = 0.2
# Among the chunks of a long document that the question names the words say less, since all share the subject's, and
# all stand before those of others. Flat between .0075 and .0125, and between .1 and .4.
BM25_WEIGHT_NAMED, NAMED_WEIGHT = 0.01, 0.2
# More chunks of one document than this stand behind those of the others.
PER_DOCUMENT = 5
# Near-duplicates are looked for from the first of these, among the second.
LEADERS, POOL = 10, 30


class Candidate(NamedTuple):
    """A chunk that one of the searches found; `score` is its cosine similarity, `fused` what it is ranked by."""

    id: str
    score: float
    place: ChunkPlace | None = None
    fused: float = 0.0

    @property
    def document(self) -> str:
        """The document the chunk is of; one in no known place stands for itself."""
        return self.place.document if self.place else self.id


def rank(
    candidates: Sequence[Candidate], bm25: Mapping[str, float], *, named: Mapping[str, float] | None = None
) -> list[Candidate]:
    """Return the candidates, best first.

    Of near-duplicates the copy leads whose document holds more of the best candidates; at most `PER_DOCUMENT` chunks
    of one document stand before those of the others. Where the question names long documents (`named`: weight by id),
    theirs lead, and may be any number.
    """
    near_by = {one.place[:2]: bm25.get(one.id, 0.0) for one in candidates if one.place is not None}
    weight, leads, fused = BM25_WEIGHT_NAMED if named else BM25_WEIGHT, named or {}, list[Candidate]()
    for one in candidates:
        words, place = bm25.get(one.id, 0.0), one.place
        if place is not None and not place.section:
            words += NEIGHBOUR_WEIGHT * max(near_by.get((place.document, place.number + step), 0.0) for step in (-1, 1))
        score = one.score + weight * words + NAMED_WEIGHT * leads.get(one.document, 0.0)
        fused.append(Candidate(one.id, one.score, place, score))
    ranked = sorted(fused, key=lambda one: one.fused, reverse=True)
    best = _lead_with_source(ranked[:POOL])
    return (best if named else _spread(best)) + ranked[POOL:]


def _lead_with_source(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Let near-duplicates swap places so that the document that says more about the question leads."""
    documents = [one.document for one in ranked]
    words = [_words(one.place.text if one.place else "") for one in ranked]
    support, result, seen = Counter(documents), list(ranked), set[int]()
    for first in range(min(LEADERS, len(ranked))):
        if first in seen:
            continue
        others = (place for place in range(first + 1, len(ranked)) if documents[place] != documents[first])
        copies = [first, *(place for place in others if place not in seen and _alike(words[first], words[place]))]
        if len(copies) > 1:
            seen.update(copies)
            preferred = sorted(copies, key=lambda place: -support[documents[place]])
            for place, chosen in zip(copies, preferred, strict=True):
                result[place] = ranked[chosen]
    return result


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(plain_words(text))


@lru_cache(maxsize=2**14)
def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether two texts of similar length share four fifths of the shorter one's words."""
    shorter, longer = sorted((len(one), len(other)))
    return longer < 2.5 * shorter and len(one & other) >= 0.8 * shorter


def _spread(ranked: Sequence[Candidate]) -> list[Candidate]:
    """Put what a document has beyond its share behind the others."""
    counts: Counter[str] = Counter()
    within: list[Candidate] = []
    beyond: list[Candidate] = []
    for one in ranked:
        counts[one.document] += 1
        (within if counts[one.document] <= PER_DOCUMENT else beyond).append(one)
    return within + beyond
