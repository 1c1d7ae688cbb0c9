"""Quantities, ranges and figures of a text."""

import pytest

from chains.text import asking
from chains.text.asking import gives_what_is_asked
from chains.text.quantities import quantities
from chains.text.ranges import crossed, denying, extreme, ranged, turned
from chains.text.statements import read_statements
from chains.text.words import searchable


def contradict(one: str, other: str) -> bool:
    return any(mine.contradicts(theirs) for mine in quantities(one) for theirs in quantities(other))


FIGURES = {
    True: [
        ("12 %", "11 per cent"),
        ("S$400", "SGD 500"),
        ("14 days", "three weeks"),
        ("3 to 5 days", "9 days"),
        ("3 to 5 working days", "6-8 business days"),
        ("at least 5 years", "4 years"),
        ("up to S$400", "up to S$500"),
        ("1 January 2024", "2024-07-01"),
        ("1 January 2024", "01/07/2024"),
        ("am 3. März 2026", "4.3.2026"),
        ("the 3rd of may", "4 May"),
        ("March 2025", "1 April 2025"),
        ("26 december", "25 Dec"),
        ("08:30 to 18:00", "9:00 am - 6:00 pm"),
        ("three originals", "2 originals"),
        ("SGD 5,000 - 20,000", "SGD 30,000"),
        ("youths (11-15)", "16 years"),
    ],
    False: [
        ("1,000 kg", "1 t"),
        ("14 days", "two weeks"),
        ("24 hours", "1 day"),
        ("12 months", "1 year"),
        ("14 calendar days", "14 days"),
        ("5 working days", "7 calendar days"),
        ("S$400", "USD 300"),
        ("3 to 5 days", "4 days"),
        ("up to 5 days", "3 days"),
        ("about 14 days", "10 days"),
        ("1 January 2024", "January 2024"),
        ("31 December 2026", "12/31/2026"),
        ("3. Oktober 2026", "03/10/2026"),
        ("17 October", "17 October 2026"),
        ("2 million", "2,000,000"),
        ("50k", "50,000"),
        ("SGD 1.5K", "SGD 1,500"),
        ("children aged 3 to 5", "a 4yo"),
        ("under-16s", "my 9 year old"),
        ("a quarter of an hour", "15 min"),
        ("one and a half hours", "30 minutes"),
        ("step 3", "S$4"),
        ("they may 3 times", "in May 2024"),
    ],
}


@pytest.mark.parametrize(
    ("one", "other", "expected"), [(*pair, expected) for expected, pairs in FIGURES.items() for pair in pairs]
)
def test_figures_of_one_measure_contradict_each_other_and_those_that_can_both_hold_do_not(one, other, expected):
    assert (contradict(one, other), contradict(other, one)) == (expected, expected)


def test_a_quantity_tells_its_place():
    text = "A quote is valid for 3 to 5 working days."
    [found] = quantities(text)

    assert text[found.start : found.end] == "3 to 5 working days"
    assert (found.measure, found.low, found.high) == ("working duration", 3 * 1440, 5 * 1440)


def test_of_a_day_that_no_calendar_has_only_the_year_is_a_date():
    assert [one.measure for one in quantities("31 February 2024")] == ["februari", "date"]


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
        ("Age", ["under 5", "5-12", "13 and over"], "my 9 year old", 1),
        ("Ticket", ["Toddler (under 3)", "Child (3-14)", "Adult (15-64)"], "a ticket for a 12 year old", 1),
        ("Late by", ["5 minutes", "20 minutes", "60 minutes"], "we came 45 min late", 1),
        ("Days past due", ["7 days", "14 days"], "it is 90 days", 1),
        ("Length", ["shorter than 60 cm", "longer than 60 cm"], "a box of 80 cm", 1),
        ("Order", ["up to SGD 50", "over SGD 50"], "order of 70 sgd", 1),
        ("Week from", ["4 May 2026", "11 May 2026", "18 May 2026"], "who teaches on 15 May 2026?", 1),
        ("Valid from", ["1 January 2024", "1 July 2025"], "the fee in March 2025", 0),
        ("Market", ["03/05/2027", "03/07/2027"], "on the 3rd of july", 1),
        ("Market", ["2027-05-03", "2028-05-04"], "on 4 May 2028", 1),
        ("Court", ["30 minutes", "60 minutes"], "half an hour of squash", 0),
    ],
)
def test_the_row_whose_range_holds_the_figure_fits(head, cells, question, row):
    assert fits(head, cells, question) == [1.0 if place == row else -1.0 for place in range(len(cells))]


BOATS = """| Boat | Seats | Length | Per hour |
|---|---|---|---|
| Kayak | 2 | 4 m | £9 |
| Rowing boat | 5 | 3 m | £14 |
| Pedal boat | 4 | 2.5 m | £14 |
| Total | 11 | | £37 |"""


@pytest.mark.parametrize(
    ("question", "boat"),
    [
        ("whats the cheapest boat", "Kayak"),
        ("Which boat is the least expensive?", "Kayak"),
        ("which is the shortest", "Pedal boat"),
        ("which boat has the highest number of seats", "Rowing boat"),
        ("the dearest boat", None),  # Two cost as much.
        ("which boat is best", None),
    ],
)
def test_a_superlative_names_the_row_that_has_the_least_or_the_most(question, boat):
    row = extreme([one for one in read_statements(BOATS) if one.kind == "row"], question)
    assert (row and row.cells[0].text) == boat


def test_a_number_to_call_is_no_amount():
    assert [one.label for one in quantities("Call 112, or wait 112 minutes.")] == [True, False]
    assert [one.label for one in quantities("A 3D print of 3 grams.")] == [True, False]


@pytest.mark.parametrize(
    ("cells", "question"),
    [
        (["1-3 days", "4-7 days"], "what is the fee?"),
        (["1-3 days", "4-7 days"], "a box of 5 kg"),
        (["5", "8"], "5 days"),
        (["7 days", "14 days"], "10 days"),
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


def test_the_hours_of_a_hotline_are_no_telephone_number():
    assert gives_what_is_asked("Hotline: 24/7", "hotline hours")
    assert not gives_what_is_asked("Hotline: 24/7", "claims hotline")


@pytest.mark.parametrize(
    ("question", "others"),
    [
        *(("first boat to Oyen", [False, True]), ("from oyen on sunday", [True, False])),
        ("the boat to Brekk", [False, False]),
    ],
)
def test_a_row_of_the_way_back_is_another(question, others):
    text = "| Way | Departs |\n| --- | --- |\n| Selmar to Oyen | 7:15 |\n| Oyen to Selmar | 9:45 |"
    assert turned([one for one in read_statements(text) if one.kind == "row"], question) == others


@pytest.mark.parametrize(
    ("question", "others"),
    [
        ("Which plans have a mailbox?", [True, False, False]),
        ("which plans do not have a mailbox", [False, True, True]),
        ("Which plan has a locker?", [False, True, False]),
        ("Does Flex have a mailbox?", [False, False, False]),
        ("Which plans have a desk?", [False, False, False]),
    ],
)
def test_rows_that_say_no_are_left_out_where_it_is_asked_which_say_yes(question, others):
    text = "| Plan | Mailbox | Locker |\n|---|---|---|\n| Day | no | yes |\n| Flex | yes | no |\n| Full | yes | extra |"
    rows = [one for one in read_statements(text) if one.kind == "row"]
    assert denying(rows, question) == others


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$1,577 million and 12,345,678 shares", "$1577 million and 12345678 shares"),
        ("FY2022, FY22 and FY '22", "FY 2022, FY 2022 and FY 2022"),
        ("2Q22, Q2 2022 and Q2 FY2022", "Q2 2022, Q2 2022 and Q2 2022"),
        ("fiscal year 2022", "fiscal year 2022"),
        ("12,34 and 1,2345 and 3.14,159", "12,34 and 1,2345 and 3.14,159"),
        ("FY1999 of the Q5 22 in Fyn", "FY1999 of the Q5 22 in Fyn"),
    ],
)
def test_figures_and_fiscal_years_have_one_form(text, expected):
    assert searchable(text) == expected


@pytest.mark.parametrize("written", ["3¹ EUR", "3* EUR", "EUR 3²", "**3** EUR"])
def test_the_sign_of_a_footnote_is_no_part_of_a_figure(written):
    assert [(one.measure, one.low) for one in quantities(f"The deposit is {written} for a locker.")] == [("EUR", 3)]


@pytest.mark.parametrize(
    ("text", "measures"),
    [
        ("my daughter is 9, what can she join", ["months"]),
        ("something for a boy who is 5?", ["months"]),
        ("he is 2 metres tall", ["length"]),
        ("the child is 3 lessons behind", ["lesson"]),
    ],
)
def test_a_person_who_is_a_number_is_as_many_years_old(text, measures):
    assert [one.measure for one in quantities(text)] == measures


def test_beyond_a_figure_is_more_than_it():
    assert [one.bound for one in quantities("We do not deliver beyond 30 miles.")] == ["least"]


@pytest.mark.parametrize(
    ("question", "text", "is_told"),
    [
        ("how deep is the main pool", "The main pool opens at 7:00.", -1.0),
        ("how deep is the main pool", "The main pool has 3 slides and 1.8 m of water.", 1.0),
        ("how heavy is the large box", "The large box costs £14.", -1.0),
        ("how high is the deposit", "The deposit is £14.", 1.0),
    ],
)
def test_a_dimension_is_told_by_a_figure_of_its_measure(question, text, is_told):
    assert asking.fits(text, asking.kinds(question), question) == is_told


@pytest.mark.parametrize(
    ("text", "is_given"),
    [
        ("3 to 7 days before: half.", True),
        ("3 to 7 days before: the whole fee.", True),
        ("Half an hour is enough.", False),
    ],
)
def test_a_part_of_a_price_is_an_amount(text, is_given):
    assert gives_what_is_asked(text, "we cancel 5 days before, what do we pay") is is_given
