"""Follow-ups become questions that stand alone; others stay as they are."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from chains.history import Turn
from chains.reformulation import standalone
from tests.cases import cases

PARKS = "Which permits do I need to fly a drone from Kyoto to Osaka?"
FEE = "How much is the entrance fee of the museum?"


def after(*questions: str) -> list[Turn]:
    """Return a conversation in which these questions were asked and answered."""
    turns: list[Turn] = []
    for question in questions:
        turns += [Turn("user", question), Turn("assistant", "That is written in the guide.")]
    return turns


TO_NARA = "Which permits do I need to fly a drone from Kyoto to Nara?"
FOLLOW_UPS = {
    "a part of a question takes its place in the one before": [
        (PARKS, "And to Nara?", TO_NARA),
        (PARKS, "from Kobe?", "Which permits do I need to fly a drone from Kobe to Osaka?"),
        ("What does a ticket of class XR cost?", "and QT?", "What does a ticket of class QT cost?"),
        ("Who approves 500 euros?", "And 900?", "Who approves 900 euros?"),
        (FEE, "for children?", "How much is the entrance fee of the museum children"),
    ],
    "a correction takes back what it denies": [
        (PARKS, "Sorry, I meant Nara", TO_NARA),
        (PARKS, "not Osaka, Nara", TO_NARA),
        (PARKS, "I meant from Nara, not Kyoto.", "Which permits do I need to fly a drone from Nara to Osaka?"),
    ],
    "a question without its subject gets the terms of the one before": [
        ("What is a drone licence?", "How long is it valid?", "How long is it valid? drone licence"),
        (FEE, "Do they give a discount?", "Do they give a discount? entrance fee museum"),
        ("Tell me about door-to-door service.", "What does it include?", "What does it include? door-to-door service"),
        ("What is Form D of the club?", "Who signs it?", "Who signs it? Form D club"),
        (FEE, "Where can I apply?", "Where can I apply? entrance fee museum"),
    ],
    "thanks before a question are left out": [(PARKS, "Thanks! And to Nara?", TO_NARA)],
    "small talk carries nothing over": [(PARKS, "ok, thank you very much", "ok, thank you very much")],
}
ALONE = [
    *("What is the opening time of the zoo on Sundays?", "What is a sand dune?"),
    "Which insurance does a rented bicycle need in Nara?",
    *("A visitor asks whether he may bring his own food into the hall.", "As for the zoo, what does it cost?"),
    "Back to the bicycles: which insurance do they need?",
]


@pytest.mark.parametrize(("before", "question", "expected"), cases(FOLLOW_UPS))
def test_a_follow_up_is_asked_in_whole(before, question, expected):
    assert standalone(question, after(before)) == expected


@pytest.mark.parametrize(
    ("before", "question"),
    [*((PARKS, question) for question in ALONE)]
    + [("", question) for question in ("And to Nara?", "How long is it valid?", "Thanks!", PARKS)],
)
def test_a_question_that_stands_alone_or_follows_none_stays_as_it_is(before, question):
    assert standalone(question, after(before) if before else []) == question


def test_a_short_question_without_a_name_gets_the_names_said_last():
    asked = "Which papers must a foreign pilot carry?"

    assert standalone(asked, after(PARKS, FEE)) == "Which papers must a foreign pilot carry Kyoto Osaka"


def test_each_follow_up_goes_on_from_the_one_before_it():
    conversation = after(PARKS, "And to Nara?", "Thanks a lot!")

    assert standalone("from Kobe?", conversation) == "Which permits do I need to fly a drone from Kobe to Nara?"


def test_a_question_that_names_an_older_subject_goes_on_from_that():
    conversation = after("What is a drone licence?", FEE)

    assert standalone("Who signs the licence?", conversation) == "Who signs the licence? drone"
    assert standalone("Who opens the museum?", conversation) == "Who opens the museum? entrance fee"


@pytest.mark.parametrize(
    "question", ["Hello, how early must I book?", "Eh boss, how early must I book ah?", "how early must I book lah"]
)
def test_greetings_and_particles_are_left_out_of_a_first_question_too(question):
    assert standalone(question, []).strip("?").lower() == "how early must i book"


def cities(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float32]:
    """Know which words are cities, as a table of word vectors does."""
    known = {"osaka", "nara"}
    return np.array([[float({one, other} <= known) for other in second] for one in first], dtype=np.float32)


def test_words_of_like_meaning_take_each_others_place_in_lower_case_too():
    said = after("which permits for drones in osaka are needed?")

    assert standalone("what about nara?", said) == "which permits for drones in osaka are needed nara"
    assert standalone("what about nara?", said, cities) == "which permits for drones in nara are needed?"


@given(st.text(max_size=200), st.lists(st.text(max_size=80), max_size=6))
def test_any_text_can_be_asked_after_any_text(question, said):
    assert isinstance(standalone(question, [Turn("user", text) for text in said]), str)
