"""What a sheet's XML says beside its values: merged cells, hidden rows and columns, formulas without a value."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from zipfile import ZipFile

from bs4 import BeautifulSoup
from lxml import etree
from openpyxl.utils.cell import range_boundaries

WORKBOOK = "xl/workbook.xml"
RELATIONS = "xl/_rels/workbook.xml.rels"
MOST_COLUMNS = 16_384  # Of the format.

_NAMES = frozenset({"row", "col", "c", "mergeCell"})


@dataclass
class Layout:
    """Places of a sheet, counted from 1: `merged` are the first cells of merged ones, with their rows and columns."""

    merged: dict[tuple[int, int], tuple[int, int]] = field(default_factory=dict)
    rows: set[int] = field(default_factory=set)
    columns: set[int] = field(default_factory=set)
    formulas: list[str] = field(default_factory=list)
    struck: list[str] = field(default_factory=list)


def layouts(archive: ZipFile) -> dict[str, Layout]:
    """Return the layouts of the sheets by their names."""
    targets = {
        str(one["Id"]): posixpath.normpath(posixpath.join("/xl", str(one["Target"]))).lstrip("/")
        for one in BeautifulSoup(archive.read(RELATIONS), "lxml-xml").find_all("Relationship")
    }
    sheets = BeautifulSoup(archive.read(WORKBOOK), "lxml-xml").find_all("sheet")
    files = {str(sheet["name"]): targets.get(str(sheet.get("r:id")), "") for sheet in sheets}
    return {name: _layout(archive, file) for name, file in files.items() if file in archive.namelist()}


def _layout(archive: ZipFile, name: str) -> Layout:
    found = Layout()
    with archive.open(name) as file:
        for element in _elements(file):
            kind, value = etree.QName(element).localname, element.get
            if kind == "row" and value("hidden") in {"1", "true"} and str(value("r")).isdigit():
                found.rows.add(int(str(value("r"))))
            elif kind == "col" and value("hidden") in {"1", "true"}:
                last = min(int(str(value("max"))), MOST_COLUMNS)
                found.columns.update(range(int(str(value("min"))), last + 1))
            elif kind == "mergeCell":
                _merge(found, str(value("ref")))
            elif kind == "c":
                words = {etree.QName(part).localname: part.text for part in element}
                if "f" in words and not words.get("v") and "is" not in words:
                    found.formulas.append(str(value("r")))
    return found


def _elements(file: object) -> Iterator[etree._Element]:
    for _, element in etree.iterparse(file, resolve_entities=False, recover=True):
        if isinstance(element.tag, str) and etree.QName(element).localname in _NAMES:
            yield element
        if isinstance(element.tag, str) and etree.QName(element).localname == "row":
            element.clear()
            while element.getprevious() is not None:
                del element.getparent()[0]


def _merge(layout: Layout, reference: str) -> None:
    if not re.fullmatch(r"[A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7}", reference):
        return
    left, top, right, bottom = range_boundaries(reference)
    layout.merged[top, left] = (bottom - top + 1, right - left + 1)
