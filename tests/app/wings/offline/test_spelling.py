"""Typing errors in several words of a question."""

import pytest

from app.wings.offline.question import corrected, read
from app.wiring.models import word_similarity

TEXTS = [
    "Documents for export to Indonesia: a cosmetics notification is valid for three years in Vietnam.",
    "Pay by card. Maersk sails to Surabaya with general cargo. The insurance premium is due at booking.",
]


@pytest.mark.parametrize(
    ("question", "right"),
    [
        ("wat documants need for expot to indonesa", "wat documents need for export to indonesia"),
        ("is a cosmetics notificaton vald in Vietnm?", "is a cosmetics notification valid in vietnam?"),
        ("premum for genral cargo", "premium for general cargo"),
        ("May I send cars to Laos with Maersk via Surabaya?", "May I send cars to Laos with Maersk via Surabaya?"),
        ("What does a LARTAS permit cost?", "What does a LARTAS permit cost?"),
        ("", ""),
    ],
)
def test_mistyped_words_are_written_as_the_texts_write_them_and_no_others(question, right):
    assert corrected(question, TEXTS, word_similarity()) == right


def test_words_of_short_messages_ask_for_nothing():
    question = read("whats the price 4 adults pls, when do u close thx")
    assert [term.word for term in question.terms] == ["price", "4", "adults", "close"]
    assert "where" in read("wheres the lift").wants
