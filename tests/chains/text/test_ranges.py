"""The figures of a question are looked up in the ranges of a table's rows."""

import pytest

from chains.text.quantities import quantities
from chains.text.ranges import crossed, numbered, ranged
from chains.text.statements import read_statements


def fits(head: str, cells: list[str], question: str) -> list[float]:
    rows = "\n".join(f"| {cell} | x |" for cell in cells)
    text = f"| {head} | Fee |\n|---|---|\n{rows}"
    found = [one for one in read_statements(text) if one.kind == "row"]
    return ranged(found, [one for one in quantities(question) if not one.label])


@pytest.mark.parametrize(
    ("head", "cells", "question", "row"),
    [
        ("Notice", ["1-3 days", "4-7 days", "more than 7 days"], "two days before departure", 0),
        ("Notice", ["more than 7 days", "7 to 4 days", "3-1 days"], "we cancel 20 days ahead", 0),
        ("Notice", ["more than 7 days", "7 to 4 days", "3-1 days"], "five days", 1),
        ("Order value (SGD)", ["up to 20,000", "20,001-50,000", "over 50,000"], "an order of SGD 30,000", 1),
        ("Weight (kg)", ["0-5", "6-10", "11-30"], "a parcel of 8 kg", 1),
        ("Years of service", ["under 2", "2-5", "6-10"], "I have been here 7 years", 2),
        ("Guests", ["up to 20 guests", "21-60 guests"], "we are 34 guests", 1),
        ("Age", ["under 5 years", "5-12 years", "13 years and older"], "she is 14 years old", 2),
    ],
)
def test_the_row_whose_range_holds_the_figure_fits(head, cells, question, row):
    assert fits(head, cells, question) == [1.0 if place == row else -1.0 for place in range(len(cells))]


@pytest.mark.parametrize(
    ("cells", "question"),
    [
        (["1-3 days", "4-7 days"], "what is the fee?"),
        (["1-3 days", "4-7 days"], "a box of 5 kg"),
        (["5", "8"], "5 days"),
    ],
)
def test_where_no_range_is_asked_for_all_rows_are_alike(cells, question):
    assert fits("Notice", cells, question) == [0.0] * len(cells)


MATRIX = "| {} | Dunmore | Kestrel |\n| --- | --- | --- |\n| Dunmore | - | 410 |\n| Kestrel | 415 | - |\n"


@pytest.mark.parametrize(
    ("corner", "question", "row"),
    [
        ("From", "What is the rate from Dunmore to Kestrel?", "Dunmore"),
        ("From", "What is the rate to Dunmore from Kestrel?", "Kestrel"),
        ("", "Kestrel to Dunmore: which rate?", "Kestrel"),
        ("To / from", "What is the rate from Dunmore to Kestrel?", "Kestrel"),
    ],
)
def test_the_row_of_a_matrix_is_where_the_way_begins(corner, question, row):
    rows = [one for one in read_statements(MATRIX.format(corner)) if one.kind == "row"]
    found = crossed(rows, question)
    assert found is not None
    assert found.cells[0].text == row


@pytest.mark.parametrize("question", ["What is the rate from Dunmore?", "What is the rate?"])
def test_a_matrix_without_two_names_of_the_question_tells_nothing(question):
    assert crossed([one for one in read_statements(MATRIX.format("From")) if one.kind == "row"], question) is None


def test_a_numbered_row_is_the_one_of_its_number_or_none():
    text = "| Box | Month | Year |\n| --- | --- | --- |\n| Box 48 | 58 | 590 |\n| Box 58 | 68 | 690 |"
    rows = [one for one in read_statements(text) if one.kind == "row"]
    assert numbered(rows, "What does box 58 cost a year?") == [True, False]
    assert numbered(rows, "What does Box 81 cost?") == [True, True]
    assert numbered(rows, "Which box costs 58 a month?") == [False, False]
