"""Follow-ups become questions that stand alone; of two readings the one whose first passage has its words wins."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.runnables import RunnableConfig
from numpy.typing import NDArray

from chains.history import Turn
from chains.reformulation import Reformulate, standalone
from chains.reformulation.standalone import stands_alone
from chains.state import Passage
from chains.text.words import plain_words, stem
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
        ("rent of a studio in river house", "and in the garden house?", "rent of a studio in garden house"),
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
        (FEE, "ok back to lockers, do I need a coin", "ok back to lockers, do I need a coin entrance fee museum"),
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


def test_may_behind_a_preposition_is_the_month():
    months = ("april", "may")

    def similarity(first: Sequence[str], second: Sequence[str]) -> NDArray[np.float32]:
        return np.array([[float(one in months and two in months) for two in second] for one in first], np.float32)

    said = after("how much is the tent in april")
    assert standalone("and in may?", said, similarity) == "how much is the tent in may"
    assert standalone("may I bring a dog?", said, similarity).startswith("may I bring a dog?")


def test_words_of_like_meaning_take_each_others_place_in_lower_case_too():
    said = after("which permits for drones in osaka are needed?")

    assert standalone("what about nara?", said) == "which permits for drones in osaka are needed nara"
    assert standalone("what about nara?", said, cities) == "which permits for drones in nara are needed?"


@given(st.text(max_size=200), st.lists(st.text(max_size=80), max_size=6))
def test_any_text_can_be_asked_after_any_text(question, said):
    assert isinstance(standalone(question, [Turn("user", text) for text in said]), str)


PERMITS = "Permits to fly a drone from Kyoto to Osaka are given by the city."
LOCKERS = "Lockers at the cut-off station of the museum"


def passage(content: str, score: float, **metadata: str) -> Passage:
    return Passage(content=content, score=score, metadata=metadata)


class Library:
    """Finds passages by the number of words that they share with a query."""

    def __init__(self, *passages: Passage) -> None:
        self.passages = passages
        self.queries: list[str] = []

    def __call__(self, query: str) -> Sequence[Passage]:
        self.queries.append(query)
        words = set(map(stem, plain_words(query)))
        return sorted(self.passages, key=lambda one: -len(words & set(map(stem, plain_words(one["content"])))))


LIBRARY = Library(passage(PERMITS, 0.2), passage(LOCKERS, 0.5))


@pytest.mark.parametrize("question", ["lockers", "museum lockers", "museum cutoff", "museum lokers"])
def test_a_question_whose_words_only_another_passage_has_stands_alone(question):
    assert standalone(question, after(PARKS), find=LIBRARY) == question


@pytest.mark.parametrize("question", ["and lockers?", "for lockers?", "are there lockers too?", "lockers for it"])
def test_a_gap_goes_on_though_other_passages_have_its_words(question):
    assert standalone(question, after(PARKS), find=LIBRARY) != question


TABLE = "| Plan | Prints |\n|---|---|\n| Desk for a day | 5 |\n| Fixed desk | 200 |\n| Full time | 100 |"


@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("and full time?", "How many prints are free for full time?"),
        ("and the green desk?", "How many prints are free for green desk?"),
        ("and on mondays?", "How many prints are free for fixed desk mondays"),
    ],
)
def test_the_name_of_a_row_takes_the_place_of_another_rows_whole_name(question, asked):
    library = Library(passage(LOCKERS, 0.5), passage("Prints", 0.4), passage(TABLE, 0.3))

    assert standalone(question, after("How many prints are free for fixed desk?"), find=library) == asked


@pytest.mark.parametrize(
    ("before", "question", "asked"),
    [
        ("what does a 45 minutes lesson cost", "and for 2 pupils?", "what does a 45 minutes lesson cost 2 pupils"),
        ("what does a 45 minutes lesson cost", "and for 30 minutes?", "what does a 30 minutes lesson cost"),
        ("what does that cost per night dog", "and for 2 dogs?", "what does that cost per night dog 2"),
    ],
)
def test_a_figure_takes_the_place_of_one_that_counts_the_same(before, question, asked):
    assert standalone(question, after(before)) == asked


def test_a_place_that_is_pointed_to_is_one_said_before_and_what_is_there_is_not():
    said = after("when is the office in mill lane open")
    library = Library(
        passage("Mill lane: the office is open. Peter is the head.", 0.5),
        passage("There is a goods lift at gate A.", 0.5),
    )

    assert standalone("whats the number there", said) == "whats the number there office mill lane open"
    assert standalone("is there a goods lift", said, find=library) == "is there a goods lift"
    assert standalone("is the goods lift there", said, find=library) != "is the goods lift there"


def test_a_whole_question_behind_and_stands_alone_where_the_documents_answer_it_alone():
    library = Library(passage(LOCKERS, 0.5), passage("Parking at the station is free.", 0.5))
    asked, said = "and where is parking free?", after("how much are lockers of the museum")

    assert standalone(asked, said) != asked
    assert standalone(asked, said, find=library) == asked


def test_a_letter_is_searched_for_with_the_word_before_it():
    library = Library(passage("Form k is for members.", 0.2, section="Forms"), passage(LOCKERS, 0.5))
    assert standalone("form k", after("museum lockers"), find=library) == "form k"


def test_whose_address_is_asked_for_is_found_by_the_rest_of_the_words():
    library = Library(passage(PERMITS, 0.5), passage("Claims go to desk@museum.example", 0.5))
    assert standalone("claims email", after(PARKS), find=library) == "claims email"
    assert standalone("email", after(PARKS), find=library) != "email"


def test_a_whole_question_stands_alone_where_what_it_takes_over_finds_nothing_nearer():
    library = Library(passage(LOCKERS, 0.5), passage(PERMITS, 0.2))
    assert standalone("how much are lockers", after("who guards the gate"), find=library) == "how much are lockers"


def test_a_whole_question_stands_alone_where_no_passage_has_its_word():
    library = Library(passage(LOCKERS, 0.5), passage(PERMITS, 0.2))
    assert standalone("can i cycle at night", after("lockers"), find=library) == "can i cycle at night"
    assert standalone("can i cycle it at night", after("lockers"), find=library) != "can i cycle it at night"


def test_what_is_asked_of_something_else_too_is_the_last_question():
    before = after("what does a tent cost in summer", "which discount do members of clubs get")
    assert standalone("in tents too", before) == "which discount do members of clubs get tents"


def test_a_word_that_limits_stays_with_what_it_limits():
    assert standalone("and without a coach?", after("lesson price")) == "lesson price without a coach"


def test_nothing_found_leaves_what_the_form_says():
    assert not stands_alone("lockers", f"{PARKS} lockers", Library(), whole=False)


def test_an_earlier_question_that_stood_alone_is_what_the_next_one_goes_on_with():
    assert standalone("and for children?", after(PARKS, "lockers"), find=LIBRARY) == "lockers children"


async def test_the_search_sees_what_the_asker_may_see():
    configs: list[RunnableConfig | None] = []

    def find(config: RunnableConfig | None, query: str) -> Sequence[Passage]:
        configs.append(config)
        return LIBRARY(query)

    public: RunnableConfig = {"configurable": {"audience": "public"}}
    history = [{"role": turn.role, "content": turn.text} for turn in after(PARKS)]
    state: Any = {"question": "lockers", "history": history}
    found = Reformulate(find=find).invoke(state, public), await Reformulate(find=find).ainvoke(state, public)

    assert [one["search_query"] for one in found] == ["lockers", "lockers"]
    assert {(config or {})["configurable"]["audience"] for config in configs} == {"public"}


CORRECTED = {
    "a day takes the place of a day, and a month of a month": [
        ("when do shows begin on a weds", "and saturdays", "when do shows begin on a saturdays"),
        ("when do shows begin on a friday", "and in july", "when do shows begin on a friday july"),
    ],
    "a sentence that names a figure alone puts one right": [
        ("hog roast for 40 people", "might be 65 of us now", "hog roast for 65 people"),
        ("hog roast for 40 people", "how much is that for 65", "how much is that for 65 hog roast people"),
        ("two lots or one for 16 tons", "how is the first one sent", "how is the first one sent two lots 16 tons"),
    ],
    "a question that names a measure or a day alone goes on": [
        ("do you do halal", "how long ahead do i need to say", "how long ahead do i need to say halal"),
        ("can we have a band", "till when on a saturday", "till when on a saturday band"),
        ("is there an urn", "how much for 65", "how much for 65 urn"),
    ],
    "what is asked anew takes the place of what was asked": [
        ("how long is the play", "and is there a break", "and is there a break play"),
        ("a table on friday", "is it free on sunday", "is it free on sunday table"),
    ],
    "words that name little are taken over where nothing else was said": [
        ("what if im late", "how long do i wait then", "how long do i wait then late")
    ],
}


@pytest.mark.parametrize(("before", "question", "asked"), cases(CORRECTED))
def test_what_is_typed_in_everyday_words_is_asked_in_whole(before, question, asked):
    assert standalone(question, after(before)) == asked


@pytest.mark.parametrize(
    ("before", "question", "asked"),
    [
        (("a mooring in june", "do you lend charts"), "and in august?", "a mooring in august"),
        (
            ("can i take charts out", "what is a pilot exam"),
            "how long does it take",
            "how long does it take pilot exam",
        ),
        (("is there a reading pen",), "my aunt is 80 can she get one", "my aunt is 80 can she get one reading pen"),
        (("is there a reading pen",), "my aunt is 80 can she go", "my aunt is 80 can she go reading pen"),
        (("the bar on the pier", "which masts do dinghies need"), "at the pier", "which masts do dinghies need pier"),
        (("can we call it off 2 weeks ahead",), "and if its only 1", "can we call it off 1 weeks ahead"),
        (("what if the river floods",), "what if i resign", "what if i resign river floods"),
    ],
)
def test_what_a_follow_up_goes_on_with_is_chosen_by_what_it_names(before, question, asked):
    assert standalone(question, after(*before)) == asked


UMBRELLAS = passage("Umbrellas are lent at the desk.", 0.4)


@pytest.mark.parametrize("question", ["do you take umbrellas", "and if i take umbrellas"])
def test_a_whole_question_stands_alone_where_what_it_takes_over_leads_away_from_its_own_words(question):
    before = after("what do lockers of the museum cost at the station")
    assert standalone(question, before, find=Library(passage(LOCKERS, 0.5), UMBRELLAS)) == question


def test_a_whole_question_goes_on_where_it_gains_more_than_it_loses():
    library = Library(passage("A night in a tower room of the castle is 90.", 0.4), passage("Stay for the round.", 0.4))
    before, question = after("what does a tower room of the castle cost"), "and if i stay the whole round"
    assert standalone(question, before, find=library) == f"{question} tower room castle"


def test_a_whole_question_takes_nothing_over_that_finds_the_same_passage():
    library = Library(passage(f"{LOCKERS}. Umbrellas are lent.", 0.5))
    assert standalone("do you take umbrellas", after("lockers"), find=library) == "do you take umbrellas"


def test_the_name_of_a_row_takes_the_place_of_half_the_name_of_another():
    rooms = Library(passage("| Room | Seats |\n|---|---|\n| Bird hide | 5 |\n| Music studio | 200 |", 0.3))
    asked = standalone("and the studio?", after("how many seats has the bird house"), find=rooms)
    assert asked == "how many seats has the studio house"
