"""Detect evidence that contradicts a sentence: another number for the same thing, or a negation."""

from collections.abc import Collection, Mapping, Sequence
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chains.citations.evidence import Evidence
from chains.citations.markers import inside
from chains.text.quantities import Quantity, quantities
from chains.text.statements import Statement
from chains.text.tokens import Token, tokens
from chains.text.words import word_set

Clash = Literal["none", "misplaced", "denied", "contradicted"]

CLASH_FACTORS: Final[dict[Clash, float]] = {"none": 1.0, "misplaced": 0.55, "denied": 0.55, "contradicted": 0.25}
CLASH_COVERAGE: Final = 0.6  # The share of the sentence's other words that make two numbers speak of one thing.
YEAR_CLASH_COVERAGE: Final = 0.8  # Two years may well be two events.
DENIAL_COVERAGE: Final = 0.7  # The share of the sentence's words that make a statement speak of the same.
A_WORD: Final = 0.55  # Less than what a word says that names something, and more than one that does not.
_FEWEST_SHARED: Final = 2  # One shared word is not yet the same subject.
_LISTED: Final = frozenset({"row", "item"})
_ZERO: Final = frozenset({"0"})
_DASHES: Final = " -–—"
_YEAR: Final = 364  # Days between its first and its last.


class Figure(NamedTuple):
    """A figure of a sentence: its place, the keys of its numbers, and what it measures."""

    span: tuple[int, int]
    keys: frozenset[str]
    quantity: Quantity | None


def figures_of(text: str, words: Sequence[Token]) -> list[Figure]:
    """Return the figures, dates and times of a text, and the numbers that are part of none."""
    read = [((one.start, one.end), one) for one in quantities(text)]
    numbers = [word for word in words if word.kind == "number"]
    spans = [span for span, _ in read]
    bare = [((word.start, word.end), None) for word in numbers if not inside(word.start, spans)]
    return [
        Figure(span, frozenset(word.key for word in numbers if inside(word.start, [span])), quantity)
        for span, quantity in (*read, *bare)
    ]


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
    figures, exact = figures_of(sentence, words), strengths == 1.0
    clash = _compare_numbers(figures, {word.key for word in question}, evidence, content, exact)
    if clash != "none":
        return clash
    weights = np.array([word.weight for word in content], dtype=np.float32)
    coverage = exact @ weights / weights.sum()
    best = evidence.statements[int(coverage.argmax())].tokens
    differ = _denied_here_alone(words, best) or _denied_here_alone(best, words)
    if differ and coverage.max() >= DENIAL_COVERAGE:
        return "denied"
    return "misplaced" if _in_another_cell(figures, words, question, evidence) else "none"


def _compare_numbers(
    figures: Sequence[Figure],
    asked: Collection[str],
    evidence: Evidence,
    content: Sequence[Token],
    exact: NDArray[np.bool_],
) -> Clash:
    """Return whether the evidence gives another number for what the sentence counts.

    Beside a number of the sentence's own, one that only repeats the question (`asked` holds its words) has to fit the
    place of that number alone: "five days before ETD it costs S$150" rests on the row for six to three days.

    Precision comes first: the best-aligned statement alone must hold `CLASH_COVERAGE` of the other words, and give a
    number of the same measure (currency, percentage, year, day of that month, or the same noun after it). The number
    is `contradicted` where the evidence has it nowhere, `misplaced` where it has it only beside other words.
    """
    statements = evidence.statements
    said = [figure.quantity for figure in figures if figure.quantity]
    sure = [(one, keys) for _, keys, one in figures if keys and one and one.bound == "exact" and not one.label]
    if own := [(one, keys) for one, keys in sure if not keys.issubset(asked)]:
        homes = [statement for statement in statements if any(keys <= statement.keys for _, keys in own)]
        repeated = [one for one, keys in sure if keys.issubset(asked)]
        if homes and any(all(_clashes(one, said, home) for home in homes) for one in repeated):
            return "misplaced"
        sure = own
    weights = np.array([0.0 if word.kind == "number" else word.weight for word in content], dtype=np.float32)
    coverage = np.where(exact, weights, np.float32(0)).sum(axis=1) / max(float(weights.sum()), 1e-6)
    best = int(coverage.argmax())
    if np.count_nonzero(weights[exact[best]]) < _FEWEST_SHARED:
        return "none"
    clashing = []
    for one, keys in sure:
        needed = YEAR_CLASH_COVERAGE if one.high - one.low >= _YEAR and one.measure == "date" else CLASH_COVERAGE
        home = max((coverage[place] for place, other in enumerate(statements) if keys <= other.keys), default=0.0)
        if coverage[best] >= needed and 2 * home < coverage[best] and _clashes(one, said, statements[best]):
            clashing.append(keys)
    if not clashing:
        return "none"
    return "misplaced" if all(keys <= evidence.occurrences.keys() for keys in clashing) else "contradicted"


def _clashes(figure: Quantity, said: Sequence[Quantity], statement: Statement) -> bool:
    """Return whether a statement gives only other figures of the measure, none of which the sentence says too.

    "14 days" is not "at least 7 days", though both may hold.
    """
    rivals = [other for other in statement.quantities if figure.measure and other.measure == figure.measure]
    return bool(rivals) and all(
        rival.measure != mine.measure or rival.high < mine.low or mine.high < rival.low
        for rival in rivals
        for mine in (figure, *said)
    )


def _in_another_cell(
    figures: Sequence[Figure], words: Sequence[Token], question: Sequence[Token], evidence: Evidence
) -> bool:
    """Return whether a number of the sentence stands in a row, item or column, and another speaks more of its words.

    The words of the question count as well: "5 days" answers it only from the row that it asks about. A word that the
    row denies ("bill not issued") counts only where sentence or question deny it too. A row or cell whose own number
    the sentence gives as well is no rival.
    """
    asked = {word.key for word in question}
    own = [figure for figure in figures if not figure.keys <= asked]
    entries = [statement for statement in evidence.statements if statement.kind in _LISTED]
    also_denied = denied(words) | denied(question)
    said = [figure.keys for figure in own] + [_ZERO for _ in also_denied]
    for span, keys, _ in own if entries else ():
        homes = [statement for statement in evidence.statements if keys <= statement.keys]
        if not homes or any(home.kind not in _LISTED for home in homes):
            continue
        weights = {word.key: word.weight for word in words if not inside(word.start, [span])}
        weights |= {word.key: word.weight for word in question}
        blocks = {home.block for home in homes}
        rivals = [entry for entry in entries if entry.block in blocks and not any(
            given <= numbers for given in said for numbers in _values(entry))]  # fmt: skip
        worth = [
            [sum(weights.get(key, 0.0) for key in entry.keys - (denied(entry.tokens) - also_denied)) for entry in some]
            for some in (homes, rivals)
        ]
        if max(worth[1], default=-1.0) >= max(worth[0]) + A_WORD:
            return True
        if all(_in_another_column(home, keys, said, weights) for home in homes):
            return True
    return False


def _values(statement: Statement) -> list[frozenset[str]]:
    """Return the numbers of each cell of a row, or of an item: those of a row's subject name it."""
    texts = [cell.text for cell in statement.cells[1:]] or [statement.words]
    return [frozenset(word.key for word in tokens(text) if word.kind == "number") for text in texts]


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


REACH: Final = 4  # Words after a negation that may hold what it denies, and words before it that may open a condition.

_NEGATIONS: Final = word_set("not no never without neither nor cannot none nobody nothing nowhere")
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


def _denied_here_alone(words: Sequence[Token], others: Sequence[Token]) -> bool:
    said = {word.key for word in others} - denied(others)
    return bool(denied(words) & said) and not _holds(others, _DENIALS) and all(word.key != "0" for word in others)


def _holds(words: Sequence[Token], some: frozenset[str]) -> bool:
    return any(word.text.lower() in some for word in words)


def is_negation(word: Token) -> bool:
    text = word.text.lower()
    return text in _NEGATIONS or text.endswith(_CONTRACTIONS)


def denied(words: Sequence[Token]) -> set[str]:
    """Return the words that a negation before them denies, outside conditions."""
    keys = set()
    for place, negation in enumerate(words):
        if is_negation(negation) and not _holds(words[max(0, place - REACH) : place], _CONDITIONS):
            behind = words[place + 1 : place + 1 + REACH]
            said = (
                word for word in behind if word.text.lower() in _LIMITS or (word.weight > 0 and word.key != "longer")
            )
            word = next(said, None)  # "no longer" denies what follows it.
            if word and word.text.lower() not in _LIMITS:
                keys.add(word.key)
    return keys
