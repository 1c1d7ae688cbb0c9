"""Look up the figures of a question in the ranges of a table: "two days" in "1-3 days"."""

from collections.abc import Sequence

from chains.text.quantities import UNITS, Quantity, quantities
from chains.text.statements import Statement
from chains.text.tokens import Token, tokens


def ranged(rows: Sequence[Statement], wanted: Sequence[Quantity]) -> list[float]:
    """Return for each row of a table 1 where its range holds a figure, -1 where another row's does, else 0.

    Only columns with ranges or bounds count, and only where one of their rows holds the figure.
    """
    found = [0.0] * len(rows)
    for place in range(max((len(row.cells) for row in rows), default=0)) if wanted else ():
        read = [quantities(row.cells[place].text) if place < len(row.cells) else () for row in rows]
        if not any(one.low < one.high or one.bound in {"most", "least"} for some in read for one in some):
            continue
        name = tokens(next((row.columns[place] for row in rows if place < len(row.columns)), ""))
        for figure in wanted:
            holds = [any(_holds(one, figure, name) for one in some) for some in read]
            if any(holds):
                found = [1.0 if held else fit or -1.0 for fit, held in zip(found, holds, strict=True)]
    return found


def _holds(one: Quantity, figure: Quantity, column: Sequence[Token]) -> bool:
    """Return whether a cell's range holds a figure; the column's name may tell the unit of the cell."""
    if one.measure == figure.measure:
        return one.holds(figure)
    if one.measure or figure.label:
        return False
    units = [UNITS[word.text.lower()] for word in column if word.text.lower() in UNITS]
    for measure, factor in units:
        if measure == figure.measure:
            return one._replace(low=one.low * factor, high=one.high * factor).holds(figure)
    is_counted = figure.measure in {"", *(word.key for word in column)} or figure.measure.isupper()
    return is_counted and one.holds(figure)
