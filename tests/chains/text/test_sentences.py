import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.text.sentences import sentences
from chains.text.statements import sentence_bounds


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
