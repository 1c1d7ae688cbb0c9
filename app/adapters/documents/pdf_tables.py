"""Tell tables from the text of a PDF: a head that names the columns, and below it rows of amounts."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from app.adapters.documents.pdf_lines import Line

# A table has so many rows, and a row so many amounts: a line of prose may end with one.
FEWEST_ROWS, FEWEST_AMOUNTS = 2, 2
LONGEST_ROW, LONGEST_LABEL = 200, 80

_YEAR = re.compile(r"(?:FY)?(?:19|20)\d\d\Z")
_AMOUNT = re.compile(r"[($€£+-]*\d[\d,.]*[%)]*\Z|[-–—]\Z")
_SIGNS = {"$", "€", "£", ")", "%", "("}
_NUMBER = re.compile(r"\d")


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
        elif _is_label(lines[place]) and place + 1 < len(lines) and _is_row(lines[place + 1]):
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
    """Return how many amounts a line ends with."""
    count = 0
    for word in reversed(text.split()):
        if _AMOUNT.match(word):
            count += 1
        elif word not in _SIGNS:
            break
    return count


def _is_label(line: Line) -> bool:
    return len(line.text) <= LONGEST_LABEL and not _NUMBER.search(line.text) and not line.text.endswith((".", ","))
