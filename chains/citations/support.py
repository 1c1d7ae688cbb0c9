"""Score how well the words of a passage support a sentence; find the words that do, and numbers that clash.

Every content word of the sentence looks for itself in the evidence. A match counts as much as the evidence around it
speaks of the sentence's other words, so that chance matches far apart carry little (a directed, position-aware
relative of Corley and Mihalcea 2005, "Measuring the semantic similarity of texts", with the window kernel of
Lv and Zhai 2009, "Positional language models for information retrieval"). The weights of the words are round numbers on
a flat optimum; what missing numbers and names take away is fitted (`Losses`).
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from importlib.resources import files
from math import log, sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from chains.citations.cited_sentences import LONGEST_SENTENCE
from chains.citations.clashes import CLASH_FACTORS, find_clash, is_negation
from chains.citations.evidence import CONTENT, NOTHING_ASKED, YES_OR_NO, Asked, Evidence
from chains.ports import WordSimilarity
from chains.text.letters import letters
from chains.text.sentences import MARKER
from chains.text.statements import Statement
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
    if len(sentence) > LONGEST_SENTENCE:  # No passage says as much.
        return Support(0.0, "", 0, 0, contradicted=False)
    everything = tokens(sentence)
    words = [word for word in everything if word.weight > 0]
    if not words or not evidence.statements:
        return Support(0.0, "", 0, 0, contradicted=False)
    if (verbatim := _find_verbatim(sentence, evidence)) is not None:
        return Support(1.0, evidence.text[slice(*verbatim)], *verbatim, contradicted=False)
    if cell := read_cell(everything, evidence):
        row, agrees = cell
        score = 1.0 if agrees else CLASH_FACTORS["contradicted"]
        return Support(score, row.words, row.start, row.end, contradicted=not agrees)
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
    clash = find_clash(sentence, everything, evidence, words, strengths, question=tokens(asked.text))
    start, end = quote(strengths, weights, evidence)
    score = round(score * CLASH_FACTORS[clash], 4)
    return Support(score, evidence.text[start:end], start, end, contradicted=clash == "contradicted")


def _find_verbatim(sentence: str, evidence: Evidence) -> tuple[int, int] | None:
    """Return where the passage says the sentence: word for word, if the quote is not too long, or as a restated row."""
    text = evidence.text
    for wanted in (sentence.strip(), sentence.strip(" .")):
        start = text.find(wanted) if len(wanted) <= QUOTE_LIMIT else -1
        end = start + len(wanted)
        inside_a_word = text[max(0, start - 1) : start].isalnum() or text[end : end + 1].isalnum()
        if start >= 0 and not inside_a_word:
            return start, end
    said = letters(sentence)
    return next(((one.start, one.end) for one in evidence.statements if one.cells and one.letters == said), None)


def read_cell(words: Sequence[Token], evidence: Evidence) -> tuple[Statement, bool] | None:
    """Return the row whose "yes" or "no" a sentence gives in the words of row and column alone, and if it agrees."""
    content = _content(words) - YES_OR_NO
    says_no = any(word.key == "no" or is_negation(word) for word in words)
    for row in evidence.statements:
        for column, cell in list(zip(row.columns, row.cells, strict=False))[1:]:
            verdict = cell.text.partition(" ")[0].strip(".,;").lower()
            subject, name = _content(tokens(row.cells[0].text)), _content(tokens(column))
            if verdict in YES_OR_NO and subject and name and content == subject | name:
                return row, says_no == (verdict == "no")
    return None


def _content(words: Sequence[Token]) -> set[str]:
    return {word.key for word in words if word.weight >= CONTENT}


def ceiling(words: Sequence[Token], evidence: Evidence) -> float:
    """Return the weighted share of content words found anywhere: `support` without similarity cannot much exceed it."""
    held = evidence.occurrences
    total = sum([word.weight for word in words])
    return sum([word.weight for word in words if word.key in held]) / total if total else 0.0


def weigh(words: Sequence[Token], evidence: Evidence) -> NDArray[np.float32]:
    """Return each word's weight: what its kind carries, times the root of its idf among the evidence's sentences."""
    count = len(evidence.statements) + 2
    seen = [len(evidence.occurrences.get(word.key, ())) for word in words]
    return np.array(
        [word.weight * sqrt(log(count / (places + 0.5))) for word, places in zip(words, seen, strict=True)],
        dtype=np.float32,
    )


def match(words: Sequence[Token], evidence: Evidence, similarity: WordSimilarity | None) -> Matrix:
    """Return how strongly each evidence sentence holds each word, shape (sentences, words)."""
    strengths = np.zeros((len(evidence.statements), len(words)), dtype=np.float32)
    if similarity is not None:
        _match_softly(strengths, words, evidence, similarity)
    for column, word in enumerate(words):
        if places := evidence.occurrences.get(word.key):
            strengths[list(places), column] = 1.0
    return strengths


def _match_softly(strengths: Matrix, words: Sequence[Token], evidence: Evidence, similarity: WordSimilarity) -> None:
    """Fill in the cosine of each word with the nearest word of each sentence; a number is never nearly right."""
    columns = [column for column, word in enumerate(words) if word.kind != "number"]
    terms = {fold(word.text): word.key for span in evidence.statements for word in span.tokens if word.weight > 0}
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
    """Return the bounds of the statement, or few adjoining ones, that support most; at most `QUOTE_LIMIT` long."""
    statements = evidence.statements
    best, bounds = -np.inf, (statements[0].start, statements[0].end)
    shares = strengths * (weights / weights.sum())
    for first in np.argsort(-shares.sum(axis=1), kind="stable")[:3].tolist():
        together = shares[first]
        for last in range(first, min(first + 3, len(statements))):
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


LOSSES_VERSION = 1
LOSSES_FILE = "losses.json"
MOST_LOST = 0.5  # With a greater loss, support would fall while more words are found.
HALF = 0.5  # Of a sentence that is not found by half nothing more is taken away.


@dataclass(frozen=True, slots=True)
class Missing:
    """How many numbers and names of a sentence are not found; a name that is nearly there counts in part."""

    numbers: float
    names: float


@dataclass(frozen=True, slots=True)
class Losses:
    """The exponents of the missing numbers and names, and what they were fitted on.

    A sentence is supported where all of it is: one number or name that the passage lacks makes it doubtful, however
    many of its other words are there. Where few are, it says nothing more. With the share of words found (`aligned`):

        loss = 1 - (1 + missing numbers) ** -a * (1 + missing names) ** -b, at most 0.5
        support = aligned - 2 * loss * (aligned - 0.5), where aligned is above 0.5; else aligned

    Support never falls while more words are found, and is the share itself where nothing is missing. The exponents a
    and b are fitted to the judgements of people; docs/citations.md says how.
    """

    numbers: float
    names: float
    fitted_on: str

    def support(self, aligned: float, missing: Missing) -> float:
        """Return the support of a sentence, from its share of words found and what is missing."""
        kept = float((1 + missing.numbers) ** -self.numbers * (1 + missing.names) ** -self.names)
        return aligned - min(MOST_LOST, 1 - kept) * max(0.0, aligned - HALF) / HALF

    def text(self) -> str:
        """Return the exponents as they are kept in a file."""
        return json.dumps({"version": LOSSES_VERSION} | asdict(self), indent=2) + "\n"


def read_losses(text: str) -> Losses:
    """Return the exponents of a file's text.

    Raises:
        ValueError: it is of another version, or an exponent is missing or negative.
    """
    kept = json.loads(text)
    numbers, names = (float(kept.get(name, -1)) for name in ("numbers", "names"))
    if kept.get("version") != LOSSES_VERSION or min(numbers, names) < 0:
        msg = f"{LOSSES_FILE} must be of version {LOSSES_VERSION}, its exponents `numbers` and `names` from 0 up"
        raise ValueError(msg)
    return Losses(numbers, names, str(kept.get("fitted_on")))


@lru_cache(maxsize=1)
def packaged_losses() -> Losses:
    """Return the packaged exponents."""
    return read_losses(files(__package__).joinpath(LOSSES_FILE).read_text("utf-8"))


def missing(
    words: Sequence[Token],
    strengths: NDArray[np.float32],
    evidence: Evidence,
    repeated: Sequence[bool] | None = None,
) -> Missing:
    """Return how many of a sentence's numbers and names are neither in the evidence nor in its heading.

    Only numbers in figures count: those in words rank or sum up ("First, ...", "two ways").

    Args:
        words: the content words of the sentence.
        strengths: how strongly each evidence sentence holds each word, shape (sentences, words).
        evidence: the cited passage.
        repeated: which of the words only repeat the question, and do not count; by default none.
    """
    lacking: dict[str, float] = {"number": 0.0, "name": 0.0}
    known = repeated or [False] * len(words)
    for word, strength, asked in zip(words, strengths.max(axis=0).tolist(), known, strict=True):
        exact = word.kind == "name" or word.text[0].isdecimal()
        if exact and not asked and word.key not in evidence.heading:
            lacking[word.kind] += 1 - strength
    return Missing(lacking["number"], lacking["name"])
