"""Count the rows of tables with merged cells that the readers of HTML, PDF and the Office formats get right.

usage: python -m benchmarks.spans FOLDER [--beside]

Each table of the folder is a page `NAME.html` beside its rows with every span filled, `NAME.tsv`, whose first line
names the columns. It is also written as a document of each Office format and as a PDF with rules, and read again; with
`--beside` also by pandoc, pdftotext and markitdown, where they are installed.
"""

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unicodedata import normalize

import openpyxl
from bs4 import BeautifulSoup
from fpdf import FPDF
from pptx import Presentation

from app.adapters.documents.worker import LOADERS
from benchmarks.documents import docx, heading, merged_table
from chains.errors import IngestionError
from chains.ingestion.tables import Cell

_ROW = re.compile(r"(?<!\\)\|")

Rows = Sequence[Sequence[Cell]]


def cells_of(page: str) -> list[list[Cell]]:
    table = BeautifulSoup(page, "lxml").table
    rows = table.find_all("tr") if table else []
    return [[_cell(cell) for cell in row.find_all(["td", "th"])] for row in rows]


def _cell(tag: Any) -> Cell:
    rows, columns = (int(tag.get(name) or 1) for name in ("rowspan", "colspan"))
    return Cell(" ".join(tag.get_text(" ").split()), rows, columns, tag.name == "th")


def placed(rows: Rows) -> list[tuple[int, int, Cell]]:
    """Return each cell with the row and the column that it begins in; none reaches below the last row."""
    found, taken = [], set()
    for number, row in enumerate(rows):
        column = 0
        for cell in row:
            while (number, column) in taken:
                column += 1
            down = min(cell.rows, len(rows) - number)
            right = next((step for step in range(cell.columns) if (number, column + step) in taken), cell.columns)
            taken |= {(number + y, column + x) for y in range(down) for x in range(right)}
            found.append((number, column, cell._replace(rows=down, columns=right)))
    return found


def as_xlsx(rows: Rows) -> bytes:
    book = openpyxl.Workbook()
    sheet: Any = book.active
    for number, column, cell in placed(rows):
        target = sheet.cell(number + 1, column + 1)
        target.value, target.data_type = cell.text, "s"
        if cell.rows * cell.columns > 1:
            sheet.merge_cells(None, number + 1, column + 1, number + cell.rows, column + cell.columns)
    return _saved(book)


def as_pptx(rows: Rows) -> bytes:
    show = Presentation()
    cells = placed(rows)
    width = max(column + cell.columns for _, column, cell in cells)
    shape = show.slides.add_slide(show.slide_layouts[6]).shapes.add_table(len(rows), width, 0, 0, 9, 9)
    for number, column, cell in cells:
        first, last = shape.table.cell(number, column), (number + cell.rows - 1, column + cell.columns - 1)
        first.text = cell.text
        if cell.rows * cell.columns > 1:
            first.merge(shape.table.cell(*last))
    return _saved(show)


def as_docx(rows: Rows) -> bytes:
    return docx(heading("Table", 1) + merged_table(placed(rows)))


FORMATS: dict[str, Callable[[Rows], bytes]] = {"docx": as_docx, "xlsx": as_xlsx, "pptx": as_pptx}


def rows_right(text: str, expected: Sequence[Sequence[str]]) -> int:
    """Return how many of the expected rows stand in the tables of a text; empty cells do not count."""
    lines = [line.strip().strip("|") for line in text.splitlines() if line.startswith("|")]
    read = [_keys(_ROW.split(line)) for line in lines]
    return sum(any(row == wanted for row in read) for wanted in map(_keys, expected))


def _keys(cells: Sequence[str]) -> list[str]:
    return [key for cell in cells if (key := re.sub(r"[\W_]+", "", normalize("NFKD", cell.lower())))]


def _saved(document: Any) -> bytes:
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def as_pdf(rows: Rows) -> bytes:
    """Return a PDF that draws the table with rules; letters beyond Latin-1 lose their accents, or are left out."""
    document = FPDF(unit="pt", format=(1400, 2200))
    document.add_page()
    document.set_font("Helvetica", "", 9)
    cells = placed(rows)
    with document.table(width=1300, first_row_as_headings=False) as table:
        for number in range(len(rows)):
            row = table.row()
            for cell in (cell for place, _, cell in cells if place == number):
                words = cell.text if cell.text.isascii() else normalize("NFKD", cell.text)
                row.cell(words.encode("latin-1", "ignore").decode("latin-1"), rowspan=cell.rows, colspan=cell.columns)
    return bytes(document.output())


def main(folder: str, beside: str = "") -> None:
    """Print the rows and the tables that each reader gets right, the words it keeps, and its seconds."""
    print("| format | reader | rows right | tables wholly right | words kept | seconds |\n|---|---|---|---|---|---|")
    pages = sorted(Path(folder).glob("*.html"))
    expected = {
        page: [line.split("\t") for line in page.with_suffix(".tsv").read_text().split("\n")[1:] if line]
        for page in pages
    }
    for ending, write in {"html": None, **FORMATS, "pdf": as_pdf}.items():
        files = {page: page.read_bytes() if write is None else write(cells_of(page.read_text())) for page in pages}
        for name, reader in {"ours": read, **(OTHERS if beside else {})}.items():
            started = sum(os.times()[:4])  # Of this processor and of the programs it ran.
            texts = {page: reader(content, ending) for page, content in files.items()}
            seconds = sum(os.times()[:4]) - started
            if not any(texts.values()):
                continue
            hits = {page: rows_right(text, expected[page]) for page, text in texts.items()}
            right, total = sum(hits.values()), sum(map(len, expected.values()))
            whole = sum(hits[page] == len(expected[page]) for page in pages)
            kept, words = map(sum, zip(*(words_kept(texts[page], page.read_text()) for page in pages), strict=True))
            print(
                f"| {ending} | {name} | {right} of {total} ({right / max(1, total):.3f}) | {whole} of {len(pages)} "
                f"| {kept / max(1, words):.3f} | {seconds:.1f} |",
                flush=True,
            )


def words_kept(text: str, page: str) -> tuple[int, int]:
    """Return how many of the words of a page's table a text holds, and how many there are; accents do not count."""
    wanted = re.findall(r"[a-z0-9]+", " ".join(cell.text for row in cells_of(page) for cell in row).lower())
    found = set(re.findall(r"[a-z0-9]+", text.lower()))
    return sum(word in found for word in wanted), len(wanted)


def by_program(*command: str, endings: Collection[str]) -> Callable[[bytes, str], str]:
    """Return what reads a file by a program that is installed; nothing where it is not, or reads no such files."""

    def run(content: bytes, ending: str) -> str:
        if ending not in endings or not shutil.which(command[0]):
            return ""
        with tempfile.NamedTemporaryFile(suffix=f".{ending}") as file:
            file.write(content)
            file.flush()
            words = [file.name if word == "FILE" else word for word in command]
            return subprocess.run(words, capture_output=True, text=True, check=False).stdout

    return run


def by_markitdown(content: bytes, ending: str) -> str:
    """Return the text that markitdown makes of a file; nothing where it is not installed."""
    if find_spec("markitdown") is None:
        return ""
    made: Any = import_module("markitdown").MarkItDown()
    return str(made.convert_stream(io.BytesIO(content), file_extension=f".{ending}").text_content)


OTHERS = {
    "pandoc": by_program("pandoc", "FILE", "-t", "gfm-raw_html", "--wrap=none", "--columns=9999", endings=["html"]),
    "pdftotext": by_program("pdftotext", "-layout", "FILE", "-", endings=["pdf"]),
    "markitdown": by_markitdown,
}


def read(content: bytes, ending: str) -> str:
    """Return the text that a reader makes of a file; nothing where it refuses it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table.{ending}"
        path.write_bytes(content)
        try:
            return LOADERS[path.suffix](path).text
        except IngestionError:
            return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
