"""What a sentence loses with the numbers and names that its passage lacks."""

import pytest

from chains.citations.evidence import evidence_of, prepare
from chains.citations.support import LEAST_SUPPORT, support
from chains.state import Passage

PASSAGE = "Free time is 5 days for import containers. After that, demurrage is charged per day and container."


def score(sentence: str, title: str = "", section: str = "") -> float:
    metadata = {"title": title, "section": section}
    return support(sentence, evidence_of(Passage(content=PASSAGE, metadata=metadata, score=None))).score


@pytest.mark.parametrize("foreign", ["in Jakarta ", "from 3 companies ", "on weekdays at Tanjung Priok "])
def test_a_name_or_a_number_that_the_passage_lacks_costs_more_than_a_word(foreign):
    sentence = "Import containers {}get free time of 5 days."
    assert score(sentence.format(foreign)) < score(sentence.format("usually loaded "))


@pytest.mark.parametrize("place", ["title", "section"])
def test_a_name_in_the_title_or_section_is_not_missing(place):
    sentence = "Import containers at Jakarta get free time of 5 days."
    assert score(sentence, **{place: "Jakarta terminal"}) > score(sentence)


@pytest.mark.parametrize("sentence", ["Free time is at most 8 days for import containers.", "Free time 8 is 5 days."])
def test_a_number_that_the_passage_lacks_never_reads_as_supported(sentence):
    assert score(sentence) < LEAST_SUPPORT


def test_a_heading_adds_no_words_to_quote_from():
    evidence = prepare(PASSAGE, "Jakarta terminal")
    assert evidence.text == PASSAGE
    assert support("Jakarta terminal", evidence).score == 0
