from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from chains.citations.sources import MOST, PASSAGE_LIMIT, closest_passages
from chains.citations.support import QUOTE_LIMIT
from chains.metadata import WITHHELD
from chains.ports import ModerationResult
from chains.retrieval.filters import Filters
from chains.retrieval.retriever import ChunkRetriever
from chains.safety.output_check import SystemPrompt
from chains.safety.screening import CheckQuestion, Moderate, Safety
from chains.state import Passage
from tests.chains.gst import DOCUMENT, QUESTION, gst_chain
from tests.streams import asked

FAR = Document(DOCUMENT.page_content, metadata=DOCUMENT.metadata | {"score": 0.12, "audience": "public"})
DECLINE = "I don't have specific information about that in the documents I can see."
TABLE = "## Fees\n\n| Service | Fee |\n|---|---|\n| Storage | 12 SGD a day |\n| Demurrage | 90 SGD a day |\n"


def passage(content: str, **metadata: Any) -> Passage:
    return Passage(content=content, metadata={"title": "Guide", "doc_id": "guide"} | metadata, score=0.5)


def quotes(question: str, *contents: str) -> list[str]:
    return [one["quote"] for one in closest_passages(question, [passage(content) for content in contents])]


def marked(question: str, *contents: str) -> list[str]:
    return [one["marked"] for one in closest_passages(question, [passage(content) for content in contents])]


def test_the_statement_that_holds_most_of_the_question_is_marked_in_the_text_around_it():
    long = "Storage is free for three days. " * 9
    text = f"## Clearance\n\n{long}\n\nThe permit for cosmetics takes 14 working days. {long}"
    (one,) = closest_passages("How long does the permit for cosmetics take?", [passage(text)])

    assert one["marked"] == "The permit for cosmetics takes 14 working days."
    assert one["marked"] in one["quote"]
    assert QUOTE_LIMIT < len(one["quote"]) <= PASSAGE_LIMIT


def test_a_table_is_quoted_with_its_head_and_the_row_that_fits_is_marked():
    question = "What is the demurrage fee?"
    assert quotes(question, TABLE) == [TABLE.removeprefix("## Fees\n\n").rstrip()]
    assert marked(question, TABLE) == ["| Demurrage | 90 SGD a day |"]


def test_a_row_is_marked_by_the_range_that_holds_a_figure_of_the_question():
    table = "| Before departure | Fee |\n|---|---|\n| 1-3 days | 50 % |\n| 4-7 days | 25 % |\n"
    assert marked("What do we owe two days before departure?", table) == ["| 1-3 days | 50 % |"]
    assert marked("What is the fee?", table) == [""]


def test_a_table_that_begins_in_the_passage_before_brings_its_head():
    head = "| Service | Fee |\n|---|---|"
    (one,) = closest_passages("demurrage", [passage("| Demurrage | 90 SGD a day |", table_head=head)])
    assert (one["table_head"], one["marked"]) == (head, "| Demurrage | 90 SGD a day |")


def test_a_quote_stays_in_its_section():
    assert quotes("What is the transit time?", "## Transit time\n\nIt is nine days.\n\n## Rates\n\nAsk us.") == [
        "It is nine days."
    ]


def test_at_most_three_passages_stand_in_the_order_of_the_retriever():
    found = closest_passages("fees", [passage("No such word.", doc_id=str(number)) for number in range(9)])

    assert [one["doc_id"] for one in found] == ["0", "1", "2"]
    assert len(found) == MOST


def test_a_note_in_a_table_is_no_row_of_it():
    text = "| Dog | Price |\n|---|---|\n| Small | 52 |\n| Prices hold. | Prices hold. |\n| Large | 63 |"
    assert marked("price of a small dog", text) == ["| Small | 52 |"]


@given(st.text(max_size=80), st.lists(st.text(alphabet="ab#| \n.-é1", max_size=400), max_size=5))
def test_a_quote_is_what_its_offsets_say(question, contents):
    for one, content in zip(closest_passages(question, [*map(passage, contents)]), contents, strict=False):
        assert one["quote"] == content[one["start"] : one["end"]]
        assert one["marked"] in one["quote"]
        assert len(one["quote"]) <= PASSAGE_LIMIT


def test_a_question_without_a_known_word_gets_the_nearest_passages_all_the_same():
    assert quotes("海运需要什么文件", "The permit takes 14 days.") == ["The permit takes 14 days."]


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_a_decline_carries_the_closest_passages(way):
    answer = await asked(gst_chain(DECLINE), way, {"question": "What is the rate of VAT?"})

    assert answer["outcome"] == "declined"
    assert answer["closest"] == [
        {
            "doc_id": "gst",
            "title": "GST Guide",
            "section": "Rate",
            "page": None,
            "url": None,
            "quote": "The rate of GST is 9%.",
            "start": 0,
            "end": 22,
            "marked": "The rate of GST is 9%.",
            "table_head": "",
            "score": 0.8,
        }
    ]


def test_the_passage_that_a_declining_model_names_as_nearest_comes_first():
    near = Document("Food pays no GST.", metadata={"title": "Food", "score": 0.4})
    decline = AIMessage(DECLINE, response_metadata={"nearest": 1})
    answer = gst_chain(decline, retriever=RunnableLambda(lambda _: [DOCUMENT, near])).invoke(QUESTION)

    assert [one["title"] for one in answer["closest"]] == ["Food", "GST Guide"]


def test_what_is_withheld_from_the_reader_carries_none():
    leak = AIMessage("Secret.", response_metadata={WITHHELD: "leak"})
    answer = gst_chain(leak).invoke(QUESTION)

    assert (answer["outcome"], answer["closest"]) == ("blocked", [])


class Chest(ChunkRetriever):
    """Holds one public and one internal chunk, both farther than the threshold, and notes how it is asked."""

    asked: list[float] = []

    def find(self, query: str, *, top_k: int, threshold: float, filters: Filters, callbacks: Any) -> list[Document]:
        self.asked.append(threshold)
        far = [FAR, FAR.model_copy(update={"page_content": "Secret.", "metadata": {"title": "Memo", "score": 0.14}})]
        return [one for one in far if one.metadata["score"] >= threshold and filters.allow(one.metadata)][:top_k]


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_where_no_passage_reaches_the_threshold_the_nearest_below_it_are_the_closest(way):
    chest = Chest(asked=[])
    config = {"configurable": {"audience": "public"}}
    answer = await asked(gst_chain(retriever=chest).with_config(config), way, QUESTION)

    assert answer["outcome"] == "no_results"
    assert (answer["documents"], answer["related_docs"]) == ([], [])
    assert [(one["quote"], one["score"]) for one in answer["closest"]] == [("The rate of GST is 9%.", 0.12)]
    assert chest.asked == [0.15, 0.0]


@pytest.mark.parametrize(("threshold", "count"), [(None, 1), (0.15, 1), (0.2, 0)])
def test_a_passage_with_all_words_of_the_question_counts_unless_a_threshold_was_chosen(threshold, count):
    given = {} if threshold is None else {"threshold": threshold}
    chain = gst_chain(retriever=Chest(asked=[]))
    assert len(chain.invoke({"question": "GST rate?", **given})["documents"]) == count


@pytest.mark.parametrize(
    ("given", "asked_with"),
    [({"threshold": 0.0}, [0.0]), ({"threshold": 0.1}, [0.1]), ({"top_k": 0}, [])],
    ids=["every passage counts", "the passage is found", "none is wanted"],
)
def test_a_search_that_finds_what_it_may_is_not_repeated(given, asked_with):
    chest = Chest(asked=[])
    gst_chain(retriever=chest).invoke(QUESTION | given)

    assert chest.asked == asked_with


def test_nothing_is_closest_where_the_filters_leave_nothing():
    config = {"configurable": {"audience": "public", "jurisdiction": "ID"}}
    answer = gst_chain(retriever=Chest(asked=[])).invoke(QUESTION, config)

    assert (answer["outcome"], answer["closest"]) == ("no_results", [])


def test_a_moderator_beside_the_search_keeps_the_nearest_passages_from_what_it_flags():
    flagged = {"harm": True, "none": False}
    for question, is_flagged in flagged.items():
        moderate = Moderate(RunnableLambda(lambda text: ModerationResult(text == "harm")), {"moderation": "No."})
        safety = Safety(question=CheckQuestion({}), prompt=SystemPrompt(""), moderate=moderate)
        answer = gst_chain(retriever=Chest(asked=[]), safety=safety).invoke({"question": question})

        assert (answer["outcome"], len(answer["closest"])) == (("blocked", 0) if is_flagged else ("no_results", 2))


def test_an_attack_below_the_threshold_is_not_among_the_closest():
    safety = Safety(question=CheckQuestion({}), prompt=SystemPrompt(""), is_suspicious=lambda text: "Secret" in text)
    answer = gst_chain(retriever=Chest(asked=[]), safety=safety).invoke(QUESTION)

    assert [one["doc_id"] for one in answer["closest"]] == ["gst"]
