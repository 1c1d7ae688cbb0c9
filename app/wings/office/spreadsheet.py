"""Read spreadsheets: XLSX by openpyxl, a section for each sheet, and CSV; every table with the names of its columns."""

import csv
import io
import posixpath
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import ROUND_HALF_UP, Decimal
from itertools import islice
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import openpyxl
from lxml import etree
from openpyxl.utils.cell import range_boundaries

from app.wings.office.office import office_properties, open_archive, xml_of
from chains.ingestion.source import SourceText, left_out, require_words, title_of
from chains.ingestion.tables import Cell, Grid, grid_of, one_line, sheet_text, tables_text
from chains.regular_files import open_file, read_any_text

WORKBOOK = "xl/workbook.xml"
RELATIONS = "xl/_rels/workbook.xml.rels"
MOST_COLUMNS = 16_384  # Of the format.

_RANGE = re.compile(r"[A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7}")
NAMES = ("{*}row", "{*}col", "{*}mergeCell")


@dataclass
class Layout:
    """Places of a sheet, counted from 1: `merged` are the first cells of merged ones, with their rows and columns."""

    merged: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    formulas: list[str] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)


def layouts(archive: ZipFile) -> dict[str, Layout]:
    targets = {
        str(relation["Id"]): posixpath.normpath(posixpath.join("/xl", str(relation["Target"]))).lstrip("/")
        for relation in xml_of(archive, RELATIONS).find_all("Relationship")
    }
    sheets = xml_of(archive, WORKBOOK).find_all("sheet")
    files = {str(sheet["name"]): targets.get(str(sheet.get("r:id")), "") for sheet in sheets}
    return {name: _layout(archive, file) for name, file in files.items() if file in archive.namelist()}


def _layout(archive: ZipFile, name: str) -> Layout:
    found = Layout()
    with archive.open(name) as file:
        for _, element in etree.iterparse(file, tag=NAMES, resolve_entities=False, recover=True):
            kind, value = etree.QName(element).localname, element.get
            if kind == "mergeCell" and _RANGE.fullmatch(str(value("ref"))):
                left, top, right, bottom = range_boundaries(str(value("ref")))
                found.merged[top, left] = (bottom - top + 1, right - left + 1)
            elif kind == "col" and value("hidden") in {"1", "true"}:
                last = min(int(str(value("max"))), MOST_COLUMNS)
                found.columns.update(range(int(str(value("min"))), last + 1))
            elif kind == "row":
                for formula in element.iter("{*}f"):
                    computed = formula.getnext()  # The value of the cell stands behind its formula.
                    if computed is None or not computed.text:
                        found.formulas.append(str(formula.getparent().get("r")))
                if value("hidden") in {"1", "true"} and str(value("r")).isdigit():
                    found.rows.add(int(str(value("r"))))
                element.clear()
                while element.getprevious() is not None:
                    del element.getparent()[0]
    return found


# What is not unpacked: pictures and attached files.
MEDIA = ("xl/media/", "xl/embeddings/", "xl/vbaProject")
MOST_ROWS = 1_048_576  # Of the format; rows that a file leaves out are made.
MOST_NAMES = 5
LARGEST = 1e15  # Beyond it, no digits of a format are certain.
DELIMITERS = ",;\t|"
SAMPLE_CHARACTERS = 64_000

_UNSHOWN = re.compile(r"\[(?!\$|[hms]+\])[^\]]*\]|_.|\*.")
_CURRENCY = re.compile(r"\[\$([^\]-]*)[^\]]*\]")
_DIGITS = re.compile(r"[#0?](?:[#0?,]*[#0?])?(?:\.([#0?]+))?(,*)")  # A comma at the end divides by a thousand.


def load_xlsx(path: Path) -> SourceText:
    """Read the sheets of a workbook, each value as it is shown; its title is that of its properties or name.

    Sheets, rows and columns that are hidden from a reader of the file are left out, with a warning.
    """
    with open_file(path) as file:
        with open_archive(file, besides=MEDIA) as archive:
            properties, places = office_properties(archive), defaultdict(Layout, layouts(archive))
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        sheets = {sheet.title: sheet for sheet in book.worksheets}
        hidden = [name for name, sheet in sheets.items() if sheet.sheet_state != "visible"]
        shown = {name: sheet for name, sheet in sheets.items() if name not in hidden}
        parts = {name: tables_text(_grid(sheet, places[name])) for name, sheet in shown.items()}
    text = "\n\n".join(f"## {one_line(name)}\n\n{tables}" for name, tables in parts.items() if tables) + "\n"
    require_words("".join(parts.values()))
    warnings = [f"the sheet {name!r} is hidden, and is not read" for name in hidden]
    warnings += [warning for name in shown for warning in _warnings(name, places[name])]
    return SourceText(text, 0, {"title": title_of(path)} | properties, warnings=tuple(warnings))


def load_csv(path: Path) -> SourceText:
    """Read a file of values with commas, semicolons, tabs or bars between them; its first row names the columns."""
    text, warnings = read_any_text(path)
    text = text.removeprefix("\ufeff")
    require_words(text)
    sample = text[:SAMPLE_CHARACTERS]
    try:
        dialect: Any = csv.Sniffer().sniff(sample, DELIMITERS)
    except csv.Error:
        dialect = csv.excel()
        dialect.delimiter = max(DELIMITERS, key=lambda sign: sum(sign in line for line in sample.splitlines()))
    tables = sheet_text(csv.reader(io.StringIO(text, newline=""), dialect))
    require_words(tables)
    return SourceText(tables + "\n", 0, {"title": title_of(path)}, warnings=warnings)


def _warnings(name: str, layout: Layout) -> Iterator[str]:
    for kind, numbers in (("rows", layout.rows), ("columns", layout.columns)):
        if numbers:
            yield f"hidden {kind} of the sheet {name!r} are not read ({len(numbers)})"
    yield from left_out(layout.struck, f"struck out in the sheet {name!r}")
    if layout.formulas:
        more = ", ..." if len(layout.formulas) > MOST_NAMES else ""
        cells = ", ".join(layout.formulas[:MOST_NAMES]) + more
        yield f"formulas of the sheet {name!r} have no computed value ({cells}); open and save it in a spreadsheet"


def _grid(sheet: Any, layout: Layout) -> Grid:
    """Return the cells that a reader of the sheet sees, merged ones filled."""
    sheet.reset_dimensions()  # What a file says of its own size may be wrong.
    rows: list[list[Cell]] = []
    covered: dict[int, int] = {}  # The last row of the merged cell that covers a column.
    for number, row in enumerate(islice(sheet.iter_rows(), MOST_ROWS), start=1):
        if number in layout.rows:
            continue
        cells = []
        for column, cell in enumerate(row, start=1):
            if covered.get(column, 0) >= number or column in layout.columns:
                continue
            text = _shown(cell)
            if text and cell.font.strike:
                layout.struck.append(text)
                text = ""
            down, right = layout.merged.get((number, column), (1, 1))
            if down * right > 1:
                covered.update(dict.fromkeys(range(column, column + right), number + down - 1))
                down -= sum(1 for place in layout.rows if number < place < number + down)
                right -= sum(1 for place in layout.columns if column < place < column + right)
            cells.append(Cell(text, down, right))
        rows.append(cells)
    return grid_of(rows)


def _shown(cell: Any) -> str:
    """Return a cell's value as a reader of the sheet sees it: nine percent is kept as 0.09."""
    value, shape = cell.value, str(getattr(cell, "number_format", "") or "General")
    if isinstance(value, datetime) and value.time() == time():
        return f"{value.date()}"
    if isinstance(value, datetime | date):
        return f"{value:%Y-%m-%d %H:%M}" if isinstance(value, datetime) and not value.second else f"{value}"
    if isinstance(value, time):
        return f"{value:%H:%M}" if not value.second else f"{value}"
    if isinstance(value, timedelta):
        minutes, seconds = divmod(round(value.total_seconds()), 60)
        return f"{minutes // 60}:{minutes % 60:02}" + (f":{seconds:02}" if seconds else "")
    return _number(value, shape) if isinstance(value, int | float) and not isinstance(value, bool) else one_line(value)


def _number(value: float, shape: str) -> str:
    """Return a number with the signs, decimals and thousands that its format asks for; `General` asks for none."""
    sections = _UNSHOWN.sub("", _CURRENCY.sub(r'"\1"', shape)).split(";")
    section = sections[1] if value < 0 and len(sections) > 1 and sections[1].strip() else sections[0]
    digits = _DIGITS.search(section)
    if len(sections) > 1 and not any(sections):  # The format `;;;` shows nothing.
        return ""
    is_plain = digits is None or _DIGITS.search(section, digits.end()) or re.search(r"e\+|/", section, re.IGNORECASE)
    if digits is None or is_plain or abs(value) > LARGEST:
        return f"{value:.15g}"
    decimals = len(digits[1] or "")
    before, after = (
        part.replace('"', "").replace("\\", "") for part in (section[: digits.start()], section[digits.end() :])
    )
    number = (abs(value) if section is not sections[0] else value) * (100 if "%" in section else 1)
    number /= 1000 ** len(digits[2])
    rounded = Decimal(repr(number)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP)
    text = f"{rounded:,f}" if "," in digits[0] else f"{rounded:f}"
    whole = digits[0].partition(".")[0]
    padded = text.zfill(len(whole)) if set(whole) == {"0"} else text
    return one_line(f"{before}{padded}{after}")
