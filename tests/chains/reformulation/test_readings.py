"""Both readings of a short question are searched; the one whose first passage has its words wins."""

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.runnables import RunnableConfig

from chains.reformulation import Reformulate, standalone
from chains.reformulation.standalone import stands_alone
from chains.state import Passage
from chains.text.words import plain_words, stem
from tests.chains.reformulation.test_standalone import PARKS, after

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
def test_a_gap_is_not_searched_for(question):
    library = Library(*LIBRARY.passages)

    assert standalone(question, after(PARKS), find=library) != question
    assert library.queries == []


def test_a_first_passage_that_is_far_and_has_another_heading_is_no_passage_of_its_own():
    leaned = f"{PARKS} lockers"
    far, headed = (Library(passage(PERMITS, 0.2), passage(LOCKERS, 0.2, section=name)) for name in ("Hall", "Lockers"))

    assert not stands_alone("lockers", leaned, far, whole=False)
    assert stands_alone("lockers", leaned, headed, whole=False)


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
