"""Compare a sentence of an answer with a passage: what of it the passage holds, gives otherwise, or denies."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
Weights = NDArray[np.float64]

CLASH_FACTORS: Final[dict[Clash, float]] = {"none": 1.0, "misplaced": 0.55, "contradicted": 0.25}
CLASH_COVERAGE: Final = 0.6  # The share of the sentence's words that make two numbers speak of one thing.
DENIAL_COVERAGE: Final = 0.7  # The same for a statement that denies what the sentence says.
A_WORD: Final = 0.55  # Less than what a word says that names something, and more than one that does not.
_FEWEST_SHARED: Final = 2  # One shared word is not yet the same subject.
NEAR: Final = 0.6  # The cosine from which another word stands for a word of the question.
FEWEST_FOREIGN: Final = 2  # Words of the question that a statement with a figure repeats and only other passages have.
_LIMIT: Final = re.compile(
    r"\b(?:up to|most|least|max\w*|min\w*|limit\w*|more|less|fewer|within|below|under|over|above|until|by|before|cap\w*"
    r"|exceed\w*|only|than|deadline|after|older)\b|[<>≤≥+]",
    re.IGNORECASE,
)
_DENIALS: Final = word_set(LISTS["denials"])  # Words that deny without a negation: "prohibited" for "not allowed".


class Value(NamedTuple):
    """What a sentence gives at a place: a figure, with the keys of its numbers and what it measures, or a cell."""

    span: tuple[int, int]
    keys: frozenset[str]
    quantity: Quantity | None = None
    cell: str = ""

    def is_in(self, cell: Cell) -> bool:
        return cell.text == self.cell if self.cell else self.keys <= cell.numbers


class Comparison:
    """A sentence of an answer, compared once with a passage; all that is said of the two reads this record.

    Attributes:
        sentence: without the sign of a list item before it.
        words: all of its words; none of what is longer than a sentence, for no passage says as much.
        content: those that carry something.
        asked: the words of the question.
        figures: the figures, dates and times of the sentence, and the numbers that are part of none.
        own, repeated: those figures that the question does not say, and those that it does.
    """

    def __init__(
        self, sentence: str, evidence: Evidence, similarity: WordSimilarity | None = None, asked: Asked = NOTHING_ASKED
    ) -> None:
        self.sentence, self.evidence, self.asked = MARKER.sub("", sentence, count=1), evidence, asked
        self.words = tokens(self.sentence) if len(self.sentence) <= LONGEST_SENTENCE else ()
        self.content = [word for word in self.words if word.weight > 0]
        self._similarity, self._question = similarity, tokens(asked.text)
        self._known = frozenset(word.key for word in self._question)  # With those of grammar.
        numbers = [word for word in self.words if word.kind == "number"]
        spans = {(one.start, one.end): one for one in quantities(self.sentence)}
        bare = {(word.start, word.end): None for word in numbers if not inside(word.start, spans)}
        self.figures = [
            Value(span, frozenset(word.key for word in numbers if inside(word.start, [span])), quantity)
            for span, quantity in (spans | bare).items()
        ]
        self.repeated = [one for one in self.figures if one.keys <= self._known]
        self.own = [one for one in self.figures if one not in self.repeated]
        self._given = [one for text in (self.sentence, asked.text) for one in quantities(text) if one.measure]

    @cached_property
    def _denied(self) -> set[str]:
        return denied(self.words) | denied(self._question)

    @cached_property
    def strengths(self) -> Matrix:
        """How strongly each statement of the evidence holds each word of `content`, shape (statements, content).

        A figure of the question is there where a range or a bound holds it: S$350 in "up to S$400".
        """
        strengths = match(self.content, self.evidence, self._similarity)
        for _, keys, figure, _ in self.repeated:
            columns = [column for column, word in enumerate(self.content) if word.key in keys]
            places = [place for place, home in enumerate(self.evidence.statements) if _bounds(home, figure)]
            strengths[np.ix_(places, columns)] = 1.0
        return strengths

    def clash(self) -> Clash:
        """Return what in the evidence contradicts the sentence: another figure, a negation, or a value's place.

        Precision comes first.
        """
        if clash := self._rivalled():
            return clash
        nearest, shares = self._nearest(np.array([word.weight for word in self.content]))
        others = self.evidence.statements[nearest].tokens
        differ = _denied_here_alone(self.words, others) or _denied_here_alone(others, self.words)
        is_denied = differ and shares[nearest] >= DENIAL_COVERAGE
        return "misplaced" if is_denied or self._is_misplaced() else "none"

    def _nearest(self, weights: Weights) -> tuple[int, Weights]:
        """Return the place of the statement that holds most of the words' weights, and the share that each holds."""
        held = np.where(self.strengths == 1.0, weights, 0.0).sum(axis=1)  # BLAS warns of a product now and then.
        return int(held.argmax()), held / max(weights.sum(), 1e-6)

    def _rivalled(self) -> Clash | None:
        """Return what it means that a figure has a rival; None where none has.

        That is where the statement that holds most of the other words gives only other figures of the measure
        (currency, percentage, the same noun after it). The figure is `contradicted` where the evidence has it nowhere,
        `misplaced` where only beside other words.
        """
        weights = np.array([0.0 if word.kind == "number" else word.weight for word in self.content])
        nearest, shares = self._nearest(weights)
        statements = self.evidence.statements
        is_near = np.count_nonzero(weights[self.strengths[nearest] == 1.0]) >= _FEWEST_SHARED
        missing = [one for one in self.repeated if not any(_bounds(home, one.quantity) for home in statements)]
        rivalled = [
            figure
            for figure in self.own or missing
            if self._clashes(figure.quantity, statements[nearest])
            and 2 * max(shares[[figure.keys <= home.keys for home in statements]], default=0.0) < shares[nearest]
        ]
        if not rivalled or not is_near or shares[nearest] < CLASH_COVERAGE:
            return None
        is_elsewhere = all(figure.keys <= self.evidence.occurrences.keys() for figure in rivalled)
        return "misplaced" if is_elsewhere else "contradicted"

    def _is_misplaced(self) -> bool:
        """Return whether the sentence gives a value to another subject than the evidence does.

        "The pool is shut on Friday" says what stands beside Monday: another cell fits the sentence's words better. The
        words of the question count as well: "5 days" answers it only from the row and the column that it asks about.
        What the sentence says as well is no rival.
        """
        cells = [cell for cell in self.evidence.cells if cell.block >= 0]
        # "20 kg" of "20 kg parcel" and "3 days" above a column say which row or column is meant, and are no values.
        named = {figure[:3] for cell in cells for figure in quantities(cell.name)}
        own = [one for one in self.own if (one.quantity or ())[:3] not in named or any(map(one.is_in, cells))]
        values, unsaid = [*own], list[Cell]()
        numbers = [one.keys for one in own] + [frozenset("0") for _ in self._denied]
        written = self.sentence.casefold()
        for cell in cells:
            place = cell.text in written and re.search(rf"(?<!\w){re.escape(cell.text)}(?!\w)", written)
            if place and not cell.numbers:
                values.append(Value(place.span(), frozenset(), cell=cell.text))
            elif not any(keys <= cell.numbers for keys in numbers):
                unsaid.append(cell)
        for value in values:
            homes = [cell for cell in self.evidence.cells if value.is_in(cell)]
            if not homes or any(home.is_quoted(written) for home in homes):
                continue
            fitting = [home for home in homes if self._fits(value.quantity, home.statement)]
            spans = [value.span] if value.cell else [one.span for one in own]
            spoken = [*self._question, *(word for word in self.words if not inside(word.start, spans))]
            weights = {word.key: word.weight for word in spoken}
            mine = max((self._worth(home, weights) for home in fitting), default=0.0)
            kind, blocks = value.quantity.kind if value.quantity else "", {home.block for home in fitting} - {-1}
            rivals = [cell for cell in unsaid if cell.block in blocks and (not kind or cell.may_be(kind))]
            is_beaten = any(self._worth(cell, weights) >= mine + A_WORD for cell in rivals)
            if is_beaten or not fitting:
                return True
        return False

    def _fits(self, figure: Quantity | None, home: Statement) -> bool:
        """Return whether a statement gives a figure for the case that the question names, and no other in its place.

        "Five days before ETD it costs S$150" rests on the row for six to three days; "5 %" on no "5 % or 10 %".
        """
        if figure is None:
            return True
        said = [one.quantity for one in self.figures if one.quantity]
        is_open = any(
            home.compared[one.end : other.start].strip() == "or"
            and (figure.equals(one) or figure.equals(other))
            and not all(any(mine.equals(theirs) for mine in said) for theirs in (one, other))
            for one, other in pairwise(home.quantities)
        )
        return not is_open and not any(self._clashes(one.quantity, home) for one in self.repeated)

    def _clashes(self, figure: Quantity | None, statement: Statement) -> bool:
        """Return whether a statement gives only other values than an exact figure, none of which the sentence says too.

        "14 days" is not "at least 7 days", though both may hold. A figure of the question may lie in a bound.
        """
        if figure is None or figure.bound != "exact" or figure.label:
            return False
        rivals = [other for other in statement.quantities if other.measure == figure.measure != ""]
        said = [one.quantity for one in self.figures if one.quantity and one.quantity.measure == figure.measure]
        differ = all(one.high < mine.low or mine.high < one.low for one in rivals for mine in said)
        is_asked = any(figure == one.quantity for one in self.repeated)
        return bool(rivals) and differ and not (is_asked and _bounds(statement, figure))

    def _worth(self, cell: Cell, weights: Mapping[str, float]) -> float:
        """Return how much of what is spoken of stands around a cell; a range that holds a figure is that figure.

        A word that the row denies ("bill not issued") counts only where sentence or question deny it too.
        """
        held = any(_bounds(cell.statement, figure) for figure in self._given)
        about = cell.about - (denied(cell.statement.tokens) - self._denied)
        return _worth(about, weights) + WEIGHTS["number"] * held

    def gives_a_figure_to_another_subject(self) -> bool:
        """Return whether a figure is of something else in the passage than the sentence says, or the question asks.

        "The HS code of a lithium battery is 330499" takes the code of cosmetics, while other passages speak of
        batteries; "Up to USD 28" makes a limit of a price; of two rows, the one that the question's words stand in
        has to be given, and of two ranks the one that it names.
        """
        asked, statements = self.asked, self.evidence.statements
        if not self.own:
            return False
        lacking = {word.key for word in self.content if word.weight >= CONTENT} & asked.repeatable
        lacking -= self.evidence.occurrences.keys() | self.evidence.heading
        if len(lacking) >= FEWEST_FOREIGN and lacking <= asked.shown:
            nearest = zip(self.content, self.strengths.max(axis=0, initial=0), strict=True)  # A rule has no words.
            if sum(near < NEAR for word, near in nearest if word.key in lacking) >= FEWEST_FOREIGN:
                return True
        measured = [one.quantity for one in self.own if one.quantity]
        for limit in (one for one in measured if one.bound in {"most", "least"} and one.kind != "duration"):
            given = [home for home in statements if any(limit.equals(one) for one in home.quantities)]
            if given and not any(_LIMIT.search(f"{home.words} {home.announced}") for home in given):
                return True
        wanted = {word.key: word.weight for word in asked.words if word.weight >= CONTENT and word.kind != "number"}
        kinds = {one.kind for one in measured} - {""}
        homes = [home for home in statements if all(one.keys <= home.keys for one in self.own)]
        rivals = [row for row in statements if row.cells and any(one.kind in kinds for one in row.quantities)]
        mine, theirs = (max((_worth(one.keys, wanted) for one in some), default=0.0) for some in (homes, rivals))
        ranks = _ranks(self.words) | _ranks(asked.words)
        ranked = [_ranks(home.tokens) for home in homes]
        is_of_another_rank = bool(ranks) and all(rank and rank.isdisjoint(ranks) for rank in ranked)
        return bool(homes) and (theirs >= mine + FEWEST_FOREIGN or is_of_another_rank)


def _ranks(words: Sequence[Token]) -> set[str]:
    return {word.key for word in words if word.text.lower() in ORDINALS}


def _bounds(home: Statement, figure: Quantity | None) -> bool:
    """Return whether a range or a bound of a statement holds a figure that has a measure."""
    ranges = [one for one in home.quantities if one.is_range and one.measure]
    return figure is not None and any(one.measure == figure.measure and one.holds(figure) for one in ranges)


def _worth(keys: Collection[str], weights: Mapping[str, float]) -> float:
    return sum(weights.get(key, 0.0) for key in keys)


def _denied_here_alone(words: Sequence[Token], others: Sequence[Token]) -> bool:
    said = {word.key for word in others} - denied(others)
    times = Counter(word.key for word in words)  # Of "Included | Not included" nothing is denied.
    is_denied = any(times[key] == 1 for key in denied(words) & said)
    denies = any(word.text.lower() in _DENIALS or word.key == "0" for word in others)
    return is_denied and not denies
