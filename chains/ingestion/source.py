"""The text that a loader extracts from a file, and the checks that all loaders share."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from chains.errors import IngestionError

# Every chunk carries the title and the name of its section; what is longer is no name that a reader would know.
MAX_NAME = 300
MAX_SHOWN = 60  # Of a text that is named in a warning.
FILE_DATE = "file_date"  # The day on which a file was changed; one that the document states goes before.

_WORD = re.compile(r"[^\W\d_]{2}")
_NO_TITLE = re.compile(
    r"(?:untitled(?: document)?|anonymous|unnamed|unknown|no title|none|null|title|document|slide"
    r"|(?:powerpoint )?presentation)\s*\d*$"
    r"|(?:new )?(?:microsoft (?:word|excel|powerpoint)[\w ]*|page ?\d*)$|(?:company|document|type) (?:name|title|here)$"
    r"|[\w./\\ -]+\.(?:exe|tmp|dvi|ps|indd|qxd|cdr|dwg|html?|php|aspx?)$|[a-z]:\\"
    r"|(?:about:blank|file:|https?:)|(?:scan|img|image|dsc|page)[ _-]?\d+$",
    re.IGNORECASE,
)
_PRINTED_FROM = re.compile(r"^Microsoft (?:Word|Excel|PowerPoint) - |\.(?:docx?|xlsx?|pptx?|rtf|pdf)$", re.IGNORECASE)
_NO_CHARACTERS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Page(NamedTuple):
    """A page of a source, counted from 1, where its text begins and ends, and its title where it has one."""

    number: int
    start: int
    end: int
    section: str = ""


class Heading(NamedTuple):
    """A heading, where it begins and where the text below it begins; level 0 stands above the first heading."""

    text: str
    level: int
    start: int
    end: int


class Table(NamedTuple):
    """Where a table's head begins, where its first row begins, and where it ends, which may be on a later page."""

    start: int
    body: int
    end: int


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file, the offset of its body, and its metadata as plain values that any store can keep.

    The text is what chunks are slices of: the file itself for markdown and plain text, and what was extracted from it
    for the other formats. A text is markdown unless it is `plain` or has `pages`; no chunk crosses a page, and its
    `headings` and `tables` are those that the loader found. `warnings` tell, in words, what of the file could not be
    read. `attached` are documents of their own within the file, by their names.
    """

    text: str
    body_start: int
    metadata: dict[str, str]
    plain: bool = False
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = ()
    attached: Mapping[str, "SourceText"] = field(default_factory=dict)


Loader = Callable[[Path], SourceText]
"""Raises IngestionError where a file cannot be read, is larger than allowed, or has no text; others mean damage."""

PAGE_BREAK = "\n\f\n"


def placed_pages(texts: Sequence[str], titles: Sequence[str] = ()) -> Iterator[Page]:
    """Yield the pages of a source whose text is these texts, joined by `PAGE_BREAK`."""
    place = 0
    for number, (text, title) in enumerate(zip_longest(texts, titles, fillvalue=""), start=1):
        yield Page(number, place, place + len(text), title)
        place += len(text) + len(PAGE_BREAK)


def require_words(text: str) -> None:
    """Check that there is something to index. Raise IngestionError if there are no words."""
    if not text.strip():
        raise IngestionError("the file is empty: there is no text to index")


def given(**values: str) -> dict[str, str]:
    """Return the values that are not empty."""
    return {name: value for name, value in values.items() if value}


def storable(text: str) -> str:
    """Return extracted text that every store can keep: without NUL, halves of surrogate pairs joined or replaced."""
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_controls(text: str) -> str:
    """Return a text without control characters and without halves of characters, which no store can keep."""
    return _NO_CHARACTERS.sub("", text)


def left_out(texts: Iterable[str], why: str) -> tuple[str, ...]:
    """Return the warning that texts were not read, with the first words of the first; nothing where there are none."""
    first, *others = [*filter(None, texts)] or [""]
    words = first if len(first) <= MAX_SHOWN else f"{first[:MAX_SHOWN]}..."
    more = f" and {len(others)} more" if others else ""
    return (f"text that is {why} is left out: {words!r}{more}",) if first else ()


def title_of(path: Path) -> str:
    return path.stem.replace("_", " ").title()


def own_title(*texts: str) -> str:
    """Return the first title that names the document, not `untitled`, `10811.exe` or a row of numbers; else nothing."""
    titles = (_PRINTED_FROM.sub("", text) for text in texts)
    names = (title for title in titles if _WORD.search(title) and not _NO_TITLE.match(title.strip(" .()[]<>\"'-_")))
    return next(names, "")
