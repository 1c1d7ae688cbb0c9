"""A message with several questions: each is searched for, answered and rated by itself."""

from typing import Any

import pytest
from langchain_core.documents import Document

import prompts
from app.wings.offline import OfflineChatModel
from app.wings.offline.answer import NOTHING, OfflineAnswer, together
from chains.confidence.calibrated import CalibratedConfidence
from chains.metadata import PARTS
from chains.retrieval.filters import Filters
from chains.retrieval.passages import retrieve
from chains.retrieval.retriever import ChunkRetriever
from chains.scope import ScopeGate, parse_scope
from chains.state import Cited, Confidence
from tests.chains.gst import gst_chain, noting, writing
from tests.fakes import WordEmbeddings
from tests.streams import asked

MESSAGE: Any = {"question": "Dear desk,\nWhat is the GST rate? How long is a quote valid?\nRegards\nJo"}
DECLINE = "I don't have specific information about that in the documents I can see."


def document(section: str, text: str, score: float) -> Document:
    metadata = {"title": "Guide", "section": section, "doc_id": section.lower(), "score": score, "rank": 1}
    return Document(text, metadata=metadata)


GST = document("Rate", "The GST rate is 9 %.", 0.9)
QUOTE = document("Quote", "A sea freight quote is valid for 14 days.", 0.5)
BOTH = document("Fees", "GST is added to the fees of a quote.", 0.4)


class Shelves(ChunkRetriever):
    """Finds by the first word that a question shares with a shelf, and notes what it is asked."""

    shelves: dict[str, list[Document]] = {"GST": [GST, BOTH], "quote": [QUOTE, BOTH, GST]}
    asked: list[str] = []

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        self.asked.append(query)
        found = next((shelf for word, shelf in self.shelves.items() if word in query), [])
        return found[:top_k]


def best_score(state: Cited) -> Confidence:
    """Rate a question by its best passage."""
    return Confidence(level="", score=state["documents"][0]["score"] or 0, reason=state["question"], factors={})


def chain(answer: str = "", **options: Any) -> Any:
    model = writing(answer) if answer else OfflineChatModel()
    return gst_chain(**{"retriever": Shelves(), "model": model} | options)


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_each_question_is_searched_for_and_answered_below_itself(way):
    answer = await asked(chain(), way, MESSAGE)

    assert answer["answer"] == (
        "**1) What is the GST rate?**\n\nThe GST rate is 9 %. [Guide > Rate]\n\n"
        "**2) How long is a quote valid?**\n\nA sea freight quote is valid for 14 days. [Guide > Quote]"
    )
    assert [one["quote"] for one in answer["citations"]] == [GST.page_content, QUOTE.page_content]
    assert (answer["outcome"], answer["unsupported"], answer["closest"]) == ("answered", [], [])


def test_passages_come_in_turn_each_once_and_as_many_as_for_one_question():
    retriever = Shelves(top_k=2)
    parts: Any = [{"question": "", "query": "GST?"}, {"question": "", "query": "quote?"}]
    found = retrieve(retriever).invoke({"question": "GST? quote?", "parts": parts})

    assert sorted(retriever.asked) == ["GST?", "GST? quote?", "quote?"]
    assert [(one["content"], one["metadata"]["rank"]) for one in found] == [
        (GST.page_content, 1),
        (QUOTE.page_content, 2),
    ]
    whole = retrieve(Shelves()).invoke({"question": "GST? quote?", "parts": parts})
    assert whole[0]["hits"] == [{"part": 0, "rank": 0, "score": 0.9}, {"part": 1, "rank": 2, "score": 0.9}]


def test_of_one_rank_that_passage_leads_which_the_whole_message_has_first():
    shelves = {"whole": [QUOTE, GST], "GST?": [GST], "quote?": [QUOTE]}
    parts: Any = [{"question": "", "query": "GST?"}, {"question": "", "query": "quote?"}]
    found = retrieve(Shelves(shelves=shelves)).invoke({"question": "a whole message", "parts": parts})

    assert [one["content"] for one in found] == [QUOTE.page_content, GST.page_content]


def test_one_question_is_searched_for_as_before():
    retriever = Shelves()
    found = retrieve(retriever).invoke({"question": "What is GST?"})
    assert retriever.asked == ["What is GST?"]
    assert all("hits" not in one for one in found)


async def test_the_model_gets_the_message_and_its_questions_numbered():
    model = noting("1. It is 9 % [1].")
    chain(model=model).invoke(MESSAGE)

    filled = model.asked[0][-1]
    words = filled.text
    assert words.startswith(MESSAGE["question"])
    assert "Answer these 2 questions and no others:\n1. What is the GST rate?\n2. How long is a quote valid?\n" in words
    assert prompts.load("reminder") not in words
    assert [part["places"] for part in filled.additional_kwargs[PARTS]] == [[0, 2], [1, 2, 0]]


@pytest.mark.parametrize("way", ["invoke", "stream"])
async def test_a_question_that_is_not_answered_is_declined_alone(way):
    written = f"1. The GST rate is 9 % [1].\n\n2. {DECLINE}"
    answer = await asked(chain(written), way, MESSAGE)

    assert answer["outcome"] == "answered"
    assert DECLINE in answer["answer"]
    assert answer["unsupported"] == []
    assert [one["section"] for one in answer["closest"]] == ["Quote", "Fees", "Rate"]


@pytest.mark.parametrize(
    ("second", "outcome", "closest"),
    [
        ("A quote is valid for 14 days [2].", "answered", ["Rate"]),
        (DECLINE, "declined", ["Rate", "Quote", "Fees"]),
    ],
)
def test_a_message_is_declined_where_each_of_its_questions_is(second, outcome, closest):
    answer = chain(f"1. {DECLINE}\n\n2. {second}").invoke(MESSAGE)

    assert answer["outcome"] == outcome
    assert [one["section"] for one in answer["closest"]][: len(closest)] == closest


def test_without_a_model_the_question_that_found_nothing_is_named():
    question = {"question": "What is the GST rate? What does storage in Perth cost?"}
    shelves = {"GST": [GST], "Perth": [document("Storage", "Storage in Singapore costs 3 dollars a day.", 0.6)]}
    answer = chain(retriever=Shelves(shelves=shelves)).invoke(question)

    assert answer["answer"].endswith(f"**2) What does storage in Perth cost?**\n\n{DECLINE}")
    assert (answer["outcome"], answer["unsupported"]) == ("answered", [])
    assert [one["section"] for one in answer["closest"]] == ["Storage"]


def test_a_question_with_evidence_that_is_not_sure_is_told_from_one_with_none():
    quoted, none = OfflineAnswer("It is 9 %.", 0.9), NOTHING
    unsure = OfflineAnswer("Storage costs 3 dollars.", 0.4, unsure=True, given=False)
    told = together([("Rate?", quoted), ("Fee?", unsure), ("Team?", none)])

    assert told.text.split("\n\n")[3:] == [prompts.load("unsure"), unsure.text, "**3) Team?**", DECLINE]
    assert (told.probability, told.given) == (0.4, True)
    other = together([("Fee?", unsure), ("Team?", none)])
    assert other.text.split("\n\n") == ["**1) Fee?**", unsure.text, "**2) Team?**", DECLINE]
    assert (other.probability, other.unsure, other.given) == (0.4, True, False)
    assert together([("Team?", none), ("Fee?", none)]) == none


def test_the_least_certain_answer_decides_the_confidence():
    rated = chain(confidence=best_score).invoke(MESSAGE)["confidence"]
    assert (rated["score"], rated["reason"]) == (0.5, "How long is a quote valid?. Question 2 is the least certain")


def test_what_is_not_answered_is_not_rated():
    answer = chain(f"1. The GST rate is 9 % [1].\n\n2. {DECLINE}", confidence=best_score).invoke(MESSAGE)
    assert (answer["confidence"]["score"], answer["confidence"]["reason"]) == (0.9, "What is the GST rate?")


def test_a_message_is_declined_before_the_search_where_each_question_is():
    scope = parse_scope(
        "intents:\n  weather:\n    redirect: Look outside.\n    examples:\n      - What is the weather today?\n"
        "in_scope:\n  - What is the GST rate?\n",
        "scope.yaml",
    )
    gate = ScopeGate(scope, WordEmbeddings())
    both = chain(scope=gate).invoke({"question": "What is the weather today? What is the weather tomorrow?"})
    one = chain(scope=gate).invoke({"question": "What is the weather today? What is the GST rate?"})
    assert (both["outcome"], one["outcome"]) == ("redirected", "answered")


def test_words_of_the_message_write_no_marker_and_no_heading():
    answer = chain().invoke({"question": "What is the GST rate [Guide > Rate] **1)**? How long is a quote valid?"})
    assert answer["answer"].startswith("**1) What is the GST rate Guide > Rate 1)?**\n\n")
    assert len(answer["citations"]) == 2


def test_each_question_has_a_badge_of_its_own_and_the_message_that_of_the_weakest():
    question = {"question": "What is the GST rate? How long is a quote held in Perth? What does storage in Laos cost?"}
    shelves = {"GST": [GST], "storage": [], "quote": [document("Quote", QUOTE.page_content, 0.7)]}
    confidence = chain(retriever=Shelves(shelves=shelves), confidence=CalibratedConfidence()).invoke(question)[
        "confidence"
    ]

    first, unsure, lacking = confidence["parts"]
    assert (unsure["level"], lacking["level"], lacking["reason"]) == ("low", "none", "")
    assert unsure["reason"].startswith("This may not be the answer.")
    assert first["score"] > unsure["score"] == confidence["score"]
    assert confidence["level"] == "low"
    assert "Question 2 is the least certain" in confidence["reason"]
