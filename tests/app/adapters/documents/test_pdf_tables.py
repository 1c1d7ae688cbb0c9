from fpdf import FPDF

from app.adapters.documents.pdf import load_pdf
from benchmarks.documents import laid_out_pdf
from chains.ingestion.chunks import Chunker

WORDS = "These are the words of a paragraph, which is set in the size that most of the text has."
PRICES = [
    ("Room", "Price of half a day", "Price of a full day"),
    ("Assembly Hall in Castle Street", "165.00", "290.00"),
    ("Pod", "14.00", "24.00"),
    ("Mill Room with the old loom", "54.00", "96.00"),
]
WRITTEN = """| Room | Price of half a day | Price of a full day |
| --- | --- | --- |
| Assembly Hall in Castle Street | 165.00 | 290.00 |
| Pod | 14.00 | 24.00 |
| Mill Room with the old loom | 54.00 | 96.00 |"""


def draw(page: FPDF, rows, *, layout: str = "NONE", padding: float = 3, width: float = 220) -> None:
    form = {"borders_layout": layout, "padding": padding, "v_align": "M", "text_align": "LEFT", "line_height": 13}
    with page.table(width=width, **form) as table:
        for cells in rows:
            table.row(cells)


def test_cells_that_wrap_belong_to_their_row_without_rules(page, read):
    draw(page, PRICES)
    assert WRITTEN in read().text


def test_cells_that_wrap_belong_to_their_row_where_only_the_head_is_ruled(page, read):
    draw(page, PRICES, layout="SINGLE_TOP_LINE")
    assert WRITTEN in read().text


def test_lines_of_a_head_that_stand_side_by_side_are_its_cells(page, read):
    names = [("Hall", *(f"Price of {time} for a {guest}" for time in ("days", "eves") for guest in ("club", "firm")))]
    draw(page, [*names, ("North", "1", "2", "3", "4"), ("South", "5", "6", "7", "8")], layout="ALL", width=260)
    assert f"| {' | '.join(names[0])} |\n| ---" in read().text


def test_rows_of_amounts_close_together_are_rows(page, read):
    draw(page, [("Fuel", "Litres"), ("Diesel", "1,200"), ("Gas", "450"), ("Oil", "60")], padding=0)
    assert "| Fuel | Litres |\n| --- | --- |\n| Diesel | 1,200 |\n| Gas | 450 |\n| Oil | 60 |" in read().text


def test_a_row_without_a_name_is_a_row_where_a_value_stands_below_a_value(page, read):
    rows = [("Fuel", "Kind", "Litres"), ("Diesel", "Summer", "1,200"), ("", "Winter", "1,450"), ("Oil", "Light", "60")]
    draw(page, rows, padding=0)
    assert "| Diesel | Summer | 1,200 |\n| Diesel | Winter | 1,450 |\n| Oil | Light | 60 |" in read().text


def test_a_row_that_goes_on_on_the_next_page_is_one_row(page, read):
    care = [
        ("Service", "What it holds", "Price"),
        ("Wash", "Warm water", "12"),
        ("Groom", "A wash and a trim for", "52"),
    ]
    for rows in (care, [("", "dogs with long hair", ""), ("Night", "A night in the kennel", "31")]):
        draw(page, rows, layout="ALL", width=400)
        page.add_page()
    assert "| Groom | A wash and a trim for dogs with long hair | 52 |\n\f\n| Night | A night in" in read().text


def test_a_raised_digit_behind_a_figure_is_the_sign_of_a_footnote(page, read):
    for down, (locker, fee, note) in enumerate(
        (("Small", "12.50", "1"), ("Large", "18.00", "12"), ("Wide", "22.00", ""))
    ):
        page.set_font_size(11)
        page.text(40, 80 + 18 * down, f"{locker} costs {fee}")
        across = 40 + page.get_string_width(f"{locker} costs {fee}")
        page.set_font_size(6.5)
        page.text(across, 76 + 18 * down, note)
    assert read().text.split() == ["Small", "costs", "12.50¹", "Large", "costs", "18.00¹²", "Wide", "costs", "22.00"]


def test_two_rows_of_names_are_one_head(page, read):
    with page.table(width=300, num_heading_rows=2) as table:
        first = table.row()
        first.cell("Ward", rowspan=2)
        first.cell("Weekdays", colspan=2)
        table.row(("Guests", "Until"))
        for cells in (("North", "2", "19"), ("South", "3", "20")):
            table.row(cells)
    assert "| Ward | Weekdays: Guests | Weekdays: Until |\n| --- | --- | --- |\n| North | 2 | 19 |" in read().text


def test_an_empty_line_stands_between_two_tables(page, read):
    draw(page, PRICES, layout="ALL")
    page.ln(12)
    draw(
        page,
        [("Fine", "Early", "Late", "Court"), ("Ticket", "35", "70", "no"), ("Lane", "80", "99", "yes")],
        layout="ALL",
    )
    source = read()
    assert f"{WRITTEN}\n\n| Fine |" in source.text
    assert len(source.tables) == 2


def test_an_address_beside_a_date_is_no_table(page, read):
    for number, (left, right) in enumerate(
        (("Harwick Libraries", "14 March 2025"), ("12 Castle Street", "Our sign: RH"))
    ):
        for across, words in ((40, left), (300, right)):
            page.text(across, 60 + 14 * number, words)
    page.text(40, 120, "Dear Mrs Finch, the room is yours on the second of May, as you asked for in your letter.")
    assert "|" not in read().text


def test_every_chunk_of_a_long_table_knows_its_head(page, read):
    draw(page, [PRICES[0], *((f"Office number {number}", f"{number},000", "9") for number in range(10, 70))], width=300)
    source = read()
    first, *others = Chunker(size=300, overlap=0).split(source)
    assert len(others) > 4
    assert {chunk.context for chunk in others} == {"\n".join(WRITTEN.split("\n")[:2])}
    assert {chunk.page for chunk in others} == {1, 2}
    assert first.context == ""


def test_a_table_that_is_drawn_column_by_column_is_read_row_by_row(tmp_path):
    rows = ["| Sales | 1,577 | 1,373", "| Earnings | 371 | 346"]
    (tmp_path / "table.pdf").write_bytes(laid_out_pdf([WORDS, *rows], by_column=True))
    assert "Sales 1,577 1,373\nEarnings 371 346" in load_pdf(tmp_path / "table.pdf").text


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
