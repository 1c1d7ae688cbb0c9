"""Read PDF files by pdfium: the text of their pages, their headings, and what the file tells about itself."""

import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

import pypdfium2
from pypdfium2 import raw

from app.adapters.documents.pdf_headings import headings, is_cover, report_title, without_running
from app.adapters.documents.pdf_lines import Line, read_lines, text_of
from app.adapters.documents.pdf_tables import tables
from chains.errors import IngestionError
from chains.ingestion.source import Heading, Page, SourceText, Table, title_of, without_controls
from chains.regular_files import open_file

PAGE_BREAK = "\n\f\n"
# The pages on which a report says whose it is, and of which year.
COVER_PAGES = 2

_PRINTED_FROM = re.compile(r"^Microsoft (?:Word|Excel|PowerPoint) - |\.(?:docx?|xlsx?|pptx?|rtf|pdf)$", re.IGNORECASE)
_DATE = re.compile(r"^(?:D:)?(\d{4})-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])")


class RecognitionError(Exception):
    """A page could not be read; the message says why, in words that follow the number of the page."""


class TextRecognition(Protocol):
    """Reads the words of pages that are pictures."""

    def lines(self, page: pypdfium2.PdfPage) -> list[Line]:
        """Return the lines on the picture of a page; none where there are no letters.

        Raises:
            RecognitionError: the page could not be read.
        """


class ReadPage(NamedTuple):
    """The lines of a page, and in words what of it could not be read, or may be wrong."""

    lines: list[Line]
    warning: str = ""


def load_pdf(path: Path, *, recognition: TextRecognition | None = None) -> SourceText:
    """Read the text of a PDF; pages are counted from 1, and those without text are named in the warnings.

    A page without text is read by `recognition`, where there is one.

    Raises:
        IngestionError: it cannot be opened, asks for a password, or has no text. Other errors mean damage.
    """
    with open_pdf(path) as document:
        pages = [_read(document, number, recognition) for number in range(len(document))]
        return _source(pages, document.get_metadata_dict(), path)


def _read(document: pypdfium2.PdfDocument, number: int, recognition: TextRecognition | None) -> ReadPage:
    lines = page_lines(document, number)
    if lines:
        return ReadPage(lines)
    if lines is None:
        return ReadPage([], "cannot be read")
    if recognition is None:
        return ReadPage([], "has no text; it may be a scanned image")
    page = document[number]
    try:
        found = recognition.lines(page)
    except RecognitionError as error:
        return ReadPage([], f"has no text; it may be a scanned image, and {error}")
    finally:
        page.close()
    return ReadPage(found, "is a picture; its words were recognized and may be wrong" if found else "has no text")


@contextmanager
def open_pdf(path: Path) -> Iterator[pypdfium2.PdfDocument]:
    """Open a PDF, also one that is encrypted with an empty password, as many are only to forbid changes.

    Raises:
        IngestionError: it asks for a password, or its encryption is not known. Other errors mean damage.
    """
    with open_file(path) as file:
        try:
            document = pypdfium2.PdfDocument(file)
        except pypdfium2.PdfiumError as error:
            if error.err_code == raw.FPDF_ERR_PASSWORD:
                msg = "the PDF is protected by a password; save it without one"
                raise IngestionError(msg) from error
            if error.err_code == raw.FPDF_ERR_SECURITY:
                msg = "the PDF is encrypted; save it without encryption"
                raise IngestionError(msg) from error
            raise
        with document:
            yield document


def page_lines(document: pypdfium2.PdfDocument, number: int) -> list[Line] | None:
    """Return the lines of a page, counted from 0; None where it cannot be read."""
    try:
        page = document[number]
    except pypdfium2.PdfiumError:
        return None
    try:
        return read_lines(page)
    except pypdfium2.PdfiumError:
        return None
    finally:
        page.close()


def _source(pages: list[ReadPage], about: dict[str, str], path: Path) -> SourceText:
    if not any(page.lines for page in pages):
        msg = f"none of its {len(pages)} pages has text; if it is a scan, install tesseract (see INGEST_OCR)"
        raise IngestionError(msg)
    kept = without_running([page.lines for page in pages])
    texts = [text_of(lines) for lines in kept]
    places = list(_places([text for text, _ in texts]))
    covers = {number for number, (text, _) in enumerate(texts[:COVER_PAGES]) if is_cover(text)}
    return SourceText(
        PAGE_BREAK.join(text for text, _ in texts),
        0,
        _metadata(about, path, "\n".join(text for text, _ in texts[:COVER_PAGES])),
        pages=tuple(page for page, (text, _) in zip(places, texts, strict=True) if text),
        headings=tuple(_headings(kept, places, [starts for _, starts in texts], covers)),
        tables=tuple(_tables(kept, places, [starts for _, starts in texts])),
        warnings=tuple(f"page {number} {page.warning}" for number, page in enumerate(pages, start=1) if page.warning),
    )


def _places(texts: Sequence[str]) -> Iterator[Page]:
    place = 0
    for number, text in enumerate(texts, start=1):
        yield Page(number, place, place + len(text))
        place += len(text) + len(PAGE_BREAK)


def _headings(
    pages: Sequence[Sequence[Line]], places: Sequence[Page], starts: Sequence[list[int]], covers: Collection[int]
) -> Iterator[Heading]:
    """Yield the headings with their places in the text; those of a cover are none."""
    for found in (one for one in headings(pages) if one.page not in covers):
        before, begins = places[found.page].start, starts[found.page]
        end = begins[found.end] if found.end < len(begins) else places[found.page].end - before
        yield Heading(without_controls(found.text), found.level, before + begins[found.first], before + end)


def _tables(pages: Sequence[Sequence[Line]], places: Sequence[Page], starts: Sequence[list[int]]) -> Iterator[Table]:
    """Yield the tables with their places in the text."""

    def place(page: int, line: int) -> int:
        return places[page].start + starts[page][line] if line < len(starts[page]) else places[page].end

    for found in tables(pages):
        head, body = place(found.page, found.head), place(found.page, found.head + 1)
        yield Table(head, body, place(found.last_page, found.end))


def _metadata(about: dict[str, str], path: Path, cover: str) -> dict[str, str]:
    named = _PRINTED_FROM.sub("", _plain(about.get("Title", "")))
    title = report_title(cover) or named or title_of(path)
    date = day(_plain(about.get("ModDate", ""))) or day(_plain(about.get("CreationDate", "")))
    found = {"title": title, "author": _plain(about.get("Author", "")), "last_updated": date}
    return {name: value for name, value in found.items() if value}


def day(stamp: str) -> str:
    """Return the day of a PDF's time stamp, as YYYY-MM-DD; empty where there is none."""
    found = _DATE.match(stamp)
    return "-".join(found.groups()) if found else ""


def _plain(value: str) -> str:
    return " ".join(value.replace("\0", "").split())
