"""Detect evidence that contradicts a sentence: another number for the same thing, or a negation."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np

from chains.citations.cited_sentences import LONGEST_SENTENCE
from chains.citations.evidence import CONTENT, NOTHING_ASKED, Asked, Cell, Evidence, Matrix, match
from chains.citations.markers import inside
from chains.ports import WordSimilarity
from chains.text.negation import denied
from chains.text.quantities import Quantity, quantities
from chains.text.statements import MARKER, Statement
from chains.text.tokens import ORDINALS, WEIGHTS, Token, tokens
from chains.text.words import LISTS, word_set

Clash = Literal["none", "misplaced", "contradicted"]

CLASH_FACTORS: Final[dict[Clash, float]] = {"none": 1.0, "misplaced": 0.55, "contradicted": 0.25}
CLASH_COVERAGE: Final = 0.6  # The share of the sentence's other words that make two numbers speak of one thing.
YEAR_CLASH_COVERAGE: Final = 0.8  # Two years may well be two events.
DENIAL_COVERAGE: Final = 0.7  # The share of the sentence's words that make a statement speak of the same.
A_WORD: Final = 0.55  # Less than what a word says that names something, and more than one that does not.
_FEWEST_SHARED: Final = 2  # One shared word is not yet the same subject.
NEAR: Final = 0.6  # The cosine from which another word stands for a word of the question.
FEWEST_FOREIGN: Final = 2  # Words of the question that a statement with a figure repeats and only other passages have.
_LISTED: Final = frozenset({"row", "item"})
_LIMIT: Final = re.compile(
    r"\b(?:up to|most|least|max\w*|min\w*|limit\w*|more|less|fewer|within|below|under|over|above|until|by|before|cap\w*"
    r"|exceed\w*|only|than|deadline|after|older)\b|[<>≤≥+]",
    re.IGNORECASE,
)
_YEAR: Final = 364  # Days between its first and its last.


class Figure(NamedTuple):
    """A figure of a sentence: its place, the keys of its numbers, and what it measures."""

    span: tuple[int, int]
    keys: frozenset[str]
    quantity: Quantity | None


class Comparison:
    """A sentence of an answer, compared once with a passage; all that is said of the two reads this record.

    Attributes:
        sentence: without the sign of a list item before it.
        words: all of its words; none of what is longer than a sentence, for no passage says as much.
        content: those that carry something.
        asked: the words of the question.
    """

    def __init__(
        self, sentence: str, evidence: Evidence, similarity: WordSimilarity | None = None, asked: Asked = NOTHING_ASKED
    ) -> None:
        self.sentence, self.evidence, self.asked = MARKER.sub("", sentence, count=1), evidence, asked
        self.words = tokens(self.sentence) if len(self.sentence) <= LONGEST_SENTENCE else ()
        self.content = [word for word in self.words if word.weight > 0]
        self._similarity, self._question = similarity, tokens(asked.text)
        self._given = [one for text in (self.sentence, asked.text) for one in quantities(text) if one.measure]
        self._known = frozenset(word.key for word in self._question)  # With those of grammar.

    @cached_property
    def strengths(self) -> Matrix:
        """How strongly each statement of the evidence holds each word of `content`, shape (statements, content).

        A figure of the question is there where a range or a bound holds it: S$350 in "up to S$400".
        """
        strengths = match(self.content, self.evidence, self._similarity)
        for _, keys, figure in self.figures:
            if figure and keys <= self._known:
                columns = [column for column, word in enumerate(self.content) if word.key in keys]
                places = [place for place, home in enumerate(self.evidence.statements) if _bounds(home, figure)]
                strengths[np.ix_(places, columns)] = 1.0
        return strengths

    @cached_property
    def figures(self) -> list[Figure]:
        """The figures, dates and times of the sentence, and the numbers that are part of none."""
        read = [((one.start, one.end), one) for one in quantities(self.sentence)]
        numbers = [word for word in self.words if word.kind == "number"]
        spans = [span for span, _ in read]
        bare = [((word.start, word.end), None) for word in numbers if not inside(word.start, spans)]
        return [
            Figure(span, frozenset(word.key for word in numbers if inside(word.start, [span])), quantity)
            for span, quantity in (*read, *bare)
        ]

    def clash(self) -> Clash:
        """Return what in the evidence contradicts the sentence: a number first, or a negation, or a number's place."""
        if (clash := self._compare_numbers()) != "none":
            return clash
        coverage = self._coverage(np.array([word.weight for word in self.content], dtype=np.float32))
        best = self.evidence.statements[int(coverage.argmax())].tokens
        differ = _denied_here_alone(self.words, best) or _denied_here_alone(best, self.words)
        is_denied = differ and coverage.max() >= DENIAL_COVERAGE
        return "misplaced" if is_denied or self._in_another_cell() else "none"

    def _compare_numbers(self) -> Clash:
        """Return whether the evidence gives another number for what the sentence counts.

        Beside a number of the sentence's own, one that only repeats the question has to fit the place of that number
        alone: "five days before ETD it costs S$150" rests on the row for six to three days.

        Precision comes first: the best-aligned statement alone must hold `CLASH_COVERAGE` of the other words, and give
        a number of the same measure (currency, percentage, year, day of that month, or the same noun after it). The
        number is `contradicted` where the evidence has it nowhere, `misplaced` where only beside other words.
        """
        statements = self.evidence.statements
        own, repeated = list[tuple[Quantity, frozenset[str]]](), list[tuple[Quantity, frozenset[str]]]()
        for _, keys, one in self.figures:
            if keys and one and one.bound == "exact" and not one.label:
                (repeated if keys <= self._known else own).append((one, keys))
        homes = [home for home in statements if any(keys <= home.keys for _, keys in own)]
        if homes and any(
            all(self._clashes(one, home) and not _bounds(home, one) for home in homes) for one, _ in repeated
        ):
            return "misplaced"
        for one, keys in own:
            given = [home for home in statements if keys <= home.keys]
            if given and all(self._is_one_of_two(one, home) for home in given):
                return "misplaced"
        weights = np.array([0.0 if word.kind == "number" else word.weight for word in self.content], dtype=np.float32)
        coverage = self._coverage(weights)
        best = int(coverage.argmax())
        if np.count_nonzero(weights[self.strengths[best] == 1.0]) < _FEWEST_SHARED:
            return "none"
        clashing = []
        for one, keys in own or [pair for pair in repeated if not any(_bounds(home, pair[0]) for home in statements)]:
            needed = YEAR_CLASH_COVERAGE if one.high - one.low >= _YEAR and one.measure == "date" else CLASH_COVERAGE
            home = max((coverage[place] for place, other in enumerate(statements) if keys <= other.keys), default=0.0)
            if coverage[best] >= needed and 2 * home < coverage[best] and self._clashes(one, statements[best]):
                clashing.append(keys)
        is_elsewhere = all(keys <= self.evidence.occurrences.keys() for keys in clashing)
        return "none" if not clashing else "misplaced" if is_elsewhere else "contradicted"

    def _coverage(self, weights: Matrix) -> Matrix:
        """Return the share of the words' weights that each statement holds."""
        held = np.where(self.strengths == 1.0, weights, 0.0).sum(axis=1)  # BLAS warns of a product now and then.
        return np.asarray(held / max(float(weights.sum()), 1e-6), dtype=np.float32)

    def _clashes(self, figure: Quantity, statement: Statement) -> bool:
        """Return whether a statement gives only other figures of the measure, none of which the sentence says too.

        "14 days" is not "at least 7 days", though both may hold.
        """
        rivals = [other for other in statement.quantities if figure.measure and other.measure == figure.measure]
        said = [one.quantity for one in self.figures if one.quantity and one.quantity.measure == figure.measure]
        return bool(rivals) and all(one.high < mine.low or mine.high < one.low for one in rivals for mine in said)

    def _is_one_of_two(self, figure: Quantity, home: Statement) -> bool:
        """Return whether a statement does not say which of two figures holds, "5 % or 10 %", and the sentence does."""
        said = [one.quantity for one in self.figures if one.quantity]
        return any(
            home.compared[one.end : other.start].strip() == "or"
            and (figure.equals(one) or figure.equals(other))
            and not all(any(mine.equals(theirs) for mine in said) for theirs in (one, other))
            for one, other in pairwise(home.quantities)
        )

    def _in_another_cell(self) -> bool:
        """Return whether a cell or an item says what the sentence does, and another one fits its words better.

        "The pool is shut on Friday" says what stands beside Monday. The words of the question count as well: "5 days"
        answers it only from the row and the column that it asks about. A word that the row denies ("bill not issued")
        counts only where sentence or question deny it too. What the sentence says as well is no rival.
        """
        cells, unsaid = self.evidence.cells, list[Cell]()
        also_denied = denied(self.words) | denied(self._question)
        own = [figure for figure in self.figures if not figure.keys <= self._known]
        numbers = [figure.keys for figure in own] + [frozenset("0") for _ in also_denied]
        said = [("", one.keys, [other.span for other in own], one.quantity.kind if one.quantity else "") for one in own]
        written = self.sentence.casefold()
        for cell in cells:
            place = cell.text in written and re.search(rf"(?<!\w){re.escape(cell.text)}(?!\w)", written)
            if place and not cell.numbers:
                said.append((cell.text, frozenset(word.key for word in tokens(cell.text)), [place.span()], ""))
            elif not any(given <= cell.numbers for given in numbers):
                unsaid.append(cell)
        for text, keys, places, kind in said:
            homes = [cell for cell in cells if (cell.text == text if text else keys <= cell.numbers)]
            prose = [one for one in self.evidence.statements if one.kind not in _LISTED and keys <= one.keys]
            if not homes or (prose and not text):
                continue
            spoken = [*self._question, *(word for word in self.words if not inside(word.start, places))]
            weights = {word.key: word.weight for word in spoken}
            blocks = {home.statement.block for home in homes}
            rivals = [cell for cell in unsaid if cell.statement.block in blocks and (not kind or cell.may_be(kind))]
            mine = [self._worth(home, weights, also_denied) for home in homes]
            mine += [_worth(one.keys - keys, weights) for one in prose]
            if any(self._worth(one, weights, also_denied) >= max(mine) + A_WORD for one in rivals):
                return True
        return False

    def _worth(self, cell: Cell, weights: Mapping[str, float], also_denied: set[str]) -> float:
        """Return how much of what is spoken of stands around a cell; a range that holds a figure is that figure."""
        held = any(_bounds(cell.statement, figure) for figure in self._given)
        about = cell.about - (denied(cell.statement.tokens) - also_denied)
        return _worth(about, weights) + WEIGHTS["number"] * held

    def gives_a_figure_to_another_subject(self, asked: Asked) -> bool:
        """Return whether a figure is of something else in the passage than the sentence says, or the question asks.

        "The HS code of a lithium battery is 330499" takes the code of cosmetics, while other passages speak of
        batteries; "Up to USD 28" makes a limit of a price; of two rows, the one that the question's words stand in
        has to be given.
        """
        statements = self.evidence.statements
        figures = [figure for figure in self.figures if not figure.keys <= asked.keys]
        numbers = frozenset[str]().union(*(figure.keys for figure in figures))
        if not numbers:
            return False
        known = [word for word in self.content if word.weight >= CONTENT and word.kind != "number"]
        repeated = {word.key for word in known} & asked.repeatable
        lacking = repeated - self.evidence.occurrences.keys() - self.evidence.heading
        if len(lacking) >= FEWEST_FOREIGN:
            nearest = zip(self.content, self.strengths.max(axis=0, initial=0), strict=True)  # A rule has no words.
            lacking -= {word.key for word, near in nearest if near >= NEAR}
            if len(lacking) >= FEWEST_FOREIGN and lacking <= asked.shown:
                return True
        measured = [figure.quantity for figure in figures if figure.quantity and not figure.quantity.label]
        for limit in (one for one in measured if one.bound in {"most", "least"} and one.kind != "duration"):
            given = [(one, home) for home in statements for one in home.quantities if limit.equals(one)]
            bare = [one.bound == "exact" and not _LIMIT.search(f"{home.words} {home.announced}") for one, home in given]
            if bare and all(bare):
                return True
        wanted = {word.key: word.weight for word in asked.words if word.weight >= CONTENT and word.kind != "number"}
        kinds = {one.kind for one in measured} - {""}
        homes = [home for home in statements if numbers <= home.keys]
        rivals = [row for row in statements if row.cells and any(one.kind in kinds for one in row.quantities)]
        mine, theirs = (max((_worth(one.keys, wanted) for one in some), default=0.0) for some in (homes, rivals))
        ranks = [{word.key for word in one if word.text.lower() in ORDINALS} for one in (self.words, asked.words)]
        ranked = [{word.key for word in home.tokens if word.text.lower() in ORDINALS} for home in homes]
        is_of_another_rank = any(ranks) and all(rank and rank.isdisjoint(ranks[0] | ranks[1]) for rank in ranked)
        return bool(homes) and (theirs >= mine + FEWEST_FOREIGN or is_of_another_rank)


def _bounds(home: Statement, figure: Quantity) -> bool:
    """Return whether a range or a bound of a statement holds a figure that has a measure."""
    given = [one for one in home.quantities if one.measure == figure.measure != ""]
    return any(one.is_range and one.holds(figure) for one in given)


def _worth(keys: Collection[str], weights: Mapping[str, float]) -> float:
    return sum(weights.get(key, 0.0) for key in keys)


# Words that deny without a negation: "prohibited" for "not allowed".
_DENIALS: Final = word_set(LISTS["denials"])


def _denied_here_alone(words: Sequence[Token], others: Sequence[Token]) -> bool:
    said = {word.key for word in others} - denied(others)
    times = Counter(word.key for word in words)  # Of "Included | Not included" nothing is denied.
    is_denied = any(times[key] == 1 for key in denied(words) & said)
    return is_denied and not _holds(others, _DENIALS) and all(word.key != "0" for word in others)


def _holds(words: Sequence[Token], some: frozenset[str]) -> bool:
    return any(word.text.lower() in some for word in words)
