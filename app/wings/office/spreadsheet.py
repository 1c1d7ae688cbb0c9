"""Read spreadsheets: XLSX by openpyxl, a section for each sheet, and CSV; every row with the names of its columns."""

import csv
import io
from collections.abc import Iterator
from datetime import datetime, time
from itertools import islice
from pathlib import Path
from typing import Any

import openpyxl

from app.adapters.documents.rows import one_line, rows_text
from app.wings.office.office import office_properties, open_archive
from chains.ingestion.source import SourceText, require_words, title_of
from chains.regular_files import open_file, read_text

# What is not unpacked: pictures and attached files.
MEDIA = ("xl/media/", "xl/embeddings/", "xl/vbaProject")
MOST_ROWS = 1_048_576  # Of the format.
DELIMITERS = ",;\t|"
SAMPLE_CHARACTERS = 64_000


def load_xlsx(path: Path) -> SourceText:
    """Read the sheets of a workbook, each value as it was last computed; its title is that of its properties or name.

    Sheets that are hidden from a reader of the file are left out, with a warning.

    Raises:
        IngestionError: it cannot be opened, unpacks to too much, or has no text. Other errors mean damage.
    """
    with open_file(path) as file:
        with open_archive(file, besides=MEDIA) as archive:
            properties = office_properties(archive)
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        hidden = [name for name, sheet in sheets.items() if sheet.sheet_state != "visible"]
        parts = {name: rows_text(_rows(sheet)) for name, sheet in sheets.items() if name not in hidden}
    text = "\n\n".join(f"## {one_line(name)}\n\n{rows}" for name, rows in parts.items() if rows) + "\n"
    require_words("".join(parts.values()))
    warnings = tuple(f"the sheet {name!r} is hidden, and is not read" for name in hidden)
    return SourceText(text, 0, {"title": title_of(path)} | properties, warnings=warnings)


def load_csv(path: Path) -> SourceText:
    """Read a file of values with commas, semicolons, tabs or bars between them; its first row names the columns.

    Raises:
        IngestionError: the file cannot be read, is not UTF-8 text, or is empty.
    """
    text = read_text(path).removeprefix("\ufeff")
    require_words(text)
    try:
        dialect: Any = csv.Sniffer().sniff(text[:SAMPLE_CHARACTERS], DELIMITERS)
    except csv.Error:
        dialect = csv.excel_tab if path.suffix.lower() == ".tsv" else csv.excel
    rows = rows_text(csv.reader(io.StringIO(text, newline=""), dialect))
    require_words(rows)
    return SourceText(rows + "\n", 0, {"title": title_of(path)})


def _rows(sheet: Any) -> Iterator[list[object]]:
    sheet.reset_dimensions()  # What a file says of its own size may be wrong.
    for row in islice(sheet.iter_rows(), MOST_ROWS):  # Rows that a file leaves out are made, however many.
        yield [_value(cell) for cell in row]


def _value(cell: Any) -> object:
    """Return a cell's value as a reader of the sheet sees it: nine percent is kept as 0.09."""
    value = cell.value
    if isinstance(value, datetime) and value.time() == time():
        return value.date()
    if isinstance(value, float) and "%" in str(cell.number_format):
        return f"{value * 100:.10g}%"
    if isinstance(value, float):
        return f"{value:.15g}"
    return value
