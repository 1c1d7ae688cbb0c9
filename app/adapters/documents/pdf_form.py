"""Read what is filled into the form of a PDF page: texts, choices, and whether boxes are ticked."""

import ctypes
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pypdfium2
from pypdfium2 import raw

from app.adapters.documents.pdf_lines import Line
from chains.ingestion.tables import one_line

TICKED = {raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON}
WRITTEN = {raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}
MOST_FIELDS, MOST_BYTES = 5000, 200_000


def with_values(document: pypdfium2.PdfDocument, page: pypdfium2.PdfPage, lines: list[Line]) -> list[Line]:
    """Return the lines with each value behind the words on its row, or as a line of its own."""
    lines = list(lines)
    for words, left, middle in _fields(document, page):
        label = next((number for number, line in enumerate(lines) if _is_beside(line, left, middle, words)), None)
        if label is not None:
            before = lines[label].text
            sign = ":" if words in {"yes", "no"} and not before.endswith(":") else ""
            lines[label] = lines[label]._replace(text=f"{before}{sign} {words}")
        elif words not in {"yes", "no"}:
            lines.append(Line(words, 10, False, left, middle - 5, left + 5 * len(words), middle + 5))
    return lines


def _is_beside(line: Line, left: float, middle: float, words: str) -> bool:
    """Say whether a line stands on the row of a field: before it, or behind a box to tick."""
    on_row = line.bottom - line.size / 2 <= middle <= line.top + line.size / 2
    return on_row and (line.left < left or words in {"yes", "no"})


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
