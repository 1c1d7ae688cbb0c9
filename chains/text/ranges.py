"""Look up the figures of a question in the ranges of a table: "two days" in "1-3 days", "second" in "each further"."""

import re
from collections.abc import Sequence
from typing import Final

from chains.text.quantities import UNITS, Quantity, quantities
from chains.text.statements import Statement
from chains.text.tokens import Token, tokens


def ranged(rows: Sequence[Statement], wanted: Sequence[Quantity]) -> list[float]:
    """Return for each row of a table 1 where its range holds a figure, -1 where another row's does, else 0.

    Only columns with ranges or bounds count, and only where one of their rows holds the figure.
    """
    found = [0.0] * len(rows)
    for place in range(max((len(row.cells) for row in rows), default=0)) if wanted else ():
        read = [quantities(row.cells[place].text) if place < len(row.cells) else [] for row in rows]
        if not any(one.low < one.high or one.bound in {"most", "least"} for some in read for one in some):
            continue
        name = tokens(next((row.columns[place] for row in rows if place < len(row.columns)), ""))
        for figure in wanted:
            holds = [any(_holds(one, figure, name) for one in some) for some in read]
            if any(holds):
                found = [1.0 if held else fit or -1.0 for fit, held in zip(found, holds, strict=True)]
    return found


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


def _holds(one: Quantity, figure: Quantity, column: Sequence[Token]) -> bool:
    """Return whether a cell's range holds a figure; the column's name may tell the unit of the cell."""
    if one.measure == figure.measure:
        return one.holds(figure)
    if figure.label or (one.measure and (figure.measure or not one.measure.isupper())):
        return False
    if one.measure:  # An amount of money that is written without its currency.
        return one.holds(figure)
    units = [UNITS[word.text.lower()] for word in column if word.text.lower() in UNITS]
    for measure, factor in units:
        if measure == figure.measure:
            return one._replace(low=one.low * factor, high=one.high * factor).holds(figure)
    is_counted = figure.measure in {"", *(word.key for word in column)} or figure.measure.isupper()
    return is_counted and one.holds(figure)
