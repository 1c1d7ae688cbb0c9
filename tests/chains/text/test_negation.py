import pytest

from chains.text.negation import denied, negates, opposes
from chains.text.tokens import tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("It is not allowed here.", {"allow"}),
        ("They don’t accept cheques.", {"accept"}),
        ("Without a permit it cannot be imported.", {"permit", "import"}),
        ("Neither cash nor cheques.", {"cash", "chequ"}),
        ("It is no longer sold.", {"sell"}),
        ("Not more than 5 days.", set()),
        ("If it is not signed, it is returned.", set()),
        ("No, it is closed.", set()),
        ("Notes on knots.", set()),
    ],
)
def test_a_negation_denies_the_next_word_that_is_no_limit_and_in_no_condition(text, words):
    assert denied(tokens(text)) == words


@pytest.mark.parametrize(("text", "holds"), [("NOT here", True), ("It isn't.", True), ("Notes of nobility", False)])
def test_a_negation_is_a_whole_word(text, holds):
    assert negates(text) is holds


@pytest.mark.parametrize(
    ("question", "text", "is_opposite"),
    [
        ("how much is a cut without a wash", "A cut with a wash costs £32.", True),
        ("how much is a cut without a wash", "A cut costs £24 without a wash.", False),
        ("can i get the train without a ticket", "A ticket is required on all trains.", False),
        ("do you sell lamps for a dimmer", "Lamps without a dimmer cost £20.", True),
        ("is there a lift", "The house is let without a lift.", False),
        ("storage for furnished flats", "Unfurnished flats pay £40.", True),
        ("price for non members", "Members pay £5.", True),
        ("must the dishes be washed", "Dishes are returned unwashed.", False),
        ("what do i pay if i cancel", "If we have to cancel, the fee is returned.", True),
        ("what do i pay if you cancel", "If we have to cancel, the fee is returned.", False),
        ("refund when i am ill", "If your tutor is ill, the lesson is refunded.", True),
        ("refund when the tutor is ill", "If your tutor is ill, the lesson is refunded.", False),
    ],
)
def test_a_text_on_the_opposite_case_is_told(question, text, is_opposite):
    assert opposes(text, question) is is_opposite
