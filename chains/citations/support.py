"""Score how well the words of a passage support a sentence; find the words that do, and numbers that clash.

Every content word of the sentence looks for itself in the evidence. A match counts as much as the evidence around it
speaks of the sentence's other words, so that chance matches far apart carry little (a directed, position-aware
relative of Corley and Mihalcea 2005, "Measuring the semantic similarity of texts", with the window kernel of
Lv and Zhai 2009, "Positional language models for information retrieval"). The weights of the words are round numbers on
a flat optimum; what missing numbers and names take away is fitted (`losses`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chains.citations.clashes import CLASH_FACTORS, find_clash, in_another_row
from chains.citations.evidence import NOTHING_ASKED, Asked, Evidence
from chains.citations.losses import missing, packaged_losses
from chains.ports import WordSimilarity
from chains.text.sentences import MARKER
from chains.text.tokens import Token, fold, tokens

Matrix = NDArray[np.float32]

NEIGHBOUR: Final = 0.9  # What a word is worth one sentence away; 0.81 two away, and so on.
SOFT_FLOOR: Final = 0.3  # Cosines of word vectors below this are chance.
NAME_FLOOR: Final = 0.7  # A name is carried only by its own forms: Australia, Australian.
QUOTE_LIMIT: Final = 300
_ASKED: Final = 0.3  # What a word counts that only repeats the question, where the evidence lacks it.
_QUOTE_COST: Final = 0.001  # Per character: a second sentence must add words to be quoted.


@dataclass(frozen=True, slots=True)
class Support:
    """How well the evidence supports a sentence, 0-1, and the quote that does: `evidence.text[start:end]`."""

    score: float
    quote: str
    start: int
    end: int
    contradicted: bool


def support(
    sentence: str,
    evidence: Evidence,
    *,
    similarity: WordSimilarity | None = None,
    asked: Asked = NOTHING_ASKED,
) -> Support:
    """Return how well the evidence supports the sentence, 0-1, the exact words that do, and whether numbers clash.

    Args:
        sentence: One sentence of an answer, without its citation markers.
        evidence: The cited passage, from `prepare`.
        similarity: Cosines between words, to let a synonym count; without it only shared stems do.
        asked: The words of the question. A statement that repeats them says nothing with them, so they hardly count
            against it where the evidence lacks them, but for names.
    """
    sentence = MARKER.sub("", sentence, count=1)
    everything = tokens(sentence)
    words = [word for word in everything if word.weight > 0]
    if not words or not evidence.spans:
        return Support(0.0, "", 0, 0, contradicted=False)
    if (verbatim := _find_verbatim(sentence, evidence.text)) is not None:
        return Support(1.0, evidence.text[slice(*verbatim)], *verbatim, contradicted=False)
    weights = weigh(words, evidence)
    strengths = match(words, evidence, similarity)
    if not strengths.any():
        return Support(0.0, "", 0, 0, contradicted=False)
    repeated = [word.key in asked.repeatable for word in words]
    absent = np.logical_and(repeated, ~strengths.any(axis=0))
    weights = np.where(absent, np.float32(_ASKED) * weights, weights)
    aligned = min(1.0, align(strengths, weights))
    lacking = missing(words, strengths, evidence, repeated)
    score = packaged_losses().support(aligned, lacking)
    clash = find_clash(sentence, everything, words, evidence, strengths, asked=[word.key for word in asked.words])
    if clash == "none" and in_another_row(everything, tokens(asked.text), evidence):
        clash = "misplaced"
    start, end = quote(strengths, weights, evidence)
    score = round(score * CLASH_FACTORS[clash], 4)
    return Support(score, evidence.text[start:end], start, end, contradicted=clash == "contradicted")


def _find_verbatim(sentence: str, text: str) -> tuple[int, int] | None:
    """Return where the text holds the sentence word for word, if it does and the quote is not too long."""
    for wanted in (sentence.strip(), sentence.strip(" .")):
        start = text.find(wanted) if len(wanted) <= QUOTE_LIMIT else -1
        end = start + len(wanted)
        inside_a_word = text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()
        if start >= 0 and not inside_a_word:
            return start, end
    return None


def ceiling(words: Sequence[Token], evidence: Evidence) -> float:
    """Return the weighted share of content words found anywhere: `support` without similarity cannot much exceed it."""
    held = evidence.occurrences
    total = sum([word.weight for word in words])
    return sum([word.weight for word in words if word.key in held]) / total if total else 0.0


def weigh(words: Sequence[Token], evidence: Evidence) -> NDArray[np.float32]:
    """Return each word's weight: what its kind carries, times the root of its idf among the evidence's sentences."""
    count = len(evidence.spans) + 2
    seen = [len(evidence.occurrences.get(word.key, ())) for word in words]
    return np.array(
        [word.weight * sqrt(log(count / (places + 0.5))) for word, places in zip(words, seen, strict=True)],
        dtype=np.float32,
    )


def match(words: Sequence[Token], evidence: Evidence, similarity: WordSimilarity | None) -> Matrix:
    """Return how strongly each evidence sentence holds each word, shape (sentences, words)."""
    strengths = np.zeros((len(evidence.spans), len(words)), dtype=np.float32)
    if similarity is not None:
        _match_softly(strengths, words, evidence, similarity)
    for column, word in enumerate(words):
        if places := evidence.occurrences.get(word.key):
            strengths[list(places), column] = 1.0
    return strengths


def _match_softly(strengths: Matrix, words: Sequence[Token], evidence: Evidence, similarity: WordSimilarity) -> None:
    """Fill in the cosine of each word with the nearest word of each sentence; a number is never nearly right."""
    columns = [column for column, word in enumerate(words) if word.kind != "number"]
    terms = {fold(word.text): word.key for span in evidence.spans for word in span.tokens if word.weight > 0}
    if not columns or not terms:
        return
    cosines = similarity([fold(words[column].text) for column in columns], list(terms))
    floors = np.array([NAME_FLOOR if words[column].kind == "name" else SOFT_FLOOR for column in columns])
    cosines = np.where(cosines > floors[:, None], cosines, 0.0)
    keys = list(terms.values())
    for number in np.flatnonzero(cosines.any(axis=0)).tolist():
        for place in evidence.occurrences[keys[number]]:
            strengths[place, columns] = np.maximum(strengths[place, columns], cosines[:, number])


def align(strengths: Matrix, weights: NDArray[np.float32]) -> float:
    """Return the root of the share of words found, each scaled by its surroundings' share of the other words.

    The product is about a share squared; the root brings it back to the scale of a share.
    """
    total = weights.sum()
    nearby = spread(strengths) * weights
    others = total - weights
    surroundings = np.where(others > 0, (nearby.sum(axis=1, keepdims=True) - nearby) / np.maximum(others, 1e-6), 1.0)
    return sqrt(float((strengths * surroundings).max(axis=0) @ weights / total))


def spread(strengths: Matrix) -> Matrix:
    """Return the strengths spread to neighbours: the best over all sentences, times `NEIGHBOUR` per step between."""
    felt, step = strengths, 1
    while step < len(strengths):  # Doubling the step reaches every distance in log2(sentences) rounds.
        faded, nearer = NEIGHBOUR**step * felt, felt.copy()
        np.maximum(nearer[step:], faded[:-step], out=nearer[step:])
        np.maximum(nearer[:-step], faded[step:], out=nearer[:-step])
        felt, step = nearer, 2 * step
    return felt


def quote(strengths: Matrix, weights: NDArray[np.float32], evidence: Evidence) -> tuple[int, int]:
    """Return the bounds of the sentence, or few adjoining ones, that support most; at most `QUOTE_LIMIT` long."""
    spans = evidence.spans
    best, bounds = -np.inf, (spans[0].start, spans[0].end)
    shares = strengths * (weights / weights.sum())
    for first in np.argsort(-shares.sum(axis=1), kind="stable")[:3].tolist():
        together = shares[first]
        for last in range(first, min(first + 3, len(spans))):
            length = spans[last].end - spans[first].start
            if last > first and length > QUOTE_LIMIT:
                break
            together = np.maximum(together, shares[last])
            worth = float(together.sum()) - _QUOTE_COST * length
            if worth > best:
                best, bounds = worth, (spans[first].start, spans[last].end)
    return shorten(*bounds, evidence.text)


def shorten(start: int, end: int, text: str) -> tuple[int, int]:
    """Return the bounds cut at a word border where the quote would be too long."""
    if end - start <= QUOTE_LIMIT:
        return start, end
    border = max(text.rfind(" ", start, start + QUOTE_LIMIT), text.rfind("\n", start, start + QUOTE_LIMIT))
    return start, border if border > start else start + QUOTE_LIMIT
