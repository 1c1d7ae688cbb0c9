"""The text that a loader extracts from a file, and the checks that all loaders share."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from chains.errors import IngestionError

# Every chunk carries the title and the name of its section; what is longer is no name that a reader would know.
MAX_NAME = 300

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
    read.
    """

    text: str
    body_start: int
    metadata: dict[str, str]
    plain: bool = False
    pages: tuple[Page, ...] = ()
    headings: tuple[Heading, ...] = ()
    tables: tuple[Table, ...] = ()
    warnings: tuple[str, ...] = ()


Loader = Callable[[Path], SourceText]


def require_words(text: str) -> None:
    """Check that there is something to index.

    Raises:
        IngestionError: there are no words.
    """
    if not text.strip():
        msg = "the file is empty: there is no text to index"
        raise IngestionError(msg)


def storable(text: str) -> str:
    """Return extracted text that every store can keep: without NUL, halves of surrogate pairs joined or replaced."""
    return text.replace("\0", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def without_controls(text: str) -> str:
    """Return a text without control characters and without halves of characters, which no store can keep."""
    return _NO_CHARACTERS.sub("", text)


def title_of(path: Path) -> str:
    """Return a title made of the file's name."""
    return path.stem.replace("_", " ").title()
