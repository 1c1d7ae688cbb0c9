"""One model of a table for every reader: cells with spans fill a grid, and the grid becomes a Markdown table.

The Markdown table has one head row; what the source writes over two rows becomes `Group: Column`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from chains.errors import IngestionError
from chains.ingestion.source import Table, storable, without_controls
from chains.regular_files import MAX_BYTES
from chains.text.tokens import SHORT_NAMES

MAX_CELLS = 2_000_000
MOST_HEADS = 5
# A key-value list of two columns holds values of so many kinds; a column of amounts holds one.
KINDS_OF_A_LIST = 3

VALUE = re.compile(r"[-+\u2212±<>~≈$€£¥(]*\s*\d(?!\d*(?:st|nd|rd|th)\b)|[-–—]$")
_LETTER = re.compile(r"[^\W\d_]")
_DAY = re.compile(rf"(?:{'|'.join([*SHORT_NAMES, *SHORT_NAMES.values()])})s?\b", re.IGNORECASE)  # Or a month.
_YEAR = re.compile(r"(?:19|20)\d\d(?:\s?[/–-]\s?\d{2,4})?$")
_TOTAL = re.compile(r"(?:sub|grand )?-?total|sum\b|gesamt|summe", re.IGNORECASE)
_KINDS = {
    "time": re.compile(r"\d{1,2}[:.]\d\d(?:\s?[ap]m)?\b"),
    "date": re.compile(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}|\d{1,2}\.? \w{3,9} \d{4}"),
    "address": re.compile(r"\S+@\S+|https?://|www\."),
    "amount": re.compile(r"[$€£¥]?\s?[-+]?\d[\d.,]*\s?(?:%|[$€£¥]|[A-Z]{3})?$"),
    "measure": VALUE,
}
# A table goes on with rows on the next page, unless they are a head.
_MARKDOWN_TABLE = re.compile(r"^\|.*\n(\| ?---.*(?:\n|\Z))(?:(?:\f\n(?!.*\n\| ?---))?\|.*(?:\n|\Z))*", re.MULTILINE)


class Cell(NamedTuple):
    """A cell as the source has it: its words, and how many rows and columns it covers."""

    text: str
    rows: int = 1
    columns: int = 1
    is_head: bool = False


class Place(NamedTuple):
    """A place of the grid: its words, and the row and column where the cell that covers it begins."""

    text: str
    row: int
    column: int
    is_head: bool = False


BLANK = Place("", -1, -1)
Grid = Sequence[list[Place]]


def one_line(value: object) -> str:
    """Return a value as text in one line that every store can keep."""
    return " ".join(without_controls(storable(str("" if value is None else value))).split())


def grid_of(rows: Iterable[Iterable[Cell]]) -> Grid:
    """Fill each place that a cell covers with its words, as browsers do. Raise IngestionError for too much text."""
    grid: list[list[Place]] = []
    covered: dict[int, tuple[Place, int]] = {}
    size = cells = 0
    for number, row in enumerate(rows):
        line: dict[int, Place] = {column: place for column, (place, _) in covered.items()}
        covered = {column: (place, left - 1) for column, (place, left) in covered.items() if left > 1}
        column = 0
        for cell in row:
            while column in line:
                column += 1
            place = Place(one_line(cell.text), number, column, cell.is_head)
            size += len(place.text) * min(cell.columns, MAX_CELLS)
            for step in range(min(cell.columns, MAX_CELLS // 1000)):
                if step and column in line:
                    break
                line[column] = place
                if cell.rows > 1:
                    covered[column] = (place, cell.rows - 1)
                column += 1
        grid.append([line.get(place, BLANK) for place in range(max(line, default=-1) + 1)])
        cells += len(line)
        size += sum(len(place.text) for place in line.values() if place.row != number)
        if size > MAX_BYTES or cells > MAX_CELLS:
            raise IngestionError(f"its tables hold more than {MAX_BYTES // 2**20} MB of text; split it")
    return grid


def values_grid(rows: Iterable[Iterable[object]]) -> Grid:
    return grid_of([Cell(one_line(value)) for value in row] for row in rows)


def table_text(grid: Grid, *, following: Grid = ()) -> str:
    """Return a Markdown table with one head row; titles above the head become lines of their own.

    A table without a head has a row of blank names; one of two columns is a list of `name: value`, and fewer than two
    columns or rows are lines.
    """
    rows = _without_blanks(grid)
    above, rows = above_the_head(rows)
    lines = [_words(row) for row in above]
    # Two names with their values, such as author and version, stand above a wider table.
    about = len(rows) == 2 and [*map(_filled, rows)] == [2, 2] and following and _filled(following[0]) != 2  # noqa: PLR2004
    columns, heads = len(rows[0]) if rows else 0, 0 if about else _heads(rows)
    if columns < 2 or len(rows) < 2 or (columns == 2 and not heads):  # noqa: PLR2004 - No table.
        return "\n".join([*lines, *[""][: len(lines)], *(f"- {words}" for words in map(_words, rows))])
    names, body = head_and_rows(rows, heads)
    table = [row_text(names), row_text(["---"] * columns), *map(row_text, body)]
    return "\n".join([*lines, "", *table] if lines else table)


def head_and_rows(rows: Grid, heads: int | None = None) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns and the rows below them; `heads` rows hold the names, if that is known."""
    count = _heads(rows) if heads is None else heads
    parts = ([row[column].text for row in rows[:count]] for column in range(len(rows[0])))
    names = [": ".join(dict.fromkeys(filter(None, some))) for some in parts]  # Each part once.
    return names, _with_labels([[place.text for place in row] for row in rows[count:]])


def sheet_text(rows: Iterable[Sequence[object]]) -> str:
    """Return the tables of a sheet without spans: blank rows and columns stand between them."""
    return tables_text(values_grid(rows))


def tables_text(grid: Grid) -> str:
    """Return the tables of a grid, which blank rows and columns part; rows after a gap go on in their table."""
    parts: list[list[list[Place]]] = []
    rows: list[list[Place]] = []
    for row in [*grid, []]:
        if _filled(row):
            rows.append(row)
            continue
        for block in _side_by_side(rows) if rows else ():
            if parts and _goes_on_below(parts[-1], block):
                parts[-1] += block
            else:
                parts.append(list(block))
        rows = []
    texts = [table_text(part, following=following) for part, following in zip(parts, [*parts, []][1:], strict=True)]
    return "\n\n".join(filter(None, texts))


def markdown_tables(text: str) -> Iterator[Table]:
    """Yield the places of the Markdown tables that `table_text` made."""
    for match in _MARKDOWN_TABLE.finditer(text):
        yield Table(match.start(), match.end(1), match.end())


def row_text(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _words(row: Sequence[Place]) -> str:
    """Return the words of a row, those of a cell that covers several columns once: `Prepared by: Sam`."""
    cells = {(place.row, place.column): place.text for place in row if place.text}
    *names, last = cells.values()
    return ("".join(f"{name.rstrip(':')}: " for name in names) + last).replace("|", "\\|")


def _filled(row: Sequence[Place]) -> int:
    return sum(1 for place in row if place.text)


def _without_blanks(grid: Grid) -> Grid:
    """Return the grid as a rectangle without blank rows, and without columns that say nothing of their own.

    Such a column is blank but for cells that cover the column beside it as well, as one for the colour of a party.
    """
    width = max(map(len, grid), default=0)
    rows = [row + [BLANK] * (width - len(row)) for row in grid if _filled(row)]
    columns: list[int] = []
    for column in range(width):
        beside = [number for number in (*columns[-1:], column + 1) if number < width]
        if any(row[column].text and all(row[column] != row[other] for other in beside) for row in rows):
            columns.append(column)
    return rows if len(columns) == width else [[row[column] for column in columns] for row in rows]


def above_the_head(rows: Grid) -> tuple[Grid, Grid]:
    """Part the titles and notes above a table from it: rows of one cell, or of fewer cells than the table has."""
    usual = Counter(map(_filled, rows)).most_common(1)[0][0] if rows else 0
    number = 0
    while number < len(rows) - 1 and _is_above(rows[number], rows[number + 1], usual):
        number += 1
    return (rows[:number], rows[number:]) if len(rows) - number > 1 else ([], rows)


def _is_above(row: Sequence[Place], following: Sequence[Place], usual: int) -> bool:
    whole = len({(place.row, place.column) for place in row if place.text}) == 1
    if whole and len(row) > 1:
        return row[0].text != "" and (_filled(row) == 1 or len({place.column for place in row}) == 1)
    filled = _filled(row)
    leading = all(place.text for place in row[:filled]) and following[0].text != ""
    return leading and filled <= 2 and filled < usual and filled <= _filled(following)  # noqa: PLR2004 - A name and its value.


def _heads(rows: Grid) -> int:
    marked = 0
    while marked < min(len(rows) - 1, MOST_HEADS) and _is_marked(rows[marked]):
        marked += 1
    if marked == len(rows) - 1 and _is_marked(rows[-1]):
        marked = 1  # Every cell is marked, which tells nothing.
    if not marked:
        marked = int(has_head(rows))
    while marked and marked < min(len(rows) - 1, MOST_HEADS) and _heads_go_on(rows, marked):
        marked += 1
    return marked


def _is_marked(row: Sequence[Place]) -> bool:
    """Say whether the source marks all cells of a row as names, and it is no label of the rows below it."""
    cells = {(place.row, place.column): place for place in row if place.text}
    return all(place.is_head for place in cells.values()) and len(cells) > 1


def _heads_go_on(rows: Grid, number: int) -> bool:
    """Say whether a row is a further row of the head: the one above groups columns, and this one names them."""
    above, row = rows[number - 1], rows[number]
    own = [place for place in row if place.text and place.row != above[0].row]
    if not own or any(VALUE.match(place.text) for place in own if not place.is_head and not _YEAR.match(place.text)):
        return False
    groups = [left for left, right in pairwise(above) if left.text and left == right]
    shared = any(place.text and place.row == upper.row >= 0 for place, upper in zip(row, above, strict=True))
    below = zip(row, rows[number + 1], strict=True)
    names_values = not above[0].text and any(
        VALUE.match(cell.text) and not VALUE.match(name.text) for name, cell in below
    )
    if groups and (shared or not row[0].text or names_values):
        return True
    gaps = [column for column, place in enumerate(above) if column and not place.text and row[column].text]
    if not gaps or row[0].text or not above[0].text or number != 1:
        return False
    # The label of a group stands over all its columns, where the sheet leaves them blank.
    for column in gaps:
        above[column] = above[column - 1] if row[column - 1].text else above[column]
    return True


def has_head(rows: Grid) -> bool:
    """Say whether the first row names the columns, by what stands below it: names are no values like those."""
    rows = above_the_head(_without_blanks(rows))[1]
    if not rows or _is_marked(rows[0]):
        return bool(rows)
    if len(rows) == 1 or all(_DAY.match(row[0].text) for row in rows):  # The first one is a day like the others.
        return False
    first, body = rows[0], rows[1:]
    if len(first) == 2:  # noqa: PLR2004 - A list of names and values?
        kinds = {_kind(row[1].text) for row in rows if row[1].text}
        if len(kinds) >= (KINDS_OF_A_LIST - (_kind(first[1].text) != "words")) or all(
            row[0].text.endswith(":") for row in rows
        ):
            return False
    return not any(_is_value(place.text, [row[column].text for row in body]) for column, place in enumerate(first))


def _is_value(text: str, below: Sequence[str]) -> bool:
    """Say whether a cell of the first row is a value like those below it; `2025` or `20 ft` may name a column."""
    values = [cell for cell in below if VALUE.match(cell)]
    if not VALUE.match(text) or len(values) * 2 < len([cell for cell in below if cell]) or not values:
        return False
    if _LETTER.search(text) and sum(1 for cell in values if _LETTER.search(cell)) * 2 < len(values):
        return False
    return not _YEAR.match(text) or all(_YEAR.match(cell) for cell in values)


def _kind(text: str) -> str:
    return next((kind for kind, pattern in _KINDS.items() if pattern.match(text)), "words")


def _with_labels(body: list[list[str]]) -> list[list[str]]:
    """Fill the blank cells below the label of a group: the first column is blank where the row is like the one above.

    A row of totals belongs to no group, and a rank or number is no label.
    """
    blanks = [row for row in body if not row[0]]
    numbered = all(row[0].isdigit() and not _YEAR.match(row[0]) for row in body if row[0])
    alike = all(row[1] and not _TOTAL.match(row[1]) for row in blanks)
    if not blanks or not body[0][0] or numbered or not alike or len(body[0]) < 3:  # noqa: PLR2004 - Label, name and value.
        return body
    label, filled = "", []
    for row in body:
        label = row[0] or label
        filled.append([label, *row[1:]])
    return filled


def _goes_on_below(above: Grid, block: Grid) -> bool:
    """Say whether a block is the rest of the table above the blank row, or the rows of a head that stands alone."""
    parts = ([place for row in part for place, cell in enumerate(row) if cell.text] for part in (above, block))
    (left, right), (first, last) = ((min(columns), max(columns)) for columns in parts)
    return left <= first and last <= right and right - left == max(map(_filled, above)) - 1 and not has_head(block)


def _side_by_side(rows: Grid) -> Iterator[Grid]:
    """Yield the parts of rows that a blank column parts, where each has several columns and rows."""
    width = max(map(len, rows))
    used = [any(len(row) > column and row[column].text for row in rows) for column in range(width)]
    edges = [column for column in range(width) if used[column] and (column == 0 or not used[column - 1])]
    ends = [next((end for end in range(start, width) if not used[end]), width) for start in edges]
    if any(end - start < 2 for start, end in zip(edges, ends, strict=True)):  # noqa: PLR2004 - A table has two columns.
        yield rows
        return
    for start, end in zip(edges, ends, strict=True):
        yield [[BLANK] * start + row[start:end] for row in rows if _filled(row[start:end])]
