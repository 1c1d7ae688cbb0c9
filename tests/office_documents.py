"""Small presentations, workbooks, e-mails and books for tests, made by the libraries of the formats."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage
from typing import Any

import openpyxl
from pptx import Presentation

from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.source import SourceText


def pptx(*slides: tuple[str, str], notes: str = "", hidden: Sequence[int] = (), title: str = "") -> bytes:
    """Return a presentation of slides with a title and lines of text; the last one has the `notes`."""
    show = Presentation()
    for heading, text in slides:
        slide = show.slides.add_slide(show.slide_layouts[1 if heading else 6])
        if heading:
            slide.shapes.title.text = heading
            slide.placeholders[1].text = text
    for number in hidden:
        show.slides[number - 1].element.set("show", "0")
    if notes:
        show.slides[len(slides) - 1].notes_slide.notes_text_frame.text = notes
    show.core_properties.title = title
    return _saved(show)


def slide_table(*rows: Sequence[str]) -> bytes:
    """Return a presentation of one slide with a table in a group of shapes beside it."""
    show = Presentation()
    shapes = show.slides.add_slide(show.slide_layouts[6]).shapes
    shapes.add_group_shape().shapes.add_textbox(0, 0, 9, 9).text_frame.text = "In a group"
    table = shapes.add_table(len(rows), len(rows[0]), 0, 0, 9, 9).table
    for number, row in enumerate(rows):
        for column, text in enumerate(row):
            table.cell(number, column).text = text
    return _saved(show)


def xlsx(
    sheets: Mapping[str, Sequence[Sequence[Any]]], *, hidden: Sequence[str] = (), percent: str = "", title: str = ""
) -> bytes:
    """Return a workbook; the cell `percent` of the first sheet is shown in percent."""
    book = openpyxl.Workbook()
    book.properties.title = title
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
        if name in hidden:
            sheet.sheet_state = "hidden"
    if percent:
        book.worksheets[0][percent].number_format = "0%"
    return _saved(book)


def eml(body: str, *, html: bool = False, attachments: Mapping[str, bytes] | None = None, **headers: str) -> bytes:
    message = EmailMessage()
    for name, value in headers.items():
        message[name] = value
    message.set_content(body, subtype="html" if html else "plain")
    for name, content in (attachments or {}).items():
        message.add_attachment(content, maintype="application", subtype="octet-stream", filename=name)
    return message.as_bytes()


def epub(*chapters: str, title: str = "", more: Mapping[str, str] | None = None) -> bytes:
    """Return a book whose chapters are these pages."""
    items = "".join(
        f'<item id="c{n}" href="text/c%20{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(chapters))
    )
    order = '<itemref idref="nav"/>' + "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/"><metadata>'
        f"<dc:title>{title}</dc:title><dc:creator>Customs</dc:creator>"
        '<meta property="dcterms:modified">2026-01-31T08:00:00Z</meta></metadata><manifest>'
        f'<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>{items}</manifest>'
        f"<spine>{order}</spine></package>"
    )
    container = '<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
    parts = {"mimetype": "application/epub+zip", "META-INF/container.xml": container, "OEBPS/book.opf": package}
    parts |= {"OEBPS/nav.xhtml": "<nav>Contents</nav><p>Contents"}
    parts |= {f"OEBPS/text/c {number}.xhtml": page for number, page in enumerate(chapters)}
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in {**parts, **(more or {})}.items():
            archive.writestr(name, text)
    return file.getvalue()


def _saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def chunks_of(source: SourceText, size: int = 800) -> list[Chunk]:
    """Split a text into chunks that are slices of it."""
    chunks = Chunker(size=size, overlap=size // 8).split(source)
    assert all(source.text[chunk.start_char : chunk.end_char] == chunk.text for chunk in chunks)
    return chunks
