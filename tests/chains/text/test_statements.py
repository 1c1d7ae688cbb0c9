"""The reader of statements and sentences, and what it escapes."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.text.letters import escape_brackets, escape_line_starts, escape_tag, one_line
from chains.text.statements import read_statements, sentence_bounds, sentences

PRICES = """## Prices

Prices hold from March. They include tax.

| Service | Dog | Cat |
|---|---|---|
| Grooming | £52 | £53 |
| **Extras** | | |
| Nails | £9 | £8 |
"""


def said(text: str, head: str = "") -> list[tuple[str, str]]:
    return [(one.kind, one.said) for one in read_statements(text, head)]


def test_sentences_rows_and_labels_are_told_apart():
    assert said(PRICES) == [
        ("heading", "Prices"),
        ("sentence", "Prices hold from March."),
        ("sentence", "They include tax."),
        ("head", "Service – Dog: Dog; Cat: Cat."),
        ("row", "Grooming – Dog: £52; Cat: £53."),
        ("label", "Extras"),
        ("row", "Extras, Nails – Dog: £9; Cat: £8."),
    ]


def test_a_statement_knows_what_stands_over_it():
    items = "You need:\n\n- an invoice\n- a list\n  of packages"
    text = f"# Guide\n\n## Papers\n\n{items}\n\n**Note**\nAsk us.\n\nWhat else?\n\nA permit."
    assert [
        (one.said, one.headings, one.lead) for one in read_statements(text) if one.kind in {"item", "sentence"}
    ] == [
        ("an invoice", ("Guide", "Papers"), "You need"),
        ("a list of packages", ("Guide", "Papers"), "You need"),
        ("Ask us.", ("Guide", "Papers"), "Note"),
        ("A permit.", ("Guide", "Papers"), "What else?"),
    ]


@pytest.mark.parametrize(
    ("text", "titles"),
    [
        ("Left luggage\nA locker costs 4 euros a day. Ask\nat the desk for a key.", ["Left luggage"]),
        ("12 Noise\nInstruments may be played until 22:00.", ["12 Noise"]),
        ("We meet on Fridays in front of\nSaint Mary's church.", []),  # The line was full.
        ("The rehearsal is led by\nAnton Weiss and his two sons.", []),
        ("North Choir\nMill Lane 4\nBrixworth", []),
        ("Who to ask\nTickets: Ada Moss\nScores: Ben Ray", ["Who to ask"]),
    ],
)
def test_a_short_line_above_sentences_is_their_heading(text, titles):
    assert [one.said for one in read_statements(text) if one.kind == "heading"] == titles


def test_a_line_without_a_closing_mark_above_a_table_is_its_name():
    table = "| Hall | Fee |\n|---|---|\n| Blue | £9 |"
    lines = ("- Rent per evening in pounds", "Rent per evening in pounds", "Rents rose in May.", "- Tea\n- Cake")
    assert [read_statements(f"{line}\n\n{table}")[-1].lead for line in lines] == [
        *["Rent per evening in pounds"] * 2,
        "",
        "",
    ]


def test_a_short_line_above_a_list_announces_it_and_a_definition_stands_with_its_term():
    found = read_statements("Choir room\n\n- Mon: men\n- Tue: all\n\nKey\n:   at the desk")
    assert [(one.said, one.lead) for one in found[1:]] == [
        ("Mon: men", "Choir room"), ("Tue: all", "Choir room"), ("Key: at the desk", "")
    ]  # fmt: skip


def test_a_sentence_behind_a_greeting_is_whole_in_small_letters_too():
    assert [one.is_whole for one in read_statements("Dear all,\n\nsing on Friday. Bring Ada.")] == [False, True, True]
    assert [one.is_whole for one in read_statements("sing on Friday. Bring Ada.")] == [False, True]


def test_a_row_that_is_one_sentence_is_a_note_and_no_name_of_rows():
    text = "| Seat | Price |\n|---|---|\n| Stalls | £30 |\n| Members pay half on Mondays. | |\n| Circle | £22 |"
    assert said(text)[1:] == [
        ("row", "Stalls – Price: £30."),
        ("sentence", "Members pay half on Mondays."),
        ("row", "Circle – Price: £22."),
    ]


def test_two_rows_of_names_are_one_head_and_a_name_spans_the_blanks_to_its_right():
    names = "|  | Year ended March 31, |  | Change |\n|---|---|---|---|\n|  | 2018 | 2017 |  |"
    text = f"{names}\n|  |  | (in thousands) |  |\n| Interest | 1,310 | 510 | 800 |"
    assert said(text)[-1] == (
        "row",
        "Interest – Year ended March 31, 2018: 1,310; Year ended March 31, 2017: 510; Change: 800.",
    )


def test_a_blank_first_cell_is_the_label_above_it_but_not_beside_figures():
    text = "| Region | Goods | Rate |\n|---|---|---|\n| North | Frozen | 17 % |\n|  | Chilled | 11 % |\n|  | 28 | 30 |"
    assert [words for kind, words in said(text) if kind == "row"] == [
        "North – Goods: Frozen; Rate: 17 %.",
        "North – Goods: Chilled; Rate: 11 %.",
        "Goods: 28; Rate: 30",
    ]


@pytest.mark.parametrize(
    ("yes", "no"), [("✓", "✗"), ("✔", ""), ("x", ""), ("x", "-"), ("●", ""), ("☑", "☐"), ("✅", "❌"), ("✓", "x")]
)
def test_ticks_are_said_as_yes_and_no(yes, no):
    text = f"| Ticket | House | Boat |\n|---|---|---|\n| Day | {yes} | {no} |\n| Evening | {no} | {yes} |"
    assert [words for kind, words in said(text) if kind == "row"] == [
        "Day – House: yes; Boat: no.",
        "Evening – House: no; Boat: yes.",
    ]


def test_a_table_that_goes_on_has_the_columns_of_its_head():
    head = "| Service | Fee |\n|---|---|"
    assert said("| Storage | 12 |\n| Demurrage | 90 |", head) == [
        ("row", "Storage – Fee: 12."),
        ("row", "Demurrage – Fee: 90."),
    ]


def test_a_table_without_names_of_columns_is_said_cell_by_cell():
    rows = "| Monday | open | whole day |\n| Sunday | 3 h | 12 EUR |\n| Holiday | 2 h | 15 EUR |"
    expected = [("row", "Monday: open; whole day"), ("row", "Sunday: 3 h; 12 EUR"), ("row", "Holiday: 2 h; 15 EUR")]
    head = "|  |  |  |\n| --- | --- | --- |\n"
    assert said(head + rows) == said(rows, head) == expected


def test_a_label_that_spans_a_table_names_the_rows_below_it():
    text = "| Service | Dog | Cat |\n|---|---|---|\n| Extras | Extras | Extras |\n| Nails | £9 | £8 |\n| 7 | 7 | 7 |"
    assert said(text + "\n| All hold. | All hold. | All hold. |\n| Bath | £5 | £4 |")[1:] == [
        ("label", "Extras"),
        ("row", "Extras, Nails – Dog: £9; Cat: £8."),
        ("row", "Extras, 7 – Dog: 7; Cat: 7."),
        ("sentence", "All hold."),
        ("row", "Extras, Bath – Dog: £5; Cat: £4."),
    ]


def test_the_last_cell_of_a_row_may_hold_two_sentences():
    text = "| Item | Note |\n|---|---|\n| Paper | It is free. Ask the desk. |"
    assert said(text)[-1] == ("row", "Paper – Note: It is free. Ask the desk.")


MARKDOWN = st.text(alphabet="ab1 .?:|#*->`_\n\t\u2713é[]()", max_size=300).filter(
    lambda text: not re.search(r"^\s*`{3,}.*\w", text, re.MULTILINE)  # The language of a block of code is markup.
)


@given(MARKDOWN)
def test_every_character_belongs_to_one_statement_or_is_markup(text):
    end = 0
    for one in read_statements(text):
        assert not set(text[end : one.start]) & set("abé\u2713"), text[end : one.start]
        assert end <= one.start < one.end
        assert one.words == text[one.start : one.end]
        assert all(one.start <= cell.start <= cell.end <= one.end for cell in one.cells)
        end = one.end
    assert not set(text[end:]) & set("abé\u2713")


def test_lines_of_a_name_and_its_value_are_a_sentence_each():
    text = "Opening hours: 9 to 5\n**Phone:** 12 34\nLast entry: 4, in summer 6"
    assert [words for _, words in said(text)] == ["Opening hours: 9 to 5", "Phone: 12 34", "Last entry: 4, in summer 6"]
    assert [words for _, words in said("He said: it is\nso.")] == ["He said: it is so."]


def test_a_question_on_a_line_of_its_own_is_the_label_of_its_answer():
    assert said("Do you lend skates?\nYes: 4 euros an hour. Helmets are free.") == [
        ("label", "Do you lend skates?"),
        ("sentence", "Yes: 4 euros an hour."),
        ("sentence", "Helmets are free."),
    ]


def test_a_question_inside_a_paragraph_announces_the_answer_behind_it_alone():
    one, other = "Do you lend skates? We do in winter. Who pays for them?", "Helmets are free."
    read = [(one.kind, one.said, one.lead) for one in read_statements(f"{one}\n\n{other}")]
    assert read == [
        ("label", "Do you lend skates?", ""),
        ("sentence", "We do in winter.", "Do you lend skates?"),
        ("sentence", "Who pays for them?", "Do you lend skates?"),
        ("sentence", "Helmets are free.", ""),
    ]


def test_the_name_of_a_callout_announces_what_it_says():
    label, *said = read_statements("> Wind limit:\n> Cranes stop at 54 km/h\n> of wind. Ask the yard.")
    assert (label.kind, {one.lead for one in said}) == ("label", {"Wind limit"})
    assert [one.said for one in said] == ["Cranes stop at 54 km/h of wind.", "Ask the yard."]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is 9 %. It was 8 %.", ["It is 9 %.", "It was 8 %."]),
        ("Goods, e.g. Ore, pass. Dr. Lim signs.", ["Goods, e.g. Ore, pass.", "Dr. Lim signs."]),
        ("Form No. 5 of the U.S. Customs.", ["Form No. 5 of the U.S. Customs."]),
        ("He said “Stop.” Then he left!", ["He said “Stop.”", "Then he left!"]),
        ("It costs 3.5 % at most", ["It costs 3.5 % at most"]),
        ("一。二。", ["一。", "二。"]),
        ("the fee is 9 %. it was 8 %, e.g. in may.", ["the fee is 9 %.", "it was 8 %, e.g. in may."]),
        ("The fee is 9 %. it was 8 %.", ["The fee is 9 %. it was 8 %."]),
    ],
)
def test_a_sentence_ends_at_its_mark_and_not_at_an_abbreviation(text, found):
    assert sentences(text) == found


def test_items_headings_and_rows_are_sentences_of_their_own_without_what_marks_them():
    text = "# Fees\n\n- one item\n- another\n\n| a | b |\nThe end. Of it."
    assert [text[slice(*bounds)] for bounds in sentence_bounds(text)] == [
        *("Fees", "one item", "another", "| a | b |", "The end.", "Of it.")
    ]


@given(st.text(alphabet="aA.!? \n-|#1。\u2028", max_size=80))
def test_no_word_is_lost_between_sentences(text):
    held = "".join(text[start:end] for start, end in sentence_bounds(text))
    assert [letter for letter in text if letter in "aA"] == [letter for letter in held if letter in "aA"]


def test_a_name_is_put_on_one_line_without_what_cannot_be_seen():
    assert one_line("A\r\n\u2028 \x00B\u200b\tC\xa0D") == "A B C D"


def test_backslashes_are_escaped_with_the_brackets_so_that_none_frees_one():
    assert escape_brackets(r"a\] [b") == r"a\\\] \[b"


@pytest.mark.parametrize("blank", ["", " ", "\t", "\xa0", "\u200b", "\ufeff", "\u3164", "\u2800", "\u0301", "\x00"])
def test_a_bracket_that_opens_a_line_is_escaped_behind_any_blank(blank):
    assert escape_line_starts(f"a\u2029{blank}[b]") == f"a\n{blank}\\[b]"


@given(st.text())
def test_a_text_without_the_tag_is_left_as_it_is(text):
    assert "document" in text.casefold() or escape_tag(text, "document") == text
