"""Detect evidence that contradicts a sentence: another number for the same thing, or a negation."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from chains.citations.evidence import Evidence
from chains.citations.markers import inside
from chains.text.quantities import Quantity, quantities
from chains.text.statements import Statement
from chains.text.tokens import Token, tokens
from chains.text.words import word_set

Clash = Literal["none", "misplaced", "denied", "contradicted"]

Stated = tuple[tuple[int, int], frozenset[str], Quantity | None]
"""A figure of a sentence: its place, the keys of its numbers, and what it measures."""

CLASH_FACTORS: Final[dict[Clash, float]] = {"none": 1.0, "misplaced": 0.55, "denied": 0.55, "contradicted": 0.25}
CLASH_COVERAGE: Final = 0.6  # The share of the sentence's other words that make two numbers speak of one thing.
YEAR_CLASH_COVERAGE: Final = 0.8  # Two years may well be two events.
A_WORD: Final = 0.55  # Less than what a word says that names something, and more than one that does not.
_LISTED: Final = frozenset({"row", "item"})
_ZERO: Final = frozenset({"0"})
_DASHES: Final = " -–—"
_YEAR: Final = 364  # Days between its first and its last.
_FEWEST_SHARED: Final = 2  # One shared word is not yet the same subject.


def find_clash(
    sentence: str,
    words: Sequence[Token],
    evidence: Evidence,
    content: Sequence[Token],
    strengths: NDArray[np.float32],
    *,
    question: Sequence[Token],
) -> Clash:
    """Return what in the evidence contradicts the sentence: a number first, or a negation, or the place of a number.

    Args:
        sentence: the sentence of the answer.
        words: all of its words.
        evidence: the cited passage.
        content: the words of the sentence that carry something.
        strengths: how strongly each statement of the evidence holds each of these, shape (statements, words).
        question: all words of the question.
    """
    stated = _figures(sentence, words)
    weights = np.array([word.weight for word in content], dtype=np.float32)
    clash = _compare_numbers(stated, {word.key for word in question}, evidence, content, strengths)
    if clash == "none" and is_denied(words, evidence, (strengths == 1.0) @ weights / weights.sum()):
        return "denied"
    if clash == "none" and _in_another_cell(stated, words, question, evidence):
        return "misplaced"
    return clash


def _compare_numbers(
    stated: Sequence[Stated],
    asked: Collection[str],
    evidence: Evidence,
    content: Sequence[Token],
    strengths: NDArray[np.float32],
) -> Clash:
    """Return whether the evidence gives another number for what the sentence counts.

    Beside a number of the sentence's own, one that only repeats the question (`asked` holds its words) has to fit the
    place of that number alone: "five days before ETD it costs S$150" rests on the row for six to three days.

    Precision comes first: the best-aligned sentence alone must hold `CLASH_COVERAGE` of the other words, and give a
    number of the same measure (currency, percentage, year, day of that month, or the same noun after it). The number
    is `contradicted` where the evidence has it nowhere, `misplaced` where it has it only beside other words.
    """
    figures = [quantity for _, _, quantity in stated if quantity]
    exact = [(one, keys) for _, keys, one in stated if keys and one and one.bound == "exact" and not one.label]
    if own := [(one, keys) for one, keys in exact if not keys.issubset(asked)]:
        homes = [statement for statement in evidence.statements if any(keys <= statement.keys for _, keys in own)]
        repeated = [one for one, keys in exact if keys.issubset(asked)]
        if homes and any(all(_clashes(one, figures, home) for home in homes) for one in repeated):
            return "misplaced"
        exact = own
    weights = np.array([0.0 if word.kind == "number" else word.weight for word in content], dtype=np.float32)
    coverage = np.where(strengths == 1.0, weights, np.float32(0)).sum(axis=1) / max(float(weights.sum()), 1e-6)
    best = int(coverage.argmax())
    if np.count_nonzero(weights[strengths[best] == 1.0]) < _FEWEST_SHARED:
        return "none"
    clashing = [
        keys
        for one, keys in exact
        if coverage[best]
        >= (YEAR_CLASH_COVERAGE if one.high - one.low >= _YEAR and one.measure == "date" else CLASH_COVERAGE)
        and 2 * _home(keys, evidence, coverage) < coverage[best]
        and _clashes(one, figures, evidence.statements[best])
    ]
    if not clashing:
        return "none"
    return "misplaced" if all(keys <= evidence.occurrences.keys() for keys in clashing) else "contradicted"


def _in_another_cell(
    stated: Sequence[Stated], words: Sequence[Token], question: Sequence[Token], evidence: Evidence
) -> bool:
    """Return whether a number of the sentence stands in a row, item or column, and another speaks more of its words.

    The words of the question count as well: "5 days" answers it only from the row that it asks about. A word that the
    row denies ("bill not issued") counts only where sentence or question deny it too. A row or cell whose own number
    the sentence gives as well is no rival.
    """
    known = {word.key for word in question}
    own = [(span, keys) for span, keys, _ in stated if not keys <= known]
    entries = [statement for statement in evidence.statements if statement.kind in _LISTED]
    if not own or not entries:
        return False
    also_denied = denied(words) | denied(question)
    said = [keys for _, keys in own] + [_ZERO for _ in also_denied]
    for span, keys in own:
        homes = [statement for statement in evidence.statements if keys <= statement.keys]
        if not homes or any(home.kind not in _LISTED for home in homes):
            continue
        blocks = {home.block for home in homes}
        rivals = [entry for entry in entries if entry.block in blocks and not any(
            keys <= numbers for keys in said for numbers in _values(entry))]  # fmt: skip
        around = (word for word in words if not inside(word.start, [span]))
        weights = {word.key: word.weight for word in (*around, *question)}
        mine = max(_weight_held(home.tokens, weights, also_denied) for home in homes) + A_WORD
        if any(_weight_held(rival.tokens, weights, also_denied) >= mine for rival in rivals):
            return True
        if all(_in_another_column(home, keys, said, weights) for home in homes):
            return True
    return False


def _figures(text: str, words: Sequence[Token]) -> list[Stated]:
    """Return the figures, dates and times of a text, and the numbers that are part of none."""
    figures: list[tuple[tuple[int, int], Quantity | None]] = [
        ((one.start, one.end), one) for one in quantities(text, words)
    ]
    numbers = [word for word in words if word.kind == "number"]
    spans = [span for span, _ in figures]
    figures += [((word.start, word.end), None) for word in numbers if not inside(word.start, spans)]
    return [(span, frozenset(word.key for word in numbers if inside(word.start, [span])), one) for span, one in figures]


def _weight_held(row: Sequence[Token], weights: Mapping[str, float], also_denied: Collection[str]) -> float:
    keys = {word.key for word in row} - (denied(row) - set(also_denied))
    return sum(weights.get(key, 0.0) for key in keys)


def _values(statement: Statement) -> list[frozenset[str]]:
    """Return the numbers of each cell of a row, or of an item: those of a row's subject name it."""
    texts = [cell.text for cell in statement.cells[1:]] or [statement.words]
    return [_numbers(text) for text in texts]


def _numbers(text: str) -> frozenset[str]:
    return frozenset(word.key for word in tokens(text) if word.kind == "number")


def _in_another_column(
    row: Statement, keys: frozenset[str], said: Sequence[frozenset[str]], weights: Mapping[str, float]
) -> bool:
    """Return whether a figure stands in one cell, and the sentence speaks more of the column of another."""
    if not row.cells or len(row.columns) != len(row.cells):
        return False
    mine, theirs = [], []
    for column, cell, numbers in zip(row.columns[1:], row.cells[1:], _values(row), strict=True):
        worth = sum(weights.get(name, 0.0) for name in {word.key for word in tokens(column)})
        if keys <= numbers:
            mine.append(worth)
        elif (numbers or not cell.text.strip(_DASHES)) and not any(given <= numbers for given in said):
            theirs.append(worth)
    return bool(mine and theirs) and max(theirs) >= max(mine) + A_WORD


def _home(keys: frozenset[str], evidence: Evidence, coverage: NDArray[np.float32]) -> float:
    """Return the best coverage among the statements that hold the numbers."""
    homes = (place for place, statement in enumerate(evidence.statements) if keys <= statement.keys)
    return max((float(coverage[place]) for place in homes), default=0.0)


def _clashes(figure: Quantity, said: Sequence[Quantity], statement: Statement) -> bool:
    """Return whether a statement gives only other figures of the measure, none of which the sentence says too."""
    rivals = [other for other in statement.quantities if figure.measure and other.measure == figure.measure]
    return bool(rivals) and all(_differ(rival, mine) for rival in rivals for mine in (figure, *said))


def _differ(rival: Quantity, figure: Quantity) -> bool:
    """Return whether two figures differ; "14 days" is not "at least 7 days", though both may hold."""
    return rival.measure != figure.measure or rival.high < figure.low or figure.high < rival.low


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


def is_denied(words: Sequence[Token], evidence: Evidence, coverage: NDArray[np.float32]) -> bool:
    """Return whether the statement that covers a sentence best uses a word of it that one alone denies."""
    best = int(coverage.argmax())
    theirs = evidence.statements[best].tokens
    differ = _denied_here_alone(words, theirs) or _denied_here_alone(theirs, words)
    return differ and bool(coverage[best] >= COVERAGE)


def _denied_here_alone(words: Sequence[Token], others: Sequence[Token]) -> bool:
    said = {word.key for word in others} - denied(others)
    return bool(denied(words) & said) and not _holds(others, _DENIALS) and all(word.key != "0" for word in others)


def denied(words: Sequence[Token]) -> set[str]:
    """Return the words that a negation before them denies, outside conditions."""
    places = [place for place, word in enumerate(words) if is_negation(word)]
    sure = [place for place in places if not _holds(words[max(0, place - REACH) : place], _CONDITIONS)]
    return {key for place in sure if (key := _next_content(words[place + 1 : place + 1 + REACH]))}


def _holds(words: Sequence[Token], some: frozenset[str]) -> bool:
    return any(word.text.lower() in some for word in words)


def is_negation(word: Token) -> bool:
    """Return whether a word denies what follows it."""
    text = word.text.lower()
    return text in _NEGATIONS or text.endswith(_CONTRACTIONS)


def _next_content(words: Sequence[Token]) -> str | None:
    for word in words:
        if word.text.lower() in _LIMITS:
            return None
        if word.weight > 0 and word.key != "longer":  # "no longer"
            return word.key
    return None
