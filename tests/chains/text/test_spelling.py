"""Questions in the words of the documents."""

from collections import Counter

import pytest

from chains.text.spelling import corrected


def in_words_of(document, question, is_word=lambda _word: True, neighbour=lambda _word: None):
    def counts(words):
        return {word: f" {document} ".count(f" {word} ") for word in words}

    return corrected(question, counts, is_word, neighbour)


@pytest.mark.parametrize(
    ("question", "document", "expected"),
    [
        ("how much for my nan", "a grandmother pays half", "how much for my grandmother"),
        ("how much for my nan", "a nan is a grandmother", "how much for my nan"),
        ("how much for my nan", "a grandparent pays half", "how much for my grandparent"),
        ("how much for my nan", "an adult pays half", "how much for my nan"),
        ("what if we call it off?", "a cancellation costs nothing", "what if we cancellation it?"),
        ("what if we call it off?", "call off early: a cancellation costs nothing", "what if we call it off?"),
        ("open on bank hols", "closed on a public holiday", "open on public holiday"),
        ("I can't make it", "to cancel costs nothing", "I cancel"),
        ("is there a carpark", "the car park is free", "is there a car park"),
    ],
)
def test_everyday_words_and_words_in_one_become_those_of_the_documents(question, document, expected):
    assert in_words_of(document, question) == expected


def test_a_typing_error_is_neither_a_word_nor_an_abbreviation_nor_held():
    names = {"frieght": "freight", "lartas": "larder"}
    parts = {"is_word": {"plane"}.__contains__, "neighbour": names.get}
    assert in_words_of("sea freight", "frieght by plane", **parts) == "freight by plane"
    assert in_words_of("sea freight", "LARTAS for frieght", **parts) == "LARTAS for freight"
    assert in_words_of("frieght", "frieght", **parts) == "frieght"
    assert in_words_of("sea freight", "frieght2 by sea", **parts) == "frieght2 by sea"  # A code.


def test_only_the_first_unknown_words_are_looked_up():
    looked_up = Counter[str]()
    in_words_of("", "onee twoo threee fourr fivee sixx", lambda _word: False, lambda word: looked_up.update([word]))
    assert list(looked_up) == ["onee", "twoo", "threee", "fourr", "fivee"]


def test_of_a_long_message_only_the_first_words_and_phrases_are_looked_up():
    looked_up = Counter[str]()

    def counts(words):
        looked_up.update(words)
        return dict.fromkeys(words, 0)

    corrected("gran lad mum dad quid telly loo cab pup jab script nibbles booze", counts, bool, lambda _: None)
    corrected("abcdefg bcdefgh cdefghi defghij efghijk fghijkl ghijklm", counts, bool, lambda _: None)
    assert {"gran", "grandmother", "abc defg"} <= looked_up.keys()
    assert looked_up.keys().isdisjoint({"alcohol", "refreshments", "ghi jklm"})
