"""Look up a question's figures in ranges and limits ("two days" in "1-3 days"); in tables "second", ways, "no"."""

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from itertools import pairwise
from typing import Final

from chains.text.negation import negates
from chains.text.quantities import JOINS, UNITS, Quantity, quantities
from chains.text.statements import Statement
from chains.text.tokens import Token, tokens

_CUT_OFF: Final = re.compile(r"\b(?:before|by|until|till|not later than|(after|later than|past))\s*$", re.I)
_NAMING: Final = {**UNITS, "age": UNITS["years"]}  # Words in the name of a column that tell the unit of its cells.
_SIZES: Final = frozenset({"length", "mass", "volume"})
_DAYS, _SPANS = frozenset({"date", "day of the year"}), _SIZES | {"duration", "months", "time of day"}


def ranged(rows: Sequence[Statement], wanted: Sequence[Quantity]) -> list[float]:
    """Return for each row of a table 1 where its ranges hold the most figures, -1 where another row's do, else 0.

    Only columns with ranges or bounds count, and only where one of their rows holds the figure. Where columns are named
    by ranges, and one of them holds it, all rows do.
    """
    counts = [0] * len(rows)
    for place in range(max((len(row.cells) for row in rows), default=0)) if wanted else ():
        cells = [row.cells[place].text if place < len(row.cells) else "" for row in rows]
        read = [(*quantities(cell), *seasons(cell)) for cell in cells]
        column = next((row.columns[place] for row in rows if place < len(row.columns)), "")
        if not any(one.is_range for some in read for one in some):
            measures = _DAYS if place else _DAYS | _SPANS  # "Half an hour" asks for the row "30 minutes".
            points = [tuple(one for one in some if one.measure in measures) for some in read]
            read = _steps(read) if _ELAPSED.search(column) else points
        for figure in wanted if read else ():
            pairs = zip(read, (tokens(f"{column} {cell}") for cell in cells), strict=True)
            holds = [any(is_within(given, figure, words) for given in cell) for cell, words in pairs]
            counts = [count + held for count, held in zip(counts, holds, strict=True)]
    most = max(counts, default=0)
    named = [one for name in (rows[0].columns if rows else ()) for one in quantities(name) if one.measure != "date"]
    named = [one for one in named if one.is_range]  # A year is a column of its own, no range.
    if not most and len(named) > 1 and any(is_within(one, figure) for one in named for figure in wanted):
        return [1.0] * len(rows)
    return [0.0 if not most else 1.0 if count == most else -1.0 for count in counts]


_ELAPSED: Final = re.compile(
    r"\b(?:after|beginning|commencing|elapsed|late|overdue|past|since|starting)\b"
    r"|^(?:(?:\w+ )?(?:date|day|month|valid|week)s? )?from\b",
    re.IGNORECASE,
)


def _steps(cells: Sequence[tuple[Quantity, ...]]) -> list[tuple[Quantity, ...]]:
    """Return the points of a column that rise from row to row as ranges, each to the next: what holds after 30 days."""
    points = [some[0] for some in cells if len(some) == 1]
    is_rising = all(low.measure == high.measure and low.high < high.low for low, high in pairwise(points))
    if len(points) < len(cells) or not is_rising:
        return []
    ends = [*(one.low - 1e-6 for one in points[1:]), float("inf")]
    return [(one._replace(high=end),) for one, end in zip(points, ends, strict=True)]


EXTREME: Final = re.compile(
    r"\b(?:(?P<price>(?:cheap|dear|pric)i?est|(?:least|most) expensive)|(?P<size>(?:heav|light|long|short)i?est)"
    r"|(?P<rank>(?:high|low)est)|(?:bigg|larg|small)est)\b",
    re.IGNORECASE,
)
_LEAST: Final = re.compile("cheap|least|light|low|short|small", re.IGNORECASE)
_SUM: Final = re.compile(r"\b(?:average|mean|overall|(?:sub)?totals?|sum)\b", re.IGNORECASE)


def extreme(rows: Sequence[Statement], question: str) -> Statement | None:
    """Return the row that "the cheapest" or "the longest" names; None where two rows have it.

    It counts in the first column with such a figure in each row; "the highest" is said of one that the question names.
    """
    found, rows = EXTREME.search(question), [row for row in rows if not _SUM.search(row.cells[0].text)]
    if not found or len(rows) < FEWEST_CROSSED:
        return None
    asked = {word.key for word in tokens(question) if word.weight}
    for place, name in enumerate(rows[0].columns[1:], start=1):
        read = [quantities(row.cells[place].text)[:1] if place < len(row.cells) else () for row in rows]
        figures = [one for some in read for one in some if one.measure not in {"%", "date"}]
        is_named = any(word.key in asked or word.text.lower() in UNITS for word in tokens(name))
        is_money, has_unit = (all(map(form, (one.measure for one in figures))) for form in (str.isupper, bool))
        is_size = not is_money and (found["size"] is None or has_unit or is_named)
        is_meant = is_money if found["price"] else is_named if found["rank"] else is_size
        if len(figures) == len(rows) and is_meant:
            worth = [-one.low if _LEAST.match(found[0]) else one.low for one in figures]
            return rows[worth.index(max(worth))] if worth.count(max(worth)) == 1 else None
    return None


_ONTO: Final = re.compile(r"\b(?:to|into|onto|towards)\W+(?:the )?$", re.IGNORECASE)
FEWEST_CROSSED: Final = 2  # So many rows of a matrix are named as its columns are.


def crossed(rows: Sequence[Statement], question: str) -> Statement | None:
    """Return the row of a matrix of ways that a question names with a column: "from Dunmore to Kestrel" is no way back.

    Rows are where a way begins, unless the corner of the table says `To`. None where the table is no matrix, or the
    question does not name one row and one column.
    """
    labels = {row.cells[0].text.casefold(): row for row in rows}
    named = [name.casefold() for name in (rows[0].columns if rows else ()) if name.casefold() in labels]
    if len(named) < FEWEST_CROSSED:
        return None
    asked = question.casefold()
    places = sorted(
        (found.start(), name) for name in {*named, *labels} if (found := re.search(rf"\b{re.escape(name)}\b", asked))
    )
    if len(places) != 2:  # noqa: PLR2004 - A row and a column.
        return None
    (place, first), (_, second) = places
    if _ONTO.search(asked[:place]):
        first, second = second, first
    begins = not rows[0].columns[0].casefold().startswith("to")
    return labels.get(first if begins else second)


_WAY: Final = re.compile(r"(.+?)\s*(?:\bto\b|[\u2192>\u2013-])\s*(.+)", re.IGNORECASE)
_END: Final = re.compile(r"\b(to|from) (?:the )?([^\W\d_]+)", re.IGNORECASE)


def turned(rows: Sequence[Statement], question: str) -> list[bool]:
    """Return which rows are of the way back: "Oyen to Selmar" where the question says "to Oyen"."""
    ways = [way for row in rows if (way := _WAY.fullmatch(row.cells[0].text.casefold()))]
    ends = [(2 if word == "to" else 1, name) for word, name in _END.findall(question.casefold())]
    turned = [any(name in way[3 - at].split() and name not in way[at].split() for at, name in ends) for way in ways]
    return turned if len(ways) == len(rows) and not all(turned) else [False] * len(rows)


MOST_OF_NAME: Final = 0.5  # The share of a column's words by which a question names it.
_WHICH: Final = re.compile(r"\W*(?:which|what|who|list|name)\b", re.IGNORECASE)


def denying(rows: Sequence[Statement], question: str) -> list[bool]:
    """Return which rows say "no" in the column that "Which plans have a mailbox?" names, or "yes" for "which not"."""
    asked = {word.key for word in tokens(question)} if _WHICH.match(question) else set()
    unwanted = "yes" if negates(question) else "no"
    names = [{word.key for word in tokens(name) if word.weight} for name in rows[0].columns[1:]]
    counts = Counter(key for keys in names for key in keys)  # "Chapel" tells no column of chapels from another.
    named = [
        [row.cells[place].text.lower() if place < len(row.cells) else "" for row in rows]
        for place, keys in enumerate(names, start=1)
        if sum(counts[key] == 1 for key in keys & asked) >= max(1, MOST_OF_NAME * len(keys))
    ]
    if told := [cells for cells in named if {"yes", "no"} <= {*cells}]:
        return [unwanted in cells for cells in zip(*told, strict=True)]
    return [False] * len(rows)


_FIRST: Final = re.compile(r"\b(?:first|1st)\b", re.IGNORECASE)
_FURTHER: Final = re.compile(
    r"\b(?:additional|another|extra|further|second|third|fourth|[234](?:nd|rd|th))\b", re.IGNORECASE
)


def counted(rows: Sequence[Statement], question: str) -> list[float]:
    """Return for each row 1 where it is of the first, or a further one, as the question; -1 of the other; else 0."""
    names = [" ".join(cell.text for cell in row.cells[:2]) for row in rows]
    first, further = ([bool(form.search(name)) for name in names] for form in (_FIRST, _FURTHER))
    if not (any(first) and any(further)):
        return [0.0] * len(rows)
    asked = float(bool(_FURTHER.search(question))) or -float(bool(_FIRST.search(question)))
    return [asked * (is_further - is_first) for is_first, is_further in zip(first, further, strict=True)]


def is_within(one: Quantity, figure: Quantity, column: Sequence[Token] = ()) -> bool:
    """Return whether a cell's range holds a figure; the column's name may tell the unit of the cell."""
    is_below = figure.bound == "least" and one.bound != "least" and one.high <= figure.low
    is_above = figure.bound == "most" and one.bound != "most" and one.low >= figure.high
    if one.low < one.high and (is_below or is_above):  # "Above 50,000" is not within 20,000 to 50,000.
        return False
    if (one.measure, figure.measure) == ("date", "day of the year"):  # Of whatever year.
        low, high = (date.fromordinal(int(end)).replace(year=2000).toordinal() for end in (one.low, one.high))
        return low <= high and one._replace(low=low, high=high).holds(figure)
    if one.measure == figure.measure:
        return one.holds(figure)
    units = [unit for word in column if (unit := _NAMING.get(word.text.lower()))]
    counts = figure.measure in {"", *(word.key for word in column)}
    if figure.label or one.measure:  # An amount of money may be written without its currency, a size without its unit.
        factors = [1.0] * one.measure.isupper() + [factor for kind, factor in units if kind == one.measure in _SIZES]
        sizes = (figure._replace(low=figure.low * factor, high=figure.high * factor) for factor in factors)
        return counts and not figure.label and any(map(one.holds, sizes))
    for measure, factor in units:
        if measure == figure.measure:
            return one._replace(low=one.low * factor, high=one.high * factor).holds(figure)
    return (counts or figure.measure.isupper()) and one.holds(figure)


_FIRST_DAY, _LAST_DAY = date(2000, 1, 1).toordinal(), date(2000, 12, 31).toordinal()  # Of a day without a year.


def seasons(text: str) -> list[Quantity]:
    """Return the parts of the year that a text names by two days: "15 June to 15 September"; two over New Year."""
    days = [quantity for quantity in quantities(text) if quantity.measure == "day of the year"]
    pairs = [(first, last) for first, last in pairwise(days) if JOINS.fullmatch(text[first.end : last.start])]
    parts = [(first, last.high if first.low <= last.high else _LAST_DAY) for first, last in pairs]
    parts += [(first._replace(low=_FIRST_DAY), last.high) for first, last in pairs if first.low > last.high]
    return [first._replace(high=end, bound="exact") for first, end in parts]


def limits_of(statement: Statement) -> list[Quantity]:
    """Return the times of day up to or from which a statement holds ("before 15:00"), and the parts of the year."""
    times = [quantity for quantity in statement.quantities if quantity.measure == "time of day"]
    said = [(_CUT_OFF.search(statement.words[: time.start]), time) for time in times]
    cut_offs = [time._replace(bound="least" if words[1] else "most") for words, time in said if words]
    return cut_offs + seasons(statement.said)
