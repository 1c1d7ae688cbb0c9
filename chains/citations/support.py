"""Score how well the words of a passage support a sentence, and find the words that do.

Every content word of the sentence looks for itself in the evidence. A match counts as much as the evidence around it
speaks of the sentence's other words, so that chance matches far apart carry little (a directed, position-aware
relative of Corley and Mihalcea 2005, "Measuring the semantic similarity of texts", with the window kernel of
Lv and Zhai 2009, "Positional language models for information retrieval"). The weights of the words are round numbers on
a flat optimum; what missing numbers and names take away is fitted (docs/citations.md).
"""

import re
from dataclasses import dataclass
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chains.citations.comparison import CLASH_FACTORS, Comparison
from chains.citations.evidence import NOTHING_ASKED, YES_OR_NO, Asked, Evidence, Matrix
from chains.ports import WordSimilarity
from chains.state import Passage
from chains.text.letters import letters
from chains.text.negation import negates

# `tests/evals/test_model_answers.py` says what this keeps of answers that language models wrote to our questions.
LEAST_SUPPORT: Final = 0.6  # From this support on, a passage says what a sentence says.

NEIGHBOUR: Final = 0.9  # What a word is worth one sentence away; 0.81 two away, and so on.
QUOTE_LIMIT: Final = 300
ADJOINING: Final = 3  # Statements that one quote may hold.
_ASKED: Final = 0.3  # What a word counts that only repeats the question, where the evidence lacks it.
_QUOTE_COST: Final = 0.001  # Per character: a second sentence must add words to be quoted.
NUMBERS_LOSE: Final = 0.7011  # The exponents of the missing numbers
NAMES_LOSE: Final = 0.3365  # and names, fitted on 349 claims of 277 documents.
MOST_LOST: Final = 0.5  # With a greater loss, support would fall while more words are found.
HALF: Final = 0.5  # Of a sentence that is not found by half nothing more is taken away.


@dataclass(frozen=True, slots=True)
class Support:
    """How well a passage supports a sentence, 0-1, and the quote that does: its `content[start:end]`.

    `elsewhere` is how well it would, but that it says so of something else or denies it; 0 where it does neither.
    """

    score: float
    quote: str
    start: int
    end: int
    contradicted: bool
    passage: Passage | None = None
    elsewhere: float = 0.0

    @property
    def supported(self) -> bool:
        """Return whether the passage says what the sentence says."""
        return self.score >= LEAST_SUPPORT and not self.contradicted


NONE: Final = Support(0.0, "", 0, 0, contradicted=False)


def support(
    sentence: str, evidence: Evidence, *, similarity: WordSimilarity | None = None, asked: Asked = NOTHING_ASKED
) -> Support:
    """Return how well the evidence supports the sentence, 0-1, the exact words that do, and whether numbers clash.

    The sentence has no citation markers. Without a similarity only shared stems count. A statement that repeats words
    of the question says nothing with them: they hardly count against it where the evidence lacks them, but for names.
    """
    return support_of(Comparison(sentence, evidence, similarity, asked))


def support_of(compared: Comparison) -> Support:
    """Return how well the evidence supports the sentence that it was compared with."""
    words, evidence = compared.content, compared.evidence
    if not words or not evidence.statements:
        return NONE
    if verbatim := _find_verbatim(compared.sentence, evidence):
        return Support(1.0, evidence.text[slice(*verbatim)], *verbatim, contradicted=False)
    strengths = compared.strengths
    if not strengths.any():
        return NONE
    # A name that the question says and the passage's title holds is no other answer.
    said = compared.asked.repeatable | (compared.asked.names & evidence.heading)
    repeated = np.array([word.key in said for word in words])
    seen = np.array([len(evidence.occurrences.get(word.key, ())) for word in words])
    rarity = np.sqrt(np.log((len(evidence.statements) + 2) / (seen + 0.5)))
    carried = np.array([word.weight for word in words]) * rarity
    weights = np.where(repeated & ~strengths.any(axis=0), _ASKED * carried, carried).astype(np.float32)
    clash = compared.clash()
    start, end = _quote(strengths, weights, evidence)
    fits = _losing(_align(strengths, weights), compared)
    score, elsewhere = round(fits * CLASH_FACTORS[clash], 4), fits if clash == "misplaced" else 0.0
    return Support(score, evidence.text[start:end], start, end, clash == "contradicted", elsewhere=elsewhere)


def _find_verbatim(sentence: str, evidence: Evidence) -> tuple[int, int] | None:
    """Return where the passage says the sentence: word for word, if not too long, or as a restated row or item."""
    text, wholes = evidence.text, [sentence.strip(), sentence.strip(" .")]
    verdict, _, rest = wholes[0].partition(", ")
    if verdict.lower() in YES_OR_NO and (verdict.lower() == "no") == negates(rest):
        wholes += [rest, rest[:1].upper() + rest[1:]]  # "No, a licence is not accepted" quotes "A licence ..."
    for wanted in wholes:
        start = text.find(wanted) if len(wanted) <= QUOTE_LIMIT else -1
        end = start + len(wanted)
        inside_a_word = text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()
        if start >= 0 and not inside_a_word:
            return start, end
    said = {form for whole in wholes for form in (letters(whole), _cells(whole))}
    for one in evidence.statements:
        # An item may be said with what announces it: "Not taken: cheques".
        items = [letters(one.above) + one.letters] if one.kind == "item" else []
        forms = [one.letters, _cells(one.said)] if one.cells else items
        if not said.isdisjoint(forms):
            return one.start, one.end
    return None


def _cells(said: str) -> str:
    """Return what is equal in two forms of a row, whatever the order of its cells."""
    return " ".join(sorted(map(letters, re.split(r" [–] |; ", said))))


def _align(strengths: Matrix, weights: NDArray[np.float32]) -> float:
    """Return the root of the share of words found, each scaled by its surroundings' share of the other words.

    The product is about a share squared; the root brings it back to the scale of a share.
    """
    total = weights.sum()
    nearby = spread(strengths) * weights
    others = total - weights
    surroundings = np.where(others > 0, (nearby.sum(axis=1, keepdims=True) - nearby) / np.maximum(others, 1e-6), 1.0)
    return sqrt(float((strengths * surroundings).max(axis=0) @ weights / total))


def spread(strengths: Matrix) -> Matrix:
    """Return the strengths spread to neighbours: the best over all statements, times `NEIGHBOUR` per step between."""
    felt, step = strengths, 1
    while step < len(strengths):  # Doubling the step reaches every distance in log2(statements) rounds.
        faded, nearer = NEIGHBOUR**step * felt, felt.copy()
        np.maximum(nearer[step:], faded[:-step], out=nearer[step:])
        np.maximum(nearer[:-step], faded[step:], out=nearer[:-step])
        felt, step = nearer, 2 * step
    return felt


def _losing(aligned: float, compared: Comparison) -> float:
    """Return the support of a sentence, from its share of words found and the numbers and names that are missing.

    Missing is what neither the evidence nor its heading holds and the question does not say; a name that is nearly
    there counts in part. Only numbers in figures count: those in words rank or sum up ("First, ...", "two ways").

    A sentence is supported where all of it is: one number or name that the passage lacks makes it doubtful, however
    many of its other words are there. Where few are, it says nothing more:

        loss = 1 - (1 + missing numbers) ** -a * (1 + missing names) ** -b, at most 0.5
        support = aligned - 2 * loss * (aligned - 0.5), where aligned is above 0.5; else aligned

    Support never falls while more words are found, and is the share itself where nothing is missing.
    """
    lacking = {"number": 0.0, "name": 0.0}
    known = compared.asked.repeatable | compared.evidence.heading
    for word, strength in zip(compared.content, compared.strengths.max(axis=0).tolist(), strict=True):
        if word.key not in known and (word.kind == "name" or word.text[0].isdecimal()):
            lacking[word.kind] += 1 - strength
    loss = 1 - float((1 + lacking["number"]) ** -NUMBERS_LOSE * (1 + lacking["name"]) ** -NAMES_LOSE)
    aligned = min(1.0, aligned)
    return aligned - min(MOST_LOST, loss) * max(0.0, aligned - HALF) / HALF


def _quote(strengths: Matrix, weights: NDArray[np.float32], evidence: Evidence) -> tuple[int, int]:
    """Return the bounds of the statement, or few adjoining ones, that support most; at most `QUOTE_LIMIT` long."""
    statements = evidence.statements
    best, bounds = -np.inf, (statements[0].start, statements[0].end)
    shares = strengths * (weights / weights.sum())
    for first in np.argsort(-shares.sum(axis=1), kind="stable")[:ADJOINING].tolist():
        together = shares[first]
        for last in range(first, min(first + ADJOINING, len(statements))):
            length = statements[last].end - statements[first].start
            if last > first and length > QUOTE_LIMIT:
                break
            together = np.maximum(together, shares[last])
            worth = float(together.sum()) - _QUOTE_COST * length
            if worth > best:
                best, bounds = worth, (statements[first].start, statements[last].end)
    return shorten(*bounds, evidence.text)


def shorten(start: int, end: int, text: str, limit: int = QUOTE_LIMIT) -> tuple[int, int]:
    """Return the bounds cut at a word border where the quote would be too long."""
    if end - start <= limit:
        return start, end
    border = max(text.rfind(" ", start, start + limit), text.rfind("\n", start, start + limit))
    return start, border if border > start else start + limit
