"""Read PDF files by pdfium: the text of their pages, their headings, and what the file tells about itself."""

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pypdfium2
from pypdfium2 import raw

from app.adapters.documents.pdf_headings import REGISTRANT, headings, report_title, without_contents, without_running
from app.adapters.documents.pdf_lines import PART_OF_PAGE, Line, joined, picture_part, read_lines, text_of
from app.adapters.documents.pdf_tables import clear_grids, grids, in_rows, with_tables
from chains.errors import IngestionError
from chains.ingestion.source import (
    MAX_NAME,
    PAGE_BREAK,
    Heading,
    SourceText,
    given,
    left_out,
    own_title,
    placed_pages,
    title_of,
    without_controls,
)
from chains.ingestion.tables import markdown_tables, one_line
from chains.regular_files import open_file

UNSEEN = "white, without ink or off the page"
# The pages on which a report says whose it is, and of which year.
COVER_PAGES = 2
PART_OF_LETTERS = 0.05  # Of a page that is a scan, with a stamp or a page number in letters.

# A name of three words says more than a first heading such as `Annex A`.
_SAYS_MUCH = re.compile(r"(?:[^\W\d_]{2,}[ _-]+){2,}[^\W\d_]{2,}")
_DATE = re.compile(r"^(?:D:)?(\d{4})-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])")


class RecognitionError(Exception):
    """A page could not be read; the message says why, in words that follow the number of the page."""


TextRecognition = Callable[[pypdfium2.PdfPage], list[Line]]
"""Returns the lines on the picture of a page. Raises RecognitionError if it could not be read."""


class ReadPage(NamedTuple):
    """The lines of a page, and in words what of it could not be read, or may be wrong."""

    lines: list[Line]
    warning: str = ""
    unseen: tuple[str, ...] = ()


def load_pdf(path: Path, *, recognition: TextRecognition | None = None) -> SourceText:
    """Read the text of a PDF; pages are counted from 1, and those without text are named in the warnings.

    A page without text is read by `recognition`, where there is one.
    """
    with open_pdf(path) as document:
        pages = [_read(document, number, recognition) for number in range(len(document))]
        return _source(pages, document.get_metadata_dict(), path)


def _read(document: pypdfium2.PdfDocument, number: int, recognition: TextRecognition | None) -> ReadPage:
    read = page_lines(document, number)
    if read is None:
        return ReadPage([], "cannot be read")
    lines, unseen = read
    what = "is mostly a picture" if lines else "has no text"
    with closing(document[number]) as page:
        wide, high = page.get_size()
        written = sum((line.right - line.left) * (line.top - line.bottom) for line in lines)
        # A picture covers most of a scan, and the letters next to nothing of it, as a stamp does.
        if lines and (written >= PART_OF_LETTERS * wide * high or picture_part(page) < PART_OF_PAGE):
            return ReadPage(lines, unseen=tuple(unseen))
        if recognition is None:
            return ReadPage(lines, f"{what}; it may be a scanned image")
        try:
            found = recognition(page)
        except RecognitionError as error:
            return ReadPage(lines, f"{what}; it may be a scanned image, and {error}")
    if _words(found) <= _words(lines):
        return ReadPage(lines, "" if lines else what, tuple(unseen))
    return ReadPage(found, "is a picture; its words were recognized and may be wrong")


def _words(lines: Sequence[Line]) -> int:
    return sum(len(line.text.split()) for line in lines)


@contextmanager
def open_pdf(path: Path) -> Iterator[pypdfium2.PdfDocument]:
    """Open a PDF, also one that is encrypted with an empty password, as many are only to forbid changes.

    Raise IngestionError if it asks for a password, or its encryption is not known; other errors mean damage.
    """
    with open_file(path) as file:
        try:
            document = pypdfium2.PdfDocument(file)
        except pypdfium2.PdfiumError as error:
            if error.err_code == raw.FPDF_ERR_PASSWORD:
                raise IngestionError("the PDF is protected by a password; save it without one") from error
            if error.err_code == raw.FPDF_ERR_SECURITY:
                raise IngestionError("the PDF is encrypted; save it without encryption") from error
            raise
        with document:
            if document.get_formtype() != raw.FORMTYPE_NONE:
                document.init_forms()
            yield document


def page_lines(document: pypdfium2.PdfDocument, number: int) -> tuple[list[Line], list[str]] | None:
    """Return the lines of a page, counted from 0, and the words on it that nobody sees; None if it cannot be read."""
    try:
        with closing(document[number]) as page:
            tables = grids(page)
            lines, unseen = read_lines(page, lambda *edges: any(table.parts(*edges) for table in tables))
            lines = in_rows(lines, tables)
            return with_values(document, page, in_rows(lines, clear_grids(lines))), unseen
    except pypdfium2.PdfiumError:
        return None


def _source(pages: list[ReadPage], about: dict[str, str], path: Path) -> SourceText:
    if not any(page.lines for page in pages):
        msg = f"none of its {len(pages)} pages has text; if it is a scan, install tesseract (see INGEST_OCR_LANGUAGES)"
        raise IngestionError(msg)
    bodies, contents = without_contents(joined(without_running([page.lines for page in pages])))
    bodies = with_tables(bodies)
    outline = list(headings(bodies))
    texts = [text_of(lines) for lines in bodies]
    places = list(placed_pages([text for text, _ in texts]))

    def at(page: int, line: int) -> int:
        starts = texts[page][1]
        return places[page].start + starts[line] if line < len(starts) else places[page].end

    # The headings on the cover of a report to a stock exchange name no part of it.
    covers = {number for number, (text, _) in enumerate(texts[:COVER_PAGES]) if REGISTRANT.search(text)}
    # The heading that stands above all others at the beginning names the document, unless several are of its level.
    is_alone = outline and outline[0].page == 0 and all(heading.level > outline[0].level for heading in outline[1:])
    title = without_controls(outline[0].text)[:MAX_NAME] if is_alone else ""
    warnings = [f"page {number} {page.warning}" for number, page in enumerate(pages, start=1) if page.warning]
    text = PAGE_BREAK.join(text for text, _ in texts)
    without = [f"the table of contents on page {number + 1} is left out" for number in contents[:1]]
    return SourceText(
        text,
        0,
        _metadata(about, path, "\n".join(text for text, _ in texts[:COVER_PAGES]), title),
        pages=tuple(page for page, (text, _) in zip(places, texts, strict=True) if text),
        headings=tuple(
            Heading(without_controls(part.text), part.level, at(part.page, part.first), at(part.page, part.end))
            for part in outline
            if part.page not in covers
        ),
        tables=tuple(markdown_tables(text)),
        warnings=(*warnings, *left_out((text for page in pages for text in page.unseen), UNSEEN), *without),
    )


def _metadata(about: dict[str, str], path: Path, cover: str, heading: str) -> dict[str, str]:
    title = (
        report_title(cover)
        or own_title(one_line(about.get("Title", "")))
        or (heading if not _SAYS_MUCH.match(path.stem) else "")
        or title_of(path)
    )
    date = day(one_line(about.get("ModDate", ""))) or day(one_line(about.get("CreationDate", "")))
    return given(title=title, author=one_line(about.get("Author", "")), file_date=date)


def day(stamp: str) -> str:
    """Return the day of a PDF's time stamp, as YYYY-MM-DD; empty where there is none."""
    found = _DATE.match(stamp)
    return "-".join(found.groups()) if found else ""


TICKED = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
WRITTEN = {raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}
MOST_FIELDS, MOST_BYTES = 5000, 200_000


def with_values(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, lines: list[Line]) -> list[Line]:
    lines = list(lines)
    for words, left, middle in _fields(document, page):
        ticked = words in {"yes", "no"}  # The label of a box to tick may stand behind it.
        rows = (line.bottom - line.size / 2 <= middle <= line.top + line.size / 2 for line in lines)
        label = next((at for at, on_row in enumerate(rows) if on_row and (ticked or lines[at].left < left)), None)
        if label is not None:
            before = lines[label].text
            sign = ":" if ticked and not before.endswith(":") else ""
            lines[label] = lines[label]._replace(text=f"{before}{sign} {words}")
        elif not ticked:
            lines.append(Line(words, 10, False, left, middle - 5, left + 5 * len(words), middle + 5))
    return lines


def _fields(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage) -> Iterator[tuple[str, float, float]]:
    """Yield the value of each field and each note on the page, its left edge and the height of its middle."""
    form = document.formenv
    for number in range(min(raw.FPDFPage_GetAnnotCount(page), MOST_FIELDS)):
        field = raw.FPDFPage_GetAnnot(page, number)
        try:
            kind, box = raw.FPDFAnnot_GetFormFieldType(form, field), raw.FS_RECTF()
            if raw.FPDFAnnot_GetSubtype(field) == raw.FPDF_ANNOT_FREETEXT:
                words = _text(partial(raw.FPDFAnnot_GetStringValue, field, b"Contents"))
            elif kind in TICKED:
                words = "yes" if raw.FPDFAnnot_IsChecked(form, field) else "no"
            else:
                words = _text(partial(raw.FPDFAnnot_GetFormFieldValue, form, field)) if kind in WRITTEN else ""
            if words and raw.FPDFAnnot_GetRect(field, box):
                yield words, box.left, (box.top + box.bottom) / 2
        finally:
            raw.FPDFPage_CloseAnnot(field)


def _text(read: Callable[[Any, int], int]) -> str:
    """Return a text that pdfium hands out in two calls, the first of which says how long it is."""
    length = read(None, 0)
    if not 2 < length <= MOST_BYTES:  # noqa: PLR2004 - The end of the text alone.
        return ""
    letters = (ctypes.c_ushort * (length // 2 + 1))()
    read(letters, length)
    return one_line(bytes(letters)[:length].decode("utf-16-le", "replace").rstrip("\0"))
