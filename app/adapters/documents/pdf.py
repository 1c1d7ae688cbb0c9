"""Read the pages of PDF files, by pypdf."""

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pypdf import PageObject, PdfReader
from pypdf.errors import DependencyError, PyPdfError

from chains.errors import IngestionError
from chains.ingestion.source import Page, SourceText, open_file, storable, title_of

PAGE_BREAK = "\n\f\n"

_PRINTED_FROM = re.compile(r"^Microsoft (?:Word|Excel|PowerPoint) - |\.(?:docx?|xlsx?|pptx?|rtf|pdf)$", re.IGNORECASE)
_DATE = re.compile(r"^(?:D:)?(\d{4})-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])")
_SPACES = re.compile(r"[^\S\n]+")
_PADDED_LINE_END = re.compile(r" ?\n ?")
_EMPTY_LINES = re.compile(r"\n{3,}")


def load_pdf(path: Path) -> SourceText:
    """Read the text of a PDF; pages are counted from 1, and those without text are named in the warnings.

    Raises:
        IngestionError: it cannot be opened, asks for a password, or has no text. Other errors mean damage.
    """
    with _quiet(), open_file(path) as file:
        reader = PdfReader(file)
        unlock(reader)
        texts = [page_text(page) for page in reader.pages]
        return _source(texts, _metadata(reader, path))


def unlock(reader: PdfReader) -> None:
    """Open an encrypted file that asks for no password.

    Raises:
        IngestionError: it asks for one, or its encryption is not known.
    """
    try:
        # Many documents are encrypted with an empty password, only to forbid changes.
        if reader.is_encrypted and not reader.decrypt(""):
            msg = "the PDF is protected by a password; save it without one"
            raise IngestionError(msg)
    except (DependencyError, NotImplementedError) as error:
        msg = "the PDF is encrypted; save it without encryption"
        raise IngestionError(msg) from error


def page_text(page: PageObject) -> str | None:
    """Return the text of a page with its spaces evened out; None where it cannot be read."""
    try:
        text = page.extract_text()
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError):
        return None
    lines = _PADDED_LINE_END.sub("\n", _SPACES.sub(" ", storable(text).replace("\r", "\n")))
    return _EMPTY_LINES.sub("\n\n", lines).strip()


def _source(texts: list[str | None], metadata: dict[str, str]) -> SourceText:
    if not any(texts):
        msg = f"none of its {len(texts)} pages has text; if it is a scan, run a text recognition on it first"
        raise IngestionError(msg)
    pages, place = [], 0
    for number, text in enumerate(texts, start=1):
        if text:
            pages.append(Page(number, place, place + len(text)))
        place += len(text or "") + len(PAGE_BREAK)
    text = PAGE_BREAK.join(text or "" for text in texts)
    return SourceText(text, 0, metadata, pages=tuple(pages), warnings=tuple(_warnings(texts)))


def _warnings(texts: list[str | None]) -> Iterator[str]:
    for number, text in enumerate(texts, start=1):
        if text is None:
            yield f"page {number} cannot be read"
        elif not text:
            yield f"page {number} has no text; it may be a scanned image"


def _metadata(reader: PdfReader, path: Path) -> dict[str, str]:
    about: dict[str, object] = dict(reader.metadata or {})
    title = _PRINTED_FROM.sub("", _plain(about.get("/Title"))) or title_of(path)
    date = day(_plain(about.get("/ModDate"))) or day(_plain(about.get("/CreationDate")))
    found = {"title": title, "author": _plain(about.get("/Author")), "last_updated": date}
    return {name: value for name, value in found.items() if value}


def day(stamp: str) -> str:
    """Return the day of a PDF's time stamp, as YYYY-MM-DD; empty where there is none."""
    found = _DATE.match(stamp)
    return "-".join(found.groups()) if found else ""


def _plain(value: object) -> str:
    return " ".join(str(value or "").replace("\0", "").split())


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what pypdf logs about imperfect files, which are most, from the terminal."""
    log = logging.getLogger("pypdf")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        log.setLevel(before)
