import pytest

from chains.text.negation import denied, negates
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
