"""Workbooks and presentations as their readers see them: merged cells, formats, hidden rows, charts."""

import io
import random
import re
import zipfile
from datetime import date, datetime, time, timedelta
from html import escape
from typing import Any

import openpyxl
import pytest
from openpyxl.styles import Font
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE

from app.wings.office.slides import load_pptx
from app.wings.office.spreadsheet import load_xlsx
from benchmarks.spans import FORMATS, read, rows_right
from chains.ingestion.source import SourceText
from chains.ingestion.tables import Cell
from tests.hostile_formats import changed
from tests.office_documents import chunks_of, pptx, slide_table, xlsx


@pytest.fixture
def book(tmp_path):
    def book(fill: Any) -> SourceText:
        workbook = openpyxl.Workbook()
        fill(workbook.active)
        workbook.save(tmp_path / "book.xlsx")
        return load_xlsx(tmp_path / "book.xlsx")

    return book


@pytest.mark.parametrize("ending", FORMATS)
def test_merged_cells_are_filled_in_every_format(ending):
    head = [[Cell("Port", 2), Cell("Fee", 1, 2)], [Cell("2031"), Cell("2032")]]
    body = [[Cell("Tema", 2), Cell("3"), Cell("4")], [Cell("5", 1, 2)], [Cell("Lagos"), Cell("6"), Cell("7")]]
    text = read(FORMATS[ending]([*head, *body]), ending)
    assert rows_right(text, [["Tema", "3", "4"], ["Tema", "5", "5"], ["Lagos", "6", "7"]]) == 3
    assert "| Port | Fee: 2031 | Fee: 2032 |" in text


@pytest.mark.parametrize(
    ("value", "shape", "shown"),
    [
        (1, "0%", "100%"),
        (0.075, "0.0%", "7.5%"),
        (1234.5, '#,##0.00 "EUR"', "1,234.50 EUR"),
        (1234.5, "[$€-407] #,##0", "€ 1,235"),
        (-3, "#,##0;(#,##0)", "(3)"),
        (7, "000", "007"),
        (5550100, "000-0000", "5550100"),
        (12.345, "General", "12.345"),
        (9, ";;;", ""),
        (datetime.fromisoformat("2031-03-04T14:30"), "dd/mm/yyyy hh:mm", "2031-03-04 14:30"),
        (datetime.fromisoformat("2031-03-04"), "dd/mm/yyyy", "2031-03-04"),
        (time(9, 5), "h:mm", "09:05"),
        (timedelta(hours=26), "[h]:mm", "26:00"),
    ],
)
def test_a_value_is_read_as_it_is_shown(book, value, shape, shown):
    def fill(sheet: Any) -> None:
        sheet.append(["Port", "Goods", "Value"])
        sheet.append(["Tema", "Fish", value])
        sheet["C2"].number_format = shape

    assert f"| Tema | Fish | {shown} |" in book(fill).text.replace("| Tema | Fish |\n", "| Tema | Fish |  |\n")


def test_hidden_rows_columns_and_struck_cells_are_left_out_and_named(book):
    def fill(sheet: Any) -> None:
        for row in (
            ["Port", "Goods", "Margin", "Fee"],
            ["Tema", "Fish", 9, 3],
            ["Lagos", "Fish", 8, 5],
            ["Cotonou", "Fish", 7, 6],
        ):
            sheet.append(row)
        sheet.row_dimensions[3].hidden = True
        sheet.column_dimensions["C"].hidden = True
        sheet["D4"].font = Font(strike=True)

    source = book(fill)
    assert "| Port | Goods | Fee |\n| --- | --- | --- |\n| Tema | Fish | 3 |\n| Cotonou | Fish |  |" in source.text
    assert source.warnings == (
        "hidden rows of the sheet 'Sheet' are not read (1)",
        "hidden columns of the sheet 'Sheet' are not read (1)",
        "text that is struck out in the sheet 'Sheet' is left out: '6'",
    )


def test_a_formula_without_a_value_is_named_and_one_with_a_value_is_read(book, load, tmp_path):
    def fill(sheet: Any) -> None:
        sheet.append(["Port", "Fee", "Sum"])
        sheet.append(["Tema", "=1+2", "=1+3"])

    book(fill)
    content, sheet = (tmp_path / "book.xlsx").read_bytes(), "xl/worksheets/sheet1.xml"
    computed = changed(content, sheet, lambda old: re.sub(r"(<f>1\+3</f>)<v *(?:/>|></v>)", r"\1<v>4</v>", old))
    source = load("new.xlsx", computed)
    assert "| Tema |  | 4 |" in source.text
    assert source.warnings == (
        "formulas of the sheet 'Sheet' have no computed value (B2); open and save it in a spreadsheet",
    )


def test_the_numbers_of_a_chart_are_a_table(tmp_path):
    show, data = Presentation(), CategoryChartData()
    data.categories = ["2031", "2032"]
    data.add_series("Ships", (12, 15.5))
    slide = show.slides.add_slide(show.slide_layouts[6])
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, 9, 9, data)
    show.save(str(tmp_path / "show.pptx"))
    assert load_pptx(tmp_path / "show.pptx").text == "|  | Ships |\n| --- | --- |\n| 2031 | 12 |\n| 2032 | 15.5 |"


def test_a_long_table_of_a_slide_keeps_its_head_in_every_chunk(tmp_path):
    from chains.ingestion.chunks import Chunker

    rows = [[Cell("Port"), Cell("Fee")], *[[Cell(f"Port {number}"), Cell(str(number))] for number in range(60)]]
    (tmp_path / "show.pptx").write_bytes(FORMATS["pptx"](rows))
    first, *others = Chunker(size=300, overlap=0).split(load_pptx(tmp_path / "show.pptx"))
    assert first.text.startswith("| Port | Fee |")
    assert {chunk.context for chunk in others} == {"| Port | Fee |\n| --- | --- |"}


def test_words_of_a_slide_that_are_struck_out_are_left_out(load):
    show = Presentation()
    box = show.slides.add_slide(show.slide_layouts[6]).shapes.add_textbox(0, 0, 9, 9)
    for words in ("It costs 5.", "It cost 4."):
        box.text_frame.add_paragraph().add_run().text = words
    show.save(file := io.BytesIO())
    run, struck = "<a:r><a:t>It cost 4", "<a:r><a:rPr strike='sngStrike'/><a:t>It cost 4"
    content = changed(file.getvalue(), "ppt/slides/slide1.xml", lambda old: old.replace(run, struck))
    source = load("show.pptx", content)
    assert (source.text, source.warnings) == ("It costs 5.", ("text that is struck out is left out: 'It cost 4.'",))


REGIONS = ["Norland", "Sudmark", "Ostrand", "Westholm", "Midvale"]
GOODS = ["Chilled", "Frozen", "Live animals", "Paper", "Timber", "Salt"]


def made(seed: int) -> tuple[list[list[Cell]], list[list[str]]]:
    """Return the cells of a table, a region over its rows, and the rows as they are meant."""
    chance = random.Random(seed)  # noqa: S311 - No secret.
    years = [Cell(str(2024 + number)) for number in range(chance.randint(1, 3))]
    cells = [[Cell(name, is_head=True) for name in ("Region", "Goods", *(year.text for year in years))]]
    rows = []
    for region in chance.sample(REGIONS, chance.randint(2, 4)):
        goods = chance.sample(GOODS, chance.randint(1, 4))
        for number, name in enumerate(goods):
            values = [f"{chance.randint(2, 99)}.{chance.randint(0, 9)} %" for _ in years]
            own = [Cell(region, rows=len(goods))] * (number == 0)
            cells.append([*own, Cell(name), *map(Cell, values)])
            rows.append([region, name, *values])
    return cells, rows


def as_html(cells: list[list[Cell]]) -> bytes:
    rows = ("".join(f"<td rowspan={cell.rows}>{escape(cell.text)}</td>" for cell in row) for row in cells)
    return f"<table><tr>{'</tr><tr>'.join(rows)}</tr></table>".encode()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("ending", "write"), [("html", as_html), *FORMATS.items()])
def test_every_row_of_a_merged_table_has_its_region(ending, write, seed):
    cells, rows = made(seed)
    assert rows_right(read(write(cells), ending), rows) == len(rows)


def test_a_slide_is_a_page_and_its_title_the_section(load):
    source = load("rates.pptx", pptx(("GST rates", "Nine percent."), ("", ""), ("Gold", "Free."), notes="Ask first."))

    assert source.metadata["title"] == "GST rates"
    assert source.warnings == ("slide 2 has no text",)
    assert [(chunk.page, chunk.section, chunk.section_path, chunk.text) for chunk in chunks_of(source)] == [
        (1, "GST rates", ("GST rates",), "GST rates\n\nNine percent."),
        (3, "Gold", ("Gold",), "Gold\n\nFree.\n\nNotes: Ask first."),
    ]


def test_tables_and_groups_of_a_slide_are_read(load):
    assert load("x.pptx", slide_table(["Goods", "Rate"], ["Gold", "nil"])).text == (
        "In a group\n\n| Goods | Rate |\n| --- | --- |\n| Gold | nil |"
    )


def test_what_a_reader_of_the_file_does_not_see_is_not_indexed(load):
    show = load("x.pptx", pptx(("Rates", "Words"), ("Margin", "3 %"), hidden=[2]))
    book = load("x.xlsx", xlsx({"Rates": [["Goods", "Rate"], ["Gold", 3]], "Margin": [["3 %"]]}, hidden=["Margin"]))

    assert show.warnings == ("slide 2 is hidden, and is not read",)
    assert book.warnings == ("the sheet 'Margin' is hidden, and is not read",)
    assert "3 %" not in show.text + book.text


def test_every_row_of_a_sheet_stands_with_the_names_of_its_columns(load):
    rows: list[list[Any]] = [
        ["Tariff of 2026"],
        [],
        ["Country", "Duty", "", "From"],
        ["Laos", 0.05, "x", date(2026, 1, 31)],
        ["Peru", 3],
    ]
    source = load("duty_rates.xlsx", xlsx({"Duty": rows, "Empty": [], "Ports": [["Vientiane"]]}, percent="B4"))

    assert source.metadata["title"] == "Duty Rates"
    assert source.text == (
        "## Duty\n\n- Tariff of 2026\n\n| Country | Duty |  | From |\n| --- | --- | --- | --- |\n"
        "| Laos | 5% | x | 2026-01-31 |\n| Peru | 3 |  |  |\n\n## Ports\n\n- Vientiane\n"
    )
    assert [chunk.section for chunk in chunks_of(source)] == ["Duty", "Ports"]


def test_the_day_of_a_workbook_is_that_of_its_properties_and_never_today(load, tmp_path):
    path = tmp_path / "whole.xlsx"
    path.write_bytes(xlsx({"Rates": [["Gold", "nil"]]}))
    with zipfile.ZipFile(path) as whole, zipfile.ZipFile(tmp_path / "bare.xlsx", "w") as bare:
        for name in whole.namelist():
            if name != "docProps/core.xml":
                bare.writestr(name, whole.read(name))

    assert "file_date" in load("whole.xlsx", path.read_bytes()).metadata
    assert load("bare.xlsx", (tmp_path / "bare.xlsx").read_bytes()).metadata == {"title": "Bare"}
