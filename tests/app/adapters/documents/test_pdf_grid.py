"""Tables that a PDF draws with rules: cells of several lines, merged ones, frames."""

import pytest
from fpdf import FPDF

from app.adapters.documents.pdf import load_pdf

LEAVE = "Nurses and midwives who attend an approved course, with the consent of their ward and on written request"


@pytest.fixture
def page():
    document = FPDF(unit="pt")
    document.add_page()
    document.set_font("Helvetica", "", 11)
    return document


@pytest.fixture
def read(page, tmp_path):
    def read():
        path = tmp_path / "ward.pdf"
        page.output(str(path))
        return load_pdf(path).text

    return read


def test_a_cell_of_several_lines_is_one_text_of_its_row(page, read):
    with page.table(width=420, col_widths=(1, 2, 1)) as table:
        for cells in (("Leave", "Who may take it", "Days"), ("Study leave", LEAVE, "10"), ("Mourning", "All", "5")):
            table.row(cells)
    assert f"| Study leave | {LEAVE} | 10 |\n| Mourning | All | 5 |" in read()


def test_columns_that_stand_close_together_are_parted_by_their_rules(page, read):
    with page.table(width=150) as table:
        for cells in (("Box no.", "CHF a month"), *((f"Locker {number}", str(number + 20)) for number in range(1, 9))):
            table.row(cells)
    assert "| Box no. | CHF a month |\n| --- | --- |\n| Locker 1 | 21 |" in read()


def test_a_merged_cell_is_that_of_all_its_rows(page, read):
    with page.table(width=300) as table:
        table.row(("Region", "Goods", "Rate"))
        for region, rates in (("North", ("11", "17")), ("South", ("13", "19"))):
            first, second = table.row(), table.row()
            first.cell(region, rowspan=2)
            for row, goods, rate in zip((first, second), ("Chilled", "Frozen"), rates, strict=True):
                row.cell(goods)
                row.cell(rate)
    text = read()
    assert "| North | Frozen | 17 |" in text
    assert "| South | Frozen | 19 |" in text


def test_blank_cells_keep_their_columns(page, read):
    with page.table(width=300) as table:
        for cells in (("Year", "UK", "US"), ("1969", "60", ""), ("1971", "", ""), ("1973", "", "171")):
            table.row(cells)
    assert "| 1969 | 60 |  |\n| 1971 |  |  |\n| 1973 |  | 171 |" in read()


def test_prose_in_frames_is_read_frame_by_frame(page, read):
    words = ("The porter brings the clean linen at seven. " * 8, "Meals come at noon and are collected at two. " * 8)
    with page.table(width=420) as table:
        table.row(words)
        table.row(("Porter", "Kitchen"))
    assert "|" not in read()
