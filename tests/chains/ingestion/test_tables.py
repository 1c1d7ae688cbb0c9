"""The one model of a table: cells with spans fill a grid, and the grid becomes a Markdown table with one head row."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.errors import IngestionError
from chains.ingestion.tables import Cell, grid_of, sheet_text, table_text


def text(*rows: Sequence[Cell | str]) -> str:
    return table_text(grid_of([cell if isinstance(cell, Cell) else Cell(cell) for cell in row] for row in rows))


def rows_of(markdown: str) -> list[list[str]]:
    lines = [line.strip("|").split("|") for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line] for line in lines if "---" not in line[0]]


HEAD = ["Port", "Goods", "Fee"]


def test_a_cell_over_several_rows_stands_in_each_of_them():
    assert rows_of(text(HEAD, [Cell("Tema", 2), "Fish", "3"], ["Fruit", "4"], ["Lagos", "Fish", "5"]))[1:] == [
        ["Tema", "Fish", "3"],
        ["Tema", "Fruit", "4"],
        ["Lagos", "Fish", "5"],
    ]


def test_a_cell_that_covers_more_rows_than_there_are_ends_with_the_table():
    assert rows_of(text(HEAD, [Cell("Tema", 60_000), "Fish", "3"], ["Fruit", "4"]))[2] == ["Tema", "Fruit", "4"]


def test_a_cell_over_several_columns_and_rows_pushes_the_others_aside():
    grid = text(["a", "b", "c", "d"], ["1", Cell("x", 2, 2), "2"], ["3", "4"])
    assert rows_of(grid)[1:] == [["1", "x", "x", "2"], ["3", "x", "x", "4"]]


@pytest.mark.parametrize(
    "head",
    [
        [[Cell("Port", 2), Cell("2031", 1, 2), Cell("2032", 1, 2)], ["In", "Out", "In", "Out"]],
        [["Port", "2031", "", "2032", ""], ["", "In", "Out", "In", "Out"]],
        [
            [Cell("Port", 2, 1, True), Cell("2031", 1, 2, True), Cell("2032", 1, 2, True)],
            [Cell(name, is_head=True) for name in ("In", "Out", "In", "Out")],
        ],
    ],
)
def test_names_over_two_rows_are_group_and_column(head):
    read = rows_of(text(*head, ["Tema", "1", "2", "3", "4"], ["Lagos", "5", "6", "7", "8"]))
    assert read[0] == ["Port", "2031: In", "2031: Out", "2032: In", "2032: Out"]
    assert read[1] == ["Tema", "1", "2", "3", "4"]


def test_blank_cells_below_the_label_of_a_group_are_that_label():
    read = rows_of(text(HEAD, ["Tema", "Fish", "3"], ["", "Fruit", "4"], ["Lagos", "Fish", "5"], ["", "Fruit", "6"]))
    assert [row[0] for row in read[1:]] == ["Tema", "Tema", "Lagos", "Lagos"]


@pytest.mark.parametrize(
    ("rows", "head"),
    [
        ([["Mon, Wed", "Ada", "Ben"], ["Tue", "Cy", "Dee"], ["Fridays", "Eve", "Flo"]], ["", "", ""]),
        ([["Month", "Desk", "Gate"], ["January", "Ada", "Ben"], ["May", "Cy", "Dee"]], ["Month", "Desk", "Gate"]),
        ([["Mon", "Tue", "Wed"], ["Ada", "Ben", "Cy"]], ["Mon", "Tue", "Wed"]),
    ],
)
def test_a_first_row_that_begins_with_a_day_as_all_others_is_no_head(rows, head):
    assert rows_of(text(*rows))[0] == head


@pytest.mark.parametrize("last", [["", "Total", "7"], ["", "", "note"]])
def test_a_total_and_a_remark_belong_to_no_group(last):
    assert rows_of(text(HEAD, ["Tema", "Fish", "3"], ["Lagos", "Fruit", "4"], last))[-1] == last


def test_a_title_above_the_head_is_a_line_of_its_own():
    assert text([Cell("Fees of 2031", 1, 3)], HEAD, ["Tema", "Fish", "3"]) == (
        "Fees of 2031\n\n| Port | Goods | Fee |\n| --- | --- | --- |\n| Tema | Fish | 3 |"
    )


def test_a_table_without_names_has_blank_ones():
    assert text(["Tema", "3", "4"], ["Lagos", "5", "6"]).splitlines()[:2] == ["|  |  |  |", "| --- | --- | --- |"]


@pytest.mark.parametrize("name", ["2031", "20 ft", "1st leg", "3 days"])
def test_a_name_may_begin_with_a_number(name):
    assert rows_of(text(["Port", "Goods", name], ["Tema", "Fish", "310"], ["Lagos", "Fish", "420"]))[0][2] == name


def test_names_with_values_of_many_kinds_are_a_list():
    assert sheet_text([["Opens", "07:40"], ["Phone", "555 0100"], ["Chief", "Ann"]]) == (
        "- Opens: 07:40\n- Phone: 555 0100\n- Chief: Ann"
    )


def test_what_stands_above_the_head_of_a_sheet_is_no_row():
    rows = [["Fees 2031"], ["Author", "Ann"], ["Issue", "4"], [], HEAD, ["Tema", "Fish", "3"], ["Lagos", "Fish", "5"]]
    assert sheet_text(rows).split("\n\n") == [
        "Fees 2031",
        "- Author: Ann\n- Issue: 4",
        "| Port | Goods | Fee |\n| --- | --- | --- |\n| Tema | Fish | 3 |\n| Lagos | Fish | 5 |",
    ]


def test_two_tables_of_a_sheet_keep_their_own_names():
    below = sheet_text([["Ship", "Crew"], ["Ida", 9], ["Ulla", 7], [], HEAD, ["Tema", "Fish", 3]])
    beside = sheet_text([["Ship", "Crew", "", "Port", "Fee"], ["Ida", 9, "", "Tema", 3], ["Ulla", 7, "", "Lagos", 5]])
    assert [row[0] for row in rows_of(below)] == ["Ship", "Ida", "Ulla", "Port", "Tema"]
    assert [row[0] for row in rows_of(beside)] == ["Ship", "Ida", "Ulla", "Port", "Tema", "Lagos"]


def test_rows_below_a_blank_row_go_on_in_their_table():
    assert len(rows_of(sheet_text([HEAD, ["Tema", "Fish", 3], [], ["Lagos", "Fish", 5]]))) == 3
    assert "\n\n" not in sheet_text([HEAD, ["Tema", "Fish", 3], [], ["Lagos", "Fish", 5]])


def test_a_column_for_colours_says_nothing():
    head = [Cell("Line", 1, 2), Cell("Ships")]
    assert rows_of(text(head, ["", "Hansa", "4"], ["", "Baltic", "6"])) == [
        ["Line", "Ships"],
        ["Hansa", "4"],
        ["Baltic", "6"],
    ]


def test_a_table_of_too_much_text_is_refused():
    with pytest.raises(IngestionError, match="split it"):
        grid_of([[Cell("x" * 100_000, 1000, 1000)]] * 3)


cells = st.builds(Cell, st.text("ab1 |\n", max_size=4), st.integers(1, 4), st.integers(1, 4), st.booleans())


@given(st.lists(st.lists(cells, max_size=4), max_size=6))
def test_no_words_of_a_table_are_lost_and_every_row_has_all_columns(rows):
    markdown = table_text(grid_of(rows))
    for row in rows:
        for cell in row:
            assert " ".join(cell.text.split()) in markdown.replace("\\|", "|")
    widths = {line.replace("\\|", "").count("|") for line in markdown.splitlines() if line.startswith("|")}
    assert len(widths) <= 1
