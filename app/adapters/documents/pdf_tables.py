"""Read the tables and columns of a PDF page.

What stands in a drawn cell is one text, and the cells of a row are one line. Without rules, columns of prose are read
one after the other, and those of a table row by row.
"""

import ctypes
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, takewhile
from statistics import mean
from typing import NamedTuple

import pypdfium2
from pypdfium2 import raw

from app.adapters.documents.pdf_lines import Line, Piece
from chains.ingestion.tables import has_head, head_and_rows, row_text, values_grid

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
    at = [(number, place) for number, place in enumerate(places) if any(abs(place - other) <= NEAR for other in drawn)]
    before, after = ([number for number, place in at if (place > value) is behind] for behind in (False, True))
    return range(before[-1], after[0]) if before and after else range(0)


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
            near = [rule for rule in upright if left - NEAR <= rule[2] <= right + NEAR]
            inside = [rule for rule in near if rule[0] < top and rule[1] > bottom]
            beside = [rule for rule in across if rule[0] < right and rule[1] > left]
            columns, rows = (
                [first for first, _ in _runs((rule[2], rule[2]) for rule in rules)] for rules in (inside, beside)
            )
            if min(len(columns), len(rows)) >= FEWEST_RULES:
                grids.append(Grid(columns, rows, inside, beside))
    return grids


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


def _runs(stretches: Iterable[tuple[float, ...]]) -> list[tuple[float, float]]:
    """Return the stretches, each a beginning and an end, that touch as one."""
    found: list[tuple[float, float]] = []
    for begin, end, *_ in sorted(stretches):
        if found and begin <= found[-1][1] + NEAR:
            found[-1] = found[-1][0], max(found[-1][1], end)
        else:
            found.append((begin, end))
    return found


def in_rows(lines: Sequence[Line], tables: Sequence[Grid]) -> list[Line]:
    """Return the lines of a page, those of each ruled table as one for each row, with the texts of its cells."""
    for table in tables:
        cells = _cells(lines, table)
        rows = [_line_of(cells[row], table) for row in sorted(cells, reverse=True)]
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


def _line_of(cells: Cells, table: Grid) -> Line | None:
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


# A table has so many rows, and a row so many amounts: a line of prose may end with one.
FEWEST_ROWS, FEWEST_AMOUNTS = 2, 2
LONGEST_ROW = 200

_YEAR = re.compile(r"(?:FY)?(?:19|20)\d\d\Z")
_AMOUNT = re.compile(r"[($€£+-]*\d[\d,.]*[%)]*\Z|[-–—]\Z")
_SIGNS = {"$", "€", "£", ")", "%", "("}
_LABEL = re.compile(r"[^\d\n]{0,79}[^\d\n.,]|")


class FoundTable(NamedTuple):
    """A table: the page in the list and the line of its head, the last page, and there the line after the last row."""

    page: int
    head: int
    last_page: int
    end: int
    heads: int = 1  # Lines of its head, with the rule below it where it is written in Markdown.


def tables(pages: Sequence[Sequence[Line]]) -> list[FoundTable]:
    """Return the tables in order; one goes on where the next page begins with rows."""
    found: list[FoundTable] = []
    for number, lines in enumerate(pages):
        place = 0
        if found and (found[-1].last_page, found[-1].end) == (number - 1, len(pages[number - 1])):
            place = _end_of_rows(lines, 0)
            found[-1] = found[-1]._replace(last_page=number, end=place) if place else found[-1]
        while place < len(lines):
            end = _end_of_rows(lines, place + 1) if _is_head(lines[place]) else place
            if end - place > FEWEST_ROWS:
                found.append(FoundTable(number, place, number, end))
            place = max(end, place + 1)
    return found


def _end_of_rows(lines: Sequence[Line], place: int) -> int:
    """Return the number of the line after the rows; a label, such as `Current assets:`, stands between rows."""
    while place < len(lines):
        if _is_row(lines[place]):
            place += 1
        elif place + 1 < len(lines) and _LABEL.fullmatch(lines[place].text) and _is_row(lines[place + 1]):
            place += 2
        else:
            break
    return place


def _is_head(line: Line) -> bool:
    """Say whether a line names columns: it ends with years, or its bold words stand apart and are no amounts."""
    words = line.text.split()
    years = sum(1 for word in words if _YEAR.match(word))
    ends_with_years = years >= FEWEST_AMOUNTS and any(_YEAR.match(word) for word in words[-2:])
    names = line.cells and line.bold and line.numbers == 0
    return len(line.text) <= LONGEST_ROW and not line.text.endswith((".", ",", ";")) and (ends_with_years or names)


def _is_row(line: Line) -> bool:
    words = takewhile(lambda word: word in _SIGNS or _AMOUNT.match(word), reversed(line.text.split()))
    amounts = sum(1 for word in words if _AMOUNT.match(word))
    return len(line.text) <= LONGEST_ROW and not _is_head(line) and amounts >= FEWEST_AMOUNTS


FEWEST_LINES, FEWEST_WORDS = 4, 3
PART_GOING_ON = 0.35  # So many lines of prose begin within a sentence.
FEWEST_WRITTEN = 3  # Rows of a table in clear columns, its head among them.
_MARK = re.compile(r"\W*|\W*(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]", re.IGNORECASE)
TOLERANCE = 3.0  # In points, by which the edges of a column may differ.


def in_reading_order(lines: Sequence[Line]) -> list[Line]:
    """Return the lines with columns of prose, which the file draws row by row, one after the other."""
    ordered: list[Line] = []
    place = 0
    while place < len(lines):
        run = _prose(lines[place:]) if lines[place].pieces else []
        ordered += run or [lines[place]]
        place += len({line.top for line in run}) if run else 1
    return ordered


def _prose(lines: Sequence[Line]) -> list[Line]:
    """Return the columns of prose that lines begin with, one below the other; nothing where they have none."""
    edges = [piece.left for piece in lines[0].pieces]
    rows = list(takewhile(bool, (_by_column(line, edges) for line in lines)))
    pieces = [piece for row in rows if all(row) for piece in row if piece]
    if len(pieces) < FEWEST_LINES * len(edges):
        return []
    goes_on = mean(piece.text[0].islower() for piece in pieces)
    if mean(len(piece.text.split()) for piece in pieces) < FEWEST_WORDS or goes_on < PART_GOING_ON:
        return []
    return [
        line._replace(text=piece.text, left=piece.left, right=piece.right, pieces=())
        for column in range(len(edges))
        for line, row in zip(lines, rows, strict=False)
        if (piece := row[column])
    ]


def _by_column(line: Line, edges: Sequence[float]) -> list[Piece | None]:
    """Return the pieces of a line by the columns that begin at these edges; nothing where one stands elsewhere."""
    row: list[Piece | None] = [None] * len(edges)
    for piece in line.parts:
        column = next((number for number, edge in enumerate(edges) if abs(piece.left - edge) <= TOLERANCE), None)
        if column is None or (column + 1 < len(edges) and piece.right > edges[column + 1]):
            return []
        row[column] = piece
    return row


def with_tables(pages: Sequence[list[Line]]) -> tuple[list[list[Line]], list[FoundTable]]:
    """Return the pages with clean tables written in Markdown, and where they stand.

    One goes on where the next page begins with rows of as many columns, without its head or with the head again.
    """
    inside = set()  # The lines of tables but their heads, which are not written as tables of their own.
    for table in tables(pages):
        for number in range(table.page, table.last_page + 1):
            first = table.head + 1 if number == table.page else 0
            end = table.end if number == table.last_page else len(pages[number])
            inside |= {(number, line) for line in range(first, end)}
    written: list[list[Line]] = []
    found: list[FoundTable] = []
    columns, head = 0, [""]
    for number, lines in enumerate(pages):
        page: list[Line] = []
        place = 0
        while place < len(lines):
            run = _run(lines[place:])
            end = place + max(1, len(run))
            before = found[-1] if found and not page else FoundTable(-1, 0, -1, 0)
            goes_on = (before.last_page, before.end) == (number - 1, len(written[-1]) if written else 0)
            # The marks of a list stand apart as well.
            is_list = any(all(_MARK.fullmatch(cell) for cell in column) for column in zip(*run, strict=True))
            is_table = len(run) >= FEWEST_WRITTEN and not is_list and has_head(values_grid(run))
            if goes_on and run and len(run[0]) == columns:
                rows = run[run[0] == head :]
                found[-1] = before._replace(last_page=number, end=len(page) + len(rows))
            elif is_table and (number, place) not in inside and (number, end) not in inside:
                names, rows = head_and_rows(values_grid(run))
                columns, head = len(names), run[0]
                found.append(FoundTable(number, len(page), number, len(page) + 2 + len(rows), 2))
                page.append(_written(lines[place], names))
                page.append(_written(lines[end - len(rows) - 1], ["---"] * columns, is_rule=True))
            else:
                rows = []
                page += lines[place:end]
            page += [_written(line, row) for line, row in zip(lines[end - len(rows) : end], rows, strict=True)]
            place = end
        written.append(page)
    return written, found


def _written(line: Line, cells: Sequence[str], *, is_rule: bool = False) -> Line:
    top = line.bottom if is_rule else line.top
    return line._replace(text=row_text(cells), bold=False, cells=False, pieces=(), top=top)


def _run(lines: Sequence[Line]) -> list[list[str]]:
    """Return the cells of the rows that lines begin with, as long as their pieces stand in the same columns."""
    rows = list(takewhile(lambda line: line.pieces, lines))
    count = Counter(len(line.pieces) for line in rows).most_common(1)[0][0] if rows else 0
    full = next((line for line in rows if len(line.pieces) == count), None)
    spans = [(piece.left, piece.right) for piece in full.pieces] if full else []
    run = []
    for line in rows:
        columns = [_column(piece, spans) for piece in line.pieces]
        if None in columns or len(set(columns)) < len(columns):
            break
        cells = [""] * count
        for piece, column in zip(line.pieces, columns, strict=True):
            if column is not None:
                cells[column] = piece.text
                spans[column] = min(spans[column][0], piece.left), max(spans[column][1], piece.right)
        run.append(cells)
    return run


def _column(piece: Piece, spans: Sequence[tuple[float, float]]) -> int | None:
    edges = [(left - TOLERANCE, right + TOLERANCE) for left, right in spans]
    near = [number for number, (left, right) in enumerate(edges) if piece.left <= right and piece.right >= left]
    return near[0] if len(near) == 1 else None
