"""Tell headings, and what every page repeats, from the text of a PDF: by size, weight, capitals and place."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from app.adapters.documents.pdf_lines import Line

FORM = re.compile(r"\bform\s+(10-?[kq](?:/a)?|8-?k|6-?k|20-?f|40-?f|s-?1)\b", re.IGNORECASE)
PERIOD = re.compile(
    r"\b(?:fiscal\s+year|year|quarter(?:ly\s+period)?|period)\s+(?:ended|ending)\b[^.\n]{0,40}?\b((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
REPORTED = re.compile(r"\bdate\s+of\s+(?:report|earliest)[^.]{0,80}?\b((?:19|20)\d\d)\b", re.IGNORECASE | re.DOTALL)
REGISTRANT = re.compile(r"exact\s+name\s+of\s+(?:the\s+)?registrant", re.IGNORECASE)
LETTERS = re.compile(r"[^\W\d_]{2}")
_RULE = re.compile(r"_{3,}(?=.*[^\W\d_])")
LONGEST_NAME = 150


def report_title(text: str) -> str:
    """Return company, year and form of a report to a stock exchange, as `ACME Corp 2022 10-K`; else nothing."""
    lines, form = text.splitlines(), FORM.search(text)
    number = next((number for number, line in enumerate(lines) if REGISTRANT.search(line)), 0)
    above = [line for line in lines[max(0, number - 4) : number] if LETTERS.search(line)]
    # The company stands above the words "Exact name of registrant", perhaps behind a drawn line.
    company = _RULE.split(above[-1])[-1].strip()[:LONGEST_NAME] if above else ""
    if not company or not form:
        return ""
    year = PERIOD.search(text) or REPORTED.search(text)
    return " ".join(filter(None, [company, year[1] if year else "", form[1].upper()]))


# A line is looked at as a running head or foot where it is one of so many at the edge of its page.
EDGE_LINES = 3
# It is one where so many pages, and such a part of all pages, have it; one with two numbers may be the head of tables
# that begin pages, and has to be on more.
FEWEST_PAGES, PART_OF_PAGES, PART_WITH_NUMBERS = 3, 0.15, 0.5
LARGER = 1.1  # Than the text, by this factor, is a heading.
LONGEST, MOST_WORDS, MOST_LINES = 200, 25, 3
SHORTEST_CAPITALS = 6
OPENING = "\"'“‘«„¿¡§"
# In heights of a line: a bold line nearer below a row of amounts is a label of its table, and what is nearer below a
# heading is its second line.
LABEL_GAP, LINE_GAP = 0.8, 0.5
NUMBERED, UNNUMBERED = 1, 4
# An italic heading stands below the upright ones of its size.
ITALIC = 4

# Of a table of contents.
FEWEST_ENTRIES = 3
_CONTENTS = re.compile(r"(?:table of )?contents|inhalt(?:sverzeichnis)?|sommaire|índice", re.IGNORECASE)
_LEADERS = re.compile(r"(?:[.·…_]\s?){4,}\s*(?:\d{1,4}|[ivxlc]{1,6})\s*$", re.IGNORECASE)
_LAST_NUMBER = re.compile(r"\d+(?=\s*$)")
_ENTRY = re.compile(r"[^\W\d_]{2}.*\s\d{1,4}$")
_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W\d_]")
_PAGE_NUMBER = re.compile(
    r"\W*(?:page\s*)?(?:\d{1,4}|[ivxlc]{1,6}|[A-Z]-\d{1,3})(?:\s*(?:of|/)\s*\d{1,4})?\W*", re.IGNORECASE
)
# How a row of amounts ends, or a line of a table of contents; a heading may end with a year.
_AMOUNT = re.compile(r"(?:\.\s?){4}|\s[($€£]*(?!(?:19|20)\d\d$)[\d,.]+[%)]*$")
_CONTINUED = re.compile(r"\s*[(\[]?\bcontinued\b[)\]]?\.?$", re.IGNORECASE)
# What reports and laws number their parts by, the outer first. What has no number stands below all of these.
_PARTS = [
    re.compile(rf"{name}\b", re.IGNORECASE) for name in (r"part\s+[ivx\d]+", r"(?:item|chapter|article)\s+\d+[a-z]?")
]
_NOTE = re.compile(r"note\s+\d+\b|\d+\.\s", re.IGNORECASE)


class FoundHeading(NamedTuple):
    """A heading: the number of its page in the list, its first line and the one after its last, its words and level."""

    page: int
    first: int
    end: int
    text: str
    level: int


class _Style(NamedTuple):
    """What headings of one level have in common; the smallest stands highest."""

    size: float
    part: int


def without_running(pages: Sequence[list[Line]]) -> list[list[Line]]:
    """Return the pages without running heads and feet and page numbers; one of nothing else stays as it is.

    The first page keeps its words: what other pages repeat may be the title there.
    """
    counts = Counter(key for lines in pages for key in {_key(lines[number]) for number in _edges(lines)})
    parts = {key: PART_OF_PAGES if "#" in key or not _DIGITS.search(key) else PART_WITH_NUMBERS for key in counts}
    repeated = {key for key, count in counts.items() if count >= max(FEWEST_PAGES, parts[key] * len(pages))}
    left = []
    for number, lines in enumerate(pages):
        running = {
            place
            for place in _edges(lines)
            if (number and _key(lines[place]) in repeated)
            or (not lines[place].pieces and _PAGE_NUMBER.fullmatch(lines[place].text))
        }
        left.append([line for place, line in enumerate(lines) if place not in running] or lines)
    return left


def without_contents(pages: Sequence[list[Line]]) -> tuple[list[list[Line]], list[int]]:
    """Return the pages without the lines of tables of contents, and the numbers of those that had some.

    Such lines have leaders, or stand below a line that says `Contents`, and end with page numbers that do not fall.
    """
    kept, found = [], []
    for number, lines in enumerate(pages):
        title = next((place for place, line in enumerate(lines) if _CONTENTS.fullmatch(line.text)), len(lines))
        entries = {place for place, line in enumerate(lines) if _LEADERS.search(line.text)}
        entries |= {place for place in range(title + 1, len(lines)) if _ENTRY.search(lines[place].text)}
        ends = [int(end[0]) for place in sorted(entries) if (end := _LAST_NUMBER.search(lines[place].text))]
        of_pages = ends == sorted(ends) and (title < len(lines) or max(ends, default=0) <= 2 * len(pages))
        if len(entries) >= FEWEST_ENTRIES and len(pages) > 1 and of_pages:
            found.append(number)
            entries.add(title)
        else:
            entries.clear()
        kept.append([line for place, line in enumerate(lines) if place not in entries])
    return kept, found


def _edges(lines: Sequence[Line]) -> list[int]:
    by_place = sorted(range(len(lines)), key=lambda number: lines[number].top)
    return [*by_place[:EDGE_LINES], *by_place[-EDGE_LINES:]]


def _key(line: Line) -> str:
    """Return what a line has in common with the same on other pages: its words, and its number as `#`."""
    text = line.text.casefold()
    masked = _DIGITS.sub("#", text)
    return masked if line.numbers < 2 or "page # of #" in masked else text  # noqa: PLR2004 - One is the page's.


def headings(pages: Sequence[Sequence[Line]]) -> list[FoundHeading]:
    """Return the headings in order. Levels count from 1, by size, then by what parts are numbered by."""
    size, bold = _body(pages)
    headed = [(number, *heading) for number, lines in enumerate(pages) for heading in _on_page(lines, size, bold)]
    styles = sorted({style for *_, style in headed})
    levels = {style: level for level, style in enumerate(styles, start=1)}
    return [FoundHeading(page, first, end, text, levels[style]) for page, first, end, text, style in headed]


def _body(pages: Sequence[Sequence[Line]]) -> tuple[float, bool]:
    sizes: Counter[float] = Counter()
    weights: Counter[bool] = Counter()
    for lines in pages:
        for line in lines:
            sizes[line.size] += len(line.text)
            weights[line.bold] += len(line.text)
    return (sizes.most_common(1)[0][0], weights.most_common(1)[0][0]) if sizes else (0.0, False)


def _on_page(lines: Sequence[Line], size: float, bold: bool) -> Iterator[tuple[int, int, str, _Style]]:
    """Yield first line, end, words and style of each heading of a page."""
    place = 0
    while place < len(lines):
        style = _style(lines, place, size, bold)
        end = place + 1
        while style and end < len(lines):
            above, line, part = lines[end - 1], lines[end], _part(lines[end].text)
            is_near = above.bottom - line.top < LINE_GAP * line.size and _look(line) == _look(above)
            if not is_near or line.pieces or (part < style.part and part <= NUMBERED):
                break
            end += 1
        text = " ".join(line.text for line in lines[place:end])
        if style and end - place <= MOST_LINES and len(text) <= LONGEST:
            yield place, end, _CONTINUED.sub("", text), style
        place = end


def _look(line: Line) -> tuple[float, bool, bool, bool]:
    return line.size, line.bold, line.italic, _is_capitals(line.text)


def _style(lines: Sequence[Line], place: int, size: float, bold: bool) -> _Style | None:
    line = lines[place]
    larger = line.size >= LARGER * size
    stands_out = larger or (line.bold and not bold) or (line.size >= size and _is_capitals(line.text))
    if not stands_out or not _reads_like_heading(line):
        return None
    above = lines[place - 1] if place else line
    in_table = above.numbers >= 2 and above.bottom - line.top < LABEL_GAP * line.size  # noqa: PLR2004 - A label has one.
    if place and not larger and _part(line.text) > NUMBERED and in_table:
        return None
    part = _part(line.text)
    return _Style(-max(line.size, size), part if part <= NUMBERED else part + ITALIC * line.italic)


def _part(text: str) -> int:
    """Return how high a heading stands among those of its size, 0 the highest; up to NUMBERED it has a number."""
    numbered = next((number for number, pattern in enumerate(_PARTS) if pattern.match(text)), None)
    if numbered is not None:
        return numbered
    return 2 if _is_capitals(text) else 3 if _NOTE.match(text) else UNNUMBERED


def _reads_like_heading(line: Line) -> bool:
    letters = len(_LETTERS.findall(line.text))
    return (
        len(line.text.split()) <= MOST_WORDS
        and letters >= max(3, len(line.text.replace(" ", "")) / 2)
        and line.numbers <= 2  # noqa: PLR2004 - "Item 7" and a year.
        and not line.pieces
        and not line.text.endswith((",", ";", ":"))
        and not (line.text.endswith(".") and _part(line.text) == UNNUMBERED)
        and (line.text[0].isalnum() or line.text[0] in OPENING)
        and not line.text[0].islower()
        and not _AMOUNT.search(line.text)
    )


def _is_capitals(text: str) -> bool:
    letters = "".join(_LETTERS.findall(text))
    return len(letters) >= SHORTEST_CAPITALS and letters.isupper()
