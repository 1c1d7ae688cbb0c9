"""What a sentence loses with the numbers and names that its passage lacks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.citations.evidence import evidence_of, prepare
from chains.citations.support import losing, match, missing, support
from chains.citations.verification import LEAST_SUPPORT
from chains.state import Passage
from chains.text.tokens import tokens

PASSAGE = "Free time is 5 days for import containers. After that, demurrage is charged per day and container."
SHARE = st.floats(0, 1)
COUNT = st.integers(0, 30)


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


@pytest.mark.parametrize("lead", ["First, import", "Two things: import"])
def test_numbers_in_words_rank_or_sum_up_and_are_not_missing(lead):
    evidence = prepare(PASSAGE)
    words = [word for word in tokens(f"{lead} containers get free time of 5 days.") if word.weight > 0]
    assert missing(words, match(words, evidence, None), evidence) == (0, 0)


@given(fewer=SHARE, more=SHARE, numbers=COUNT, names=COUNT)
def test_more_words_found_and_fewer_missing_never_lower_the_support(fewer, more, numbers, names):
    fewer, more = sorted((fewer, more))
    assert 0 <= losing(fewer, numbers, names) <= losing(more, numbers, names) <= 1
    assert losing(more, numbers + 1, names) <= losing(more, numbers, names)
    assert losing(more, numbers, names + 1) <= losing(more, numbers, names)


@given(aligned=SHARE)
def test_nothing_missing_leaves_the_share_of_words_as_it_is(aligned):
    assert losing(aligned, 0, 0) == aligned


def test_a_heading_adds_no_words_to_quote_from():
    evidence = prepare(PASSAGE, "Jakarta terminal")
    assert evidence.text == PASSAGE
    assert support("Jakarta terminal", evidence).score == 0
