"""Read the tables and columns of a PDF page.

The cells of a row are one line. Where no rules divide them, clear stretches of the page do; columns of prose are read
one after the other.
"""

import ctypes
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise, product, takewhile
from statistics import mean, median
from typing import NamedTuple

import pypdfium2
from pypdfium2 import raw

from app.adapters.documents.pdf_lines import MARK, SIGNS, Line, Piece
from chains.ingestion.tables import BLANK, MOST_HEADS, VALUE, Place, above_the_head, has_head, head_and_rows, row_text

MOST_EDGES, MOST_RULES = 20_000, 4_000  # Of a page: a drawing has more.
NEAR = 3.0  # In points: rules that are no further apart are one, and touch.
SHORTEST = 4.0  # Of a rule.
FEWEST_RULES = 3  # Of two rows or columns.
LONGEST_CELL = 300  # Characters; longer ones are prose in a frame.
MOST_SIDE_BY_SIDE = 3  # Rows without a rule between them, which may be lines of cells.
TOUCHING = 1.0  # In points, by which lines of one cell may stand apart, or over each other.
PART_OF_WIDTH = 0.9  # Of a column, so much is surely free.
FARTHEST, LARGER = 2.0, 1.1  # Rows are no farther apart than so many heights of a line; larger letters are a heading's.
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

    def cells(self, piece: Piece) -> list[tuple[int, int]]:
        """Return the rows and columns of the cell that a piece stands in: those between the rules around it."""
        middle, height = (piece.left + piece.right) / 2, (piece.bottom + piece.top) / 2
        columns = _around(self.columns, self.upright, middle, height)
        rows = _around(self.rows, self.level, height, middle)
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
        fill, stroke = ctypes.c_int(), ctypes.c_int()
        raw.FPDFPath_GetDrawMode(path, fill, stroke)
        left, bottom, right, top = path.get_bounds()
        if not stroke.value and min(right - left, top - bottom) > NEAR:
            continue  # The shade of a cell, perhaps of one line of it.
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
    for grid in tables:
        cells, table = _own_columns(_cells(lines, grid), grid)
        if len(table.rows) == 2:  # noqa: PLR2004 - Columns of prose.
            rows: list[Line | None] = [line for _, cell in sorted(cells.get(0, {}).items()) for _, line in cell]
        else:
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
        places = [table.cells(piece) for piece in line.parts]
        for piece, cells in zip(line.parts, places if all(places) and not line.is_row else (), strict=False):
            part = _part(line, piece)
            for row, column in cells:
                found.setdefault(row, {}).setdefault(column, []).append((number, part))
    return found


def _part(line: Line, piece: Piece) -> Line:
    return line._replace(**piece._asdict(), pieces=())


def _own_columns(cells: dict[int, Cells], table: Grid) -> tuple[dict[int, Cells], Grid]:
    """Return a table with columns that never differ as one: a name may stand over several, as of sign and amount."""
    edges, rows = table.columns[:1], [dict[int, list[tuple[int, Line]]]() for _ in cells]
    for column, edge in enumerate(table.columns[1:]):
        last = len(edges) - 1
        pairs = [(row.get(last - 1, []), cell.get(column, [])) for row, cell in zip(rows, cells.values(), strict=True)]
        if last and all(not a or not b or a == b or not any(line.text.strip(SIGNS) for _, line in a) for a, b in pairs):
            last, edges = last - 1, edges[:-1]
        edges = [*edges, edge]
        for row, cell in zip(rows, cells.values(), strict=True):
            added = [part for part in cell.get(column, []) if part not in row.get(last, [])]
            if added:
                row.setdefault(last, []).extend(added)
    return dict(zip(cells, rows, strict=True)), table._replace(columns=edges)


def _line_of(cells: Cells, table: Grid) -> Line | None:
    """Return a row as one line; None where it is no row: its cells hold prose, or several rows."""
    widths = [end - begin - 2 * MARGIN for begin, end in pairwise(table.columns)]
    bands = list(_bands([(column, line) for column, cell in cells.items() for _, line in cell]))
    several = sum(_are_rows(above, below, widths) for above, below in pairwise(bands))
    lines = [line for cell in cells.values() for _, line in cell]
    placed = {column: sorted(cell, key=lambda part: -part[1].top) for column, cell in sorted(cells.items())}
    broken = {column: "\n".join(line.text for _, line in cell) for column, cell in placed.items()}
    texts = {column: _PARTED.sub("", text).replace("\n", " ") for column, text in broken.items()}
    if several > MOST_SIDE_BY_SIDE or max(map(len, texts.values())) > LONGEST_CELL:
        return None
    low, high = min(line.bottom for line in lines), max(line.top for line in lines)
    pieces = tuple(
        Piece(texts.get(column, ""), left + MARGIN, low, right - MARGIN, high)
        for column, (left, right) in enumerate(pairwise(table.columns))
    )
    return lines[0]._replace(
        text=" ".join(text for column, text in texts.items() if cells[column] != cells.get(column - 1)),
        bold=all(line.bold for line in lines),
        left=min(line.left for line in lines),
        right=max(line.right for line in lines),
        top=high,
        bottom=low,
        pieces=pieces,
        is_row=True,
    )


Part = tuple[int, Line]
"""A part of a line, and the number of the column that it stands in."""


def _bands(parts: Iterable[Part], apart: float = -1.0) -> Iterator[list[Part]]:
    """Yield the parts from the top, those together that no clear stretch of so many points divides."""
    band: list[Part] = []
    for part in sorted(parts, key=lambda part: -part[1].top):
        if band and min(line.bottom for _, line in band) - part[1].top >= apart:
            yield band
            band = []
        band.append(part)
    yield band


def _are_rows(above: Sequence[Part], below: Sequence[Part], widths: Sequence[float]) -> bool:
    """Say whether two bands are two rows: a value below a value, or a word that the line above had room for."""
    for (column, line), (beside, other) in product(above, below):
        longer = len(line.text) + 1 + len(other.text.partition(" ")[0])
        has_room = (line.right - line.left) * longer < widths[column] * PART_OF_WIDTH * len(line.text)
        if column == beside and (has_room or (VALUE.match(line.text) and VALUE.match(other.text))):
            return True
    return False


def clear_grids(lines: Sequence[Line]) -> list[Grid]:
    """Return the tables and the columns of prose that clear stretches of the page divide, and no rules."""
    found: list[Grid] = []
    free = [at for at, line in enumerate(lines) if (line.pieces or _AMOUNT.match(line.text)) and not line.is_row]
    while free:
        seed = max(free, key=lambda number: len(lines[number].pieces))
        around, columns = _around_row(lines, seed)
        table = _clear_grid(around, columns)
        found += [table] if table else []
        free = [number for number in free if lines[number] not in around]
    return found


def _around_row(lines: Sequence[Line], seed: int) -> tuple[list[Line], list[tuple[float, float]]]:
    """Return the lines of the table around a row, and the edges of its columns.

    They stand in its columns, are drawn one after the other, and none is far above or below all others.
    """
    row = lines[seed]
    around, columns = [row], [(piece.left, piece.right) for piece in row.parts]
    for others in (lines[seed + 1 :], lines[:seed][::-1]):
        for line in others:
            wider = None if line.is_row or line.size > LARGER * row.size else _with_line(columns, line, around)
            if wider is None:
                break
            around, columns = [*around, line], wider
    near = next(band for band in _bands([(0, line) for line in around], FARTHEST * row.size) if (0, row) in band)
    pieces = [piece for _, line in near for piece in line.parts]
    inside = ([piece for piece in pieces if left <= piece.left and piece.right <= right] for left, right in columns)
    edges = [(min(piece.left for piece in some), max(piece.right for piece in some)) for some in inside if some]
    return [line for _, line in near], edges


def _with_line(
    columns: list[tuple[float, float]], line: Line, others: Sequence[Line]
) -> list[tuple[float, float]] | None:
    """Return the columns with the parts of one more line; None where one of them reaches over two columns.

    Two columns are one where no other line has parts in both: a head and its amounts may stand at other edges.
    """
    for piece in line.parts:
        over = [column for column in columns if _reaches(piece, column)]
        if len(over) > 1 and any(sum(_reaches(part, to) for part in one.parts for to in over) > 1 for one in others):
            return None
        merged = min([piece.left, *(left for left, _ in over)]), max([piece.right, *(right for _, right in over)])
        columns = sorted({*columns} - {*over} | {merged})
    return columns


def _reaches(piece: Piece, column: tuple[float, float]) -> bool:
    return piece.left < column[1] and piece.right > column[0]


def _clear_grid(lines: Sequence[Line], columns: Sequence[tuple[float, float]]) -> Grid | None:
    """Return lines as a table, as one of a single row where they are columns of prose; None where they are neither."""
    parts = [
        (column, _part(line, piece))
        for line in lines
        for piece in line.parts
        for column, (left, right) in enumerate(columns)
        if left <= piece.left and piece.right <= right
    ]
    rows, is_spaced = _clear_rows(parts, [right - left for left, right in columns])
    if len(columns) == 1 or all(MARK.fullmatch(line.text) for column, line in parts if not column):
        return None
    if all(_is_prose([line for at, line in parts if at == column], is_spaced) for column in range(len(columns))):
        rows = [parts]
    elif len(rows) < FEWEST_RULES - 1 or mean(len({column for column, _ in row}) for row in rows) * 2 < len(columns):
        return None
    level = [*(min(line.bottom for _, line in row) - 1 for row in rows[::-1]), max(line.top for _, line in rows[0]) + 1]
    upright = [*(left - 1 for left, _ in columns), columns[-1][1] + 1]
    across = [(level[0], level[-1], place) for place in upright]
    return Grid(upright, level, across, [(upright[0], upright[-1], place) for place in level])


def _is_prose(lines: Sequence[Line], is_spaced: bool) -> bool:
    """Say whether the lines of a column are those of paragraphs; longer ones are, where rows stand apart."""
    words = mean(len(line.text.split()) for line in lines)
    small = mean(line.text[0].islower() for line in lines)
    even = median(line.left for line in lines) - min(line.left for line in lines) <= NEAR
    return len(lines) >= FEWEST_LINES and words >= FEWEST_WORDS * (1 + is_spaced) and small >= PART_GOING_ON and even


def _clear_rows(parts: Sequence[Part], widths: Sequence[float]) -> tuple[list[list[Part]], bool]:
    """Return the rows that have parts in several columns, and whether more stands between rows than within cells."""
    stacks = [[line for at, line in parts if at == column] for column in range(len(widths))]  # From the top.
    leading = min((above.bottom - below.top for stack in stacks for above, below in pairwise(stack)), default=0.0)
    bands = list(_bands(parts))
    gaps = [min(line.bottom for _, line in one) - max(line.top for _, line in two) for one, two in pairwise(bands)]
    are_rows = [_are_rows(above, below, widths) for above, below in pairwise(bands)]
    tight = [are for gap, are in zip(gaps, are_rows, strict=True) if gap <= leading + TOUCHING]
    is_spaced = len(tight) < len(gaps) and sum(tight) * 4 <= len(tight)
    rows = bands[:1]
    for gap, are, above, below in zip(gaps, are_rows, bands, bands[1:], strict=False):
        amounts = any(_AMOUNT.match(line.text) and not _YEAR.match(line.text) for _, line in below)
        is_head = len(rows) == 1 and all(column for column, _ in above) and not amounts
        goes_on = is_spaced or is_head or below[0][1].text[0].islower() or all(column for column, _ in below)
        if gap > leading + TOUCHING or are or not goes_on:
            rows.append(below)
        else:
            rows[-1] = rows[-1] + below
    wide = [number for number, row in enumerate(rows) if len({column for column, _ in row}) > 1]
    return rows[wide[0] : wide[-1] + 1] if wide else [], is_spaced


_PARTED = re.compile(r"(?<=\w[-–])\n(?=\w)")  # A word or a range that goes on in the next line of its cell.
_YEAR = re.compile(r"(?:FY)?(?:19|20)\d\d\Z")
_AMOUNT = re.compile(r"[($€£+-]*\d[\d,.]*[%)]*\Z|[-–—]\Z")
FEWEST_LINES, FEWEST_WORDS = 4, 3
PART_GOING_ON = 0.35  # So many lines of prose begin within a sentence.
FEWEST_WRITTEN = 3  # Rows of a table in clear columns, its head among them.


def with_tables(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Return the pages with their tables written in Markdown.

    One goes on where the next page begins with rows of as many columns, without its head or with the head again; so
    does its last row, in small letters below no name.
    """
    written: list[list[Line]] = []
    last: list[str] = []
    head: list[list[str]] = []  # Of the table that the page before ends with.
    for lines in pages:
        page: list[Line] = []
        place = 0
        while place < len(lines):
            run = _run(lines[place:])
            end = place + max(1, len(run))
            above, rows = above_the_head(_grid(run))
            if run and place == 0 and head and len(run[0]) == len(head[0]):
                body = run[len(head) :] if run[: len(head)] == head else run
                if body and not body[0][0] and all(not cell or cell[0].islower() for cell in body[0]):
                    last = [f"{above} {rest}".strip() for above, rest in zip(last, body[0], strict=True)]
                    written[-1][-1], body = _written(written[-1][-1], last), body[1:]
            elif len(rows) >= FEWEST_WRITTEN and has_head(rows):
                names, body = head_and_rows(rows)
                head = run[len(above) : len(run) - len(body)]
                page += lines[place : place + len(above)]
                page.append(_written(lines[place + len(above)], names)._replace(is_row=False))
                page.append(_written(lines[end - len(body) - 1], ["---"] * len(names)))
            else:
                head, body = [], []
                page += lines[place:end]
            page += [_written(line, row) for line, row in zip(lines[end - len(body) : end], body, strict=True)]
            place, last = end, body[-1] if body else last
        written.append(page)
    return written


def _written(line: Line, cells: Sequence[str]) -> Line:
    return line._replace(text=row_text(cells), bold=False, pieces=(), is_row=True)


def _grid(run: Sequence[Sequence[str]]) -> list[list[Place]]:
    """Return rows as a grid; what several cells side by side say, or two cells of the head, is one cell."""
    rows: list[list[Place]] = []
    for number, cells in enumerate(run):
        places = [Place(text, number, column) for column, text in enumerate(cells)]
        for column, place in enumerate(places):
            near = places[column - 1] if column else BLANK, rows[-1][column] if 0 < number < MOST_HEADS else BLANK
            places[column] = next((other for other in near if other.text == place.text != ""), place)
        rows.append(places)
    return rows


def _run(lines: Sequence[Line]) -> list[list[str]]:
    """Return the cells of the rows that lines begin with, as long as there are as many in each."""
    rows = takewhile(lambda line: line.is_row and len(line.pieces) == len(lines[0].pieces), lines)
    return [[piece.text for piece in line.pieces] for line in rows]
