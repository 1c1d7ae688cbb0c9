"""The text that a loader extracts from a file, and the checks that all loaders share."""

import re
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, NamedTuple

from chains.errors import IngestionError

# The largest file of text or markup that is read at all. One of this size is a book of ten thousand pages.
MAX_BYTES = 20 * 2**20
# Every chunk carries the title and the name of its section; what is longer is no name that a reader would know.
MAX_NAME = 300
MAX_SHOWN = 60  # Of a text that is named in a warning.

# What Windows and older systems write; of all encodings, letters of one would be taken for another's.
ENCODINGS = [
    "utf_16", "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp932", "gb18030", "big5", "euc_jp", "euc_kr", "koi8_r"
]  # fmt: skip
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_WORD = re.compile(r"[^\W\d_]{2}")
_NO_TITLE = re.compile(
    r"(?:untitled(?: document)?|anonymous|unnamed|unknown|no title|none|null|title|document|slide"
    r"|(?:powerpoint )?presentation)\s*\d*$"
    r"|(?:new )?microsoft (?:word|excel|powerpoint)[\w ]*$|[\w./\\ -]+\.(?:exe|tmp|dvi|ps|indd|qxd|cdr|dwg)$"
    r"|(?:about:blank|file:|https?:)|(?:scan|img|image|dsc|page)[ _-]?\d+$",
    re.IGNORECASE,
)
_BINARY = re.compile(rb"\0{4}|[\x00-\x06\x0e-\x1a]{2}")
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


def open_file(path: Path) -> IO[bytes]:
    """Open a regular file.

    Raises:
        IngestionError: it is not a regular file, or the system does not hand it out.
    """
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            msg = "it is not a regular file"
            raise IngestionError(msg)
        return path.open("rb")
    except OSError as error:
        msg = f"the file cannot be read: {error.strerror or type(error).__name__}"
        raise IngestionError(msg) from error


def read_bytes(path: Path) -> bytes:
    """Read a file of bounded size.

    Raises:
        IngestionError: the file cannot be read, or is larger than `MAX_BYTES`.
    """
    with open_file(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        msg = f"the file is larger than {MAX_BYTES // 2**20} MB; split it"
        raise IngestionError(msg)
    return content


def read_text(path: Path) -> tuple[str, tuple[str, ...]]:
    """Read a file of text, and the warning which encoding it was taken for where that is not UTF-8.

    Line ends are read as line feeds.

    Raises:
        IngestionError: the file cannot be read, is too large, or is no text.
    """
    content = read_bytes(path)
    try:
        text, warnings = content.decode("utf-8"), tuple[str, ...]()
    except UnicodeDecodeError as error:
        text, warnings = _guessed(content, error)
    if "\0" in text:
        msg = "the file holds binary data, not text"
        raise IngestionError(msg)
    return text.replace("\r\n", "\n").replace("\r", "\n"), warnings


def _guessed(content: bytes, error: UnicodeDecodeError) -> tuple[str, tuple[str, ...]]:
    """Return the text in the encoding that its letters speak for."""
    from charset_normalizer import from_bytes  # noqa: PLC0415 - Few files need it, and it takes a tenth of a second.

    is_binary = _BINARY.search(content) and not content.startswith(_UTF_16)
    best = None if is_binary else from_bytes(content, cp_isolation=ENCODINGS).best()
    if best is None or not str(best).strip():
        msg = f"the file is not UTF-8 text (byte {error.start} cannot be read); save it as UTF-8"
        raise IngestionError(msg) from error
    text = str(best).removeprefix("\ufeff")
    name = "cp1252" if content.decode("cp1252", "replace") == text else best.encoding
    return text, (f"the file is not UTF-8; it was read as {name}",)


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


def left_out(texts: Iterable[str], why: str) -> tuple[str, ...]:
    """Return the warning that texts were not read, with the first words of the first; nothing where there are none."""
    first, *others = [*filter(None, texts)] or [""]
    words = first if len(first) <= MAX_SHOWN else f"{first[:MAX_SHOWN]}..."
    more = f" and {len(others)} more" if others else ""
    return (f"text that is {why} is left out: {words!r}{more}",) if first else ()


def title_of(path: Path) -> str:
    """Return a title made of the file's name."""
    return path.stem.replace("_", " ").title()


def is_title(text: str) -> bool:
    """Say whether a title that a program wrote names the document: not `untitled`, `10811.exe` or a row of numbers."""
    return bool(_WORD.search(text)) and not _NO_TITLE.match(text.strip(" .()[]<>\"'-_"))
