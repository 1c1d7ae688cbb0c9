"""Stems: what counts as one word, and what does not; words of grammar, as people type them."""

import pytest

from chains.text.tokens import tokens
from chains.text.words import stem


@pytest.mark.parametrize(
    ("word", "other"),
    [("customs", "customer"), ("important", "import"), ("responsible", "response"), ("wedding", "wed")],
)
def test_words_of_other_meanings_have_other_stems(word, other):
    assert stem(word) != stem(other)


@pytest.mark.parametrize(
    ("word", "form"),
    [("important", "importance"), ("responsible", "responsibilities"), ("business", "businesses"), ("pay", "paid")],
)
def test_forms_of_a_word_have_one_stem(word, form):
    assert stem(word) == stem(form)


def test_contractions_without_their_stroke_carry_nothing():
    assert [word.text for word in tokens("hes allergic and theyre gonna sneeze") if word.weight] == [
        "allergic",
        "sneeze",
    ]


def test_a_short_day_is_that_day_in_small_letters_too_unless_it_is_a_word():
    assert [token.key for token in tokens("weds or thurs")][::2] == [stem("wednesday"), stem("thursday")]
    assert [token.key for token in tokens("sat")] == ["sat"]
