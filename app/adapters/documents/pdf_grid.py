"""Read the ruled tables of a PDF page: what stands in a drawn cell is one text, the cells of a row are one line."""

import ctypes
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import pypdfium2
from pypdfium2 import raw

from app.adapters.documents.pdf_lines import Line, Piece

MOST_EDGES, MOST_RULES = 20_000, 4_000  # Of a page: a drawing has more.
NEAR = 3.0  # In points: rules that are no further apart are one, and touch.
SHORTEST = 4.0  # Of a rule.
FEWEST_RULES = 3  # Of two rows or columns.
LONGEST_CELL = 300  # Characters; longer ones are prose in a frame.
MOST_SIDE_BY_SIDE = 3  # Lines that stand in two cells of a row at the same heights; more are rows without a rule.
MARGIN = 4.0  # By which the text of a cell stands clear of the next column.

Rule = tuple[float, float, float]
"""Where it begins and ends, and its place across."""


class Grid(NamedTuple):
    """A ruled table: the places of its rules from left to right and from below, and the rules themselves."""

    columns: list[float]
    rows: list[float]
    upright: list[Rule]
    level: list[Rule]

    def parts(self, left: float, right: float, height: float) -> bool:
        """Return whether a rule stands between two edges at a height."""
        return any(low <= height <= high and left - 1 <= place <= right + 1 for low, high, place in self.upright)

    def cells(self, piece: Piece, height: float) -> list[tuple[int, int]]:
        """Return the rows and columns of the cell that a piece stands in: those between the rules around it."""
        middle = (piece.left + piece.right) / 2
        columns, rows = (
            _around(self.columns, self.upright, middle, height),
            _around(self.rows, self.level, height, middle),
        )
        return [(row, column) for row in rows for column in columns]


def _around(places: Sequence[float], rules: Sequence[Rule], value: float, across: float) -> range:
    """Return the bands, counted from 0, between the two rules nearest to a value that reach a place across them."""
    drawn = [place for begin, end, place in rules if begin - NEAR <= across <= end + NEAR]
    before = [number for number, place in enumerate(places) if place <= value and _is_at(place, drawn)]
    after = [number for number, place in enumerate(places) if place > value and _is_at(place, drawn)]
    return range(before[-1], after[0]) if before and after else range(0)


def _is_at(place: float, drawn: Sequence[float]) -> bool:
    return any(abs(place - other) <= NEAR for other in drawn)


def grids(page: pypdfium2.PdfPage) -> list[Grid]:
    """Return the ruled tables of a page that have at least two rows and two columns."""
    upright: list[Rule] = []
    level: list[Rule] = []
    for (x, y), (other_x, other_y) in islice(_edges(page), MOST_EDGES):
        if abs(x - other_x) < 1 and abs(y - other_y) >= SHORTEST:
            upright.append((min(y, other_y), max(y, other_y), x))
        elif abs(y - other_y) < 1 and abs(x - other_x) >= SHORTEST:
            level.append((min(x, other_x), max(x, other_x), y))
    grids = []
    for bottom, top in _runs(upright) if len(upright) + len(level) <= MOST_RULES else ():
        across = [rule for rule in level if bottom - NEAR <= rule[2] <= top + NEAR]
        for left, right in _runs(across):
            inside = [rule for rule in upright if left - NEAR <= rule[2] <= right + NEAR and _meet(rule, bottom, top)]
            beside = [rule for rule in across if _meet(rule, left, right)]
            columns, rows = (_places(place for _, _, place in rules) for rules in (inside, beside))
            if min(len(columns), len(rows)) >= FEWEST_RULES:
                grids.append(Grid(columns, rows, inside, beside))
    return grids


def _meet(rule: Rule, begin: float, end: float) -> bool:
    return rule[0] < end and rule[1] > begin


def _edges(page: pypdfium2.PdfPage) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield both ends of each straight part of the paths that a page draws."""
    for path in page.get_objects(filter=[raw.FPDF_PAGEOBJ_PATH], max_depth=1):
        matrix, first, last = path.get_matrix(), None, None
        for number in range(raw.FPDFPath_CountSegments(path)):
            part, x, y = raw.FPDFPath_GetPathSegment(path, number), ctypes.c_float(), ctypes.c_float()
            raw.FPDFPathSegment_GetPoint(part, x, y)
            point, kind = matrix.on_point(x.value, y.value), raw.FPDFPathSegment_GetType(part)
            if first is None or kind == raw.FPDF_SEGMENT_MOVETO:
                first = point
            elif last is not None and kind == raw.FPDF_SEGMENT_LINETO:
                yield last, point
            last = point
            if raw.FPDFPathSegment_GetClose(part):
                yield point, first


def _runs(rules: Sequence[Rule]) -> list[tuple[float, float]]:
    """Return the stretches that rules cover together."""
    found: list[tuple[float, float]] = []
    for begin, end, _ in sorted(rules):
        if found and begin <= found[-1][1] + NEAR:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def _places(values: Iterable[float]) -> list[float]:
    """Return the places of rules, each once."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value > found[-1] + NEAR:
            found.append(value)
    return found


def in_rows(lines: Sequence[Line], tables: Sequence[Grid]) -> list[Line]:
    """Return the lines of a page, those of each ruled table as one for each row, with the texts of its cells."""
    for table in tables:
        cells, places = _cells(lines, table), set()
        rows = [_row(cells[row], table) for row in sorted(cells, reverse=True)]
        if len(rows) < FEWEST_RULES - 1 or not all(rows):
            continue
        places = {line for row in cells.values() for cell in row.values() for line, _ in cell}
        first = min(places)
        others = [(number, line) for number, line in enumerate(lines) if number not in places]
        before = [line for number, line in others if number < first]
        lines = [*before, *(row for row in rows if row), *(line for number, line in others if number > first)]
    return list(lines)


Cells = dict[int, list[tuple[int, Line]]]
"""The lines in the cells of a row, by column, with their places on the page."""


def _cells(lines: Sequence[Line], table: Grid) -> dict[int, Cells]:
    """Return the parts of lines by the row, counted from below, and the column that they stand in.

    What stands in a cell of several rows or columns is that of each.
    """
    found: dict[int, Cells] = {}
    for number, line in enumerate(lines):
        height = (line.top + line.bottom) / 2
        places = [table.cells(piece, height) for piece in line.parts]
        for piece, cells in zip(line.parts, places if all(places) else (), strict=False):
            part = line._replace(text=piece.text, left=piece.left, right=piece.right)
            for row, column in cells:
                found.setdefault(row, {}).setdefault(column, []).append((number, part))
    return found


def _row(cells: Cells, table: Grid) -> Line | None:
    """Return a row as one line; None where it is no row: its cells hold prose, or several rows."""
    beside = Counter(round(line.bottom) for cell in cells.values() for _, line in cell)
    several = sum(count > 1 for count in beside.values())
    texts = {
        column: " ".join(line.text for _, line in sorted(cell, key=lambda placed: -placed[1].top))
        for column, cell in sorted(cells.items())
    }
    if several > MOST_SIDE_BY_SIDE or max(map(len, texts.values())) > LONGEST_CELL:
        return None
    lines = [line for cell in cells.values() for _, line in cell]
    pieces = tuple(
        Piece(table.columns[column] + MARGIN, table.columns[column + 1] - MARGIN, texts.get(column, ""))
        for column in range(len(table.columns) - 1)
    )
    return lines[0]._replace(
        text=" ".join(texts.values()),
        bold=all(line.bold for line in lines),
        left=min(line.left for line in lines),
        right=max(line.right for line in lines),
        top=max(line.top for line in lines),
        bottom=min(line.bottom for line in lines),
        pieces=pieces,
        cells=False,
    )
