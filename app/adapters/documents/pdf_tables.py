"""Tell the columns of a PDF page: those of prose are read one after the other, those of a table row by row."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import takewhile
from statistics import mean
from typing import NamedTuple

from app.adapters.documents.pdf_lines import Line, Piece
from chains.ingestion.tables import has_head, head_and_rows, row_text, values_grid

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
    return len(line.text) <= LONGEST_ROW and not _is_head(line) and _amounts(line.text) >= FEWEST_AMOUNTS


def _amounts(text: str) -> int:
    count = 0
    for word in reversed(text.split()):
        if _AMOUNT.match(word):
            count += 1
        elif word not in _SIGNS:
            break
    return count


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
    inside = {place for table in tables(pages) for place in _places_in(table, pages)}
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
            if goes_on and run and len(run[0]) == columns:
                rows = run[run[0] == head :]
                page += [_written(line, row) for line, row in zip(lines[end - len(rows) : end], rows, strict=True)]
                found[-1] = before._replace(last_page=number, end=len(page))
            elif _is_table(run) and (number, place) not in inside and (number, end) not in inside:
                names, rows = head_and_rows(values_grid(run))
                start, columns, head = len(page), len(names), run[0]
                page += [
                    _written(lines[place], names),
                    _written(lines[end - len(rows) - 1], ["---"] * columns, is_rule=True),
                ]
                page += [_written(line, row) for line, row in zip(lines[end - len(rows) : end], rows, strict=True)]
                found.append(FoundTable(number, start, number, len(page), 2))
            else:
                page += lines[place:end]
            place = end
        written.append(page)
    return written, found


def _places_in(table: FoundTable, pages: Sequence[Sequence[Line]]) -> Iterator[tuple[int, int]]:
    """Yield the lines of a table but its head; these are not written as a table of their own."""
    for page in range(table.page, table.last_page + 1):
        first = table.head + 1 if page == table.page else 0
        end = table.end if page == table.last_page else len(pages[page])
        yield from ((page, line) for line in range(first, end))


def _is_table(run: Sequence[list[str]]) -> bool:
    """Say whether rows are those of a table and not of a list, whose marks stand apart."""
    is_list = any(all(_MARK.fullmatch(cell) for cell in column) for column in zip(*run, strict=True))
    return len(run) >= FEWEST_WRITTEN and not is_list and has_head(values_grid(run))


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
    """Return the one column that a piece stands in."""
    near = [
        number
        for number, (left, right) in enumerate(spans)
        if piece.left <= right + TOLERANCE and piece.right >= left - TOLERANCE
    ]
    return near[0] if len(near) == 1 else None
