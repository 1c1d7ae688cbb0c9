import pytest

from app.adapters.documents.pdf import load_pdf
from app.adapters.documents.pdf_lines import Line
from app.adapters.documents.pdf_tables import FoundTable, tables
from benchmarks.documents import laid_out_pdf
from chains.ingestion.chunks import Chunk, Chunker

WORDS = "These are the words of a paragraph, which is set in the size that most of the text has."
HEAD = "Years ended December 31 2022 2021"
ROWS = ["Net sales 1,577 1,373", "Cost of sales (1,011) (902)", "Other - 4.2%"]


def lines(*texts: str) -> list[Line]:
    return [Line(text, 10, False, 60, 690 - 12 * place, 400, 700 - 12 * place) for place, text in enumerate(texts)]


def chunks(file, markup: list[str]) -> list[Chunk]:
    file.write_bytes(laid_out_pdf(markup))
    return Chunker(size=300, overlap=0).split(load_pdf(file))


def test_a_head_and_the_rows_below_it_are_a_table():
    assert tables([lines(WORDS, HEAD, *ROWS, WORDS)]) == [FoundTable(0, 1, 0, 5)]


def test_a_label_between_rows_belongs_to_the_table():
    assert tables([lines(HEAD, ROWS[0], "Current assets:", ROWS[1], ROWS[2], "The notes belong to this.")]) == [
        FoundTable(0, 0, 0, 5)
    ]


def test_bold_names_of_columns_are_a_head():
    names = lines("Region Owned Leased")[0]._replace(bold=True, cells=True)
    assert tables([[names, *lines(*ROWS)]]) == [FoundTable(0, 0, 0, 4)]


def test_a_table_goes_on_where_the_next_page_begins_with_rows():
    assert tables([lines(WORDS, HEAD, *ROWS), lines(*ROWS, WORDS)]) == [FoundTable(0, 1, 1, 3)]


def test_a_head_that_the_next_page_repeats_begins_a_table():
    assert tables([lines(HEAD, *ROWS), lines(HEAD, *ROWS)]) == [FoundTable(0, 0, 0, 4), FoundTable(1, 0, 1, 4)]


@pytest.mark.parametrize(
    "texts",
    [
        ["In 2022 we sold more than in 2021.", *ROWS],
        [HEAD, WORDS],
        [HEAD, ROWS[0], WORDS],
        ROWS,
        [HEAD, "Item 7. Discussion 24", "Item 8. Statements 35"],
    ],
)
def test_what_has_no_head_or_no_rows_is_no_table(texts):
    assert tables([lines(*texts)]) == []


def test_every_chunk_of_a_long_table_knows_its_head(tmp_path):
    rows = [f"Costs of office {number} {number},000 {number},500" for number in range(10, 40)]
    found = chunks(tmp_path / "long.pdf", ["# Costs", WORDS, HEAD, *rows])

    first, *others = [chunk for chunk in found if "office" in chunk.text]
    assert HEAD in first.text + first.context
    assert len(others) > 2
    assert [chunk.context for chunk in others] == [HEAD] * len(others)


def test_a_table_that_goes_on_over_a_page_without_headings_keeps_its_head(tmp_path):
    file = tmp_path / "pages.pdf"
    file.write_bytes(laid_out_pdf([WORDS, HEAD, *ROWS], [*ROWS, WORDS]))
    assert [(chunk.page, chunk.context) for chunk in Chunker(size=300).split(load_pdf(file))] == [(1, ""), (2, HEAD)]


def test_a_chunk_that_holds_the_head_does_not_repeat_it(tmp_path):
    found = chunks(tmp_path / "short.pdf", ["# Costs", HEAD, *ROWS, "# Words", WORDS])
    assert [chunk.context for chunk in found] == ["", ""]


LEAVE = "Nurses and midwives who attend an approved course, with the consent of their ward and on written request"


def test_a_cell_of_several_lines_is_one_text_of_its_row(page, read):
    with page.table(width=420, col_widths=(1, 2, 1)) as table:
        for cells in (("Leave", "Who may take it", "Days"), ("Study leave", LEAVE, "10"), ("Mourning", "All", "5")):
            table.row(cells)
    assert f"| Study leave | {LEAVE} | 10 |\n| Mourning | All | 5 |" in read().text


def test_columns_that_stand_close_together_are_parted_by_their_rules(page, read):
    with page.table(width=150) as table:
        for cells in (("Box no.", "CHF a month"), *((f"Locker {number}", str(number + 20)) for number in range(1, 9))):
            table.row(cells)
    assert "| Box no. | CHF a month |\n| --- | --- |\n| Locker 1 | 21 |" in read().text


def test_a_merged_cell_is_that_of_all_its_rows(page, read):
    with page.table(width=300) as table:
        table.row(("Region", "Goods", "Rate"))
        for region, rates in (("North", ("11", "17")), ("South", ("13", "19"))):
            first, second = table.row(), table.row()
            first.cell(region, rowspan=2)
            for row, goods, rate in zip((first, second), ("Chilled", "Frozen"), rates, strict=True):
                row.cell(goods)
                row.cell(rate)
    text = read().text
    assert "| North | Frozen | 17 |" in text
    assert "| South | Frozen | 19 |" in text


def test_blank_cells_keep_their_columns(page, read):
    with page.table(width=300) as table:
        for cells in (("Year", "UK", "US"), ("1969", "60", ""), ("1971", "", ""), ("1973", "", "171")):
            table.row(cells)
    assert "| 1969 | 60 |  |\n| 1971 |  |  |\n| 1973 |  | 171 |" in read().text


def test_prose_in_frames_is_read_frame_by_frame(page, read):
    words = ("The porter brings the clean linen at seven. " * 8, "Meals come at noon and are collected at two. " * 8)
    with page.table(width=420) as table:
        table.row(words)
        table.row(("Porter", "Kitchen"))
    assert "|" not in read().text
