"""What a sheet's XML says beside its values: merged cells, hidden rows and columns, formulas without a value."""

import posixpath
import re
from dataclasses import dataclass, field
from zipfile import ZipFile

from bs4 import BeautifulSoup
from lxml import etree
from openpyxl.utils.cell import range_boundaries

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
        for relation in BeautifulSoup(archive.read(RELATIONS), "lxml-xml").find_all("Relationship")
    }
    sheets = BeautifulSoup(archive.read(WORKBOOK), "lxml-xml").find_all("sheet")
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
