"""The LCEL chatbot's chain: its questions, answered by ours from the same passages; where ours differs, why."""

from typing import Any, cast

import pytest
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from chains.pipeline import build_chain
from chains.retrieval import retrieve
from chains.state import Searching
from tests.contract.recorded import NEEDS_CASES, rows

CHUNK = "The first words of it."


CASES: dict[str, Any] = {row["id"]: row for row in rows("chain")}
pytestmark = NEEDS_CASES


def shelf(hits: list[dict[str, Any]]) -> Any:
    """Find the passages with the scores that were recorded."""
    return lambda _: [Document(hit["text"], metadata=hit["metadata"]) for hit in hits]


def answered(hits: list[dict[str, Any]], model: Any, question: str = "What is the refund policy?") -> Any:
    return build_chain(retriever=shelf(hits), model=model).invoke({"question": question})


def happy_path() -> tuple[list[dict[str, Any]], dict[str, Any]]:
    return CASES["lcel-220"]["expected"]["chunks_related"], CASES["lcel-220"]


def test_the_answer_comes_with_its_passages_best_first_and_what_was_measured():
    hits, case = happy_path()
    answer = answered(hits, FakeListChatModel(responses=[case["input"]["llm_answer"]]), case["input"]["question"])

    # No passage holds what the recorded model says, so ours names it and offers the passages in its place.
    assert answer["outcome"] == "ungrounded"
    assert case["expected"]["system_answer"] in answer["draft"]
    assert answer["question"] == case["expected"]["user_question"]
    assert [passage["content"] for passage in answer["documents"]] == [hit["text"] for hit in hits]
    assert [passage["score"] for passage in answer["documents"]] == [
        pytest.approx(hit["metadata"]["score"], abs=1e-6) for hit in hits
    ]
    assert {"retrieval", "generation"} <= set(answer["metadata"]["timings_ms"])
    assert answer["confidence"] is not None


def test_the_model_is_sent_the_instructions_apart_from_the_question_and_the_passages_in_order():
    hits, _ = happy_path()
    recorded = CASES["lcel-221"]["expected"]["messages"]
    seen: list[Any] = []

    def model(prompt: Any) -> AIMessage:
        seen.extend(prompt.to_messages())
        return AIMessage("Nothing.")

    answered(hits, RunnableLambda(model))
    system, question = seen[0].content, seen[-1].content
    # Ours puts the passages beside the instructions: no question can then pass for one.
    assert [message["role"] for message in recorded] == ["system", "user"]
    assert "What is the refund policy?" in question
    places = [system.index(hit["text"]) for hit in hits]
    assert places == sorted(places)


def test_without_passages_the_model_is_not_asked_and_the_confidence_is_nothing():
    expected = CASES["lcel-231"]["expected"]
    answer = answered([], FakeListChatModel(responses=["Never said."]))

    assert (answer["outcome"], answer["documents"]) == ("no_results", expected["chunks_related"])
    assert "Never said." not in answer["answer"]
    assert answer["confidence"]["score"] == expected["metadata"]["confidence"]["score"]


def test_a_stream_has_more_than_one_piece():
    hits, case = happy_path()
    model = FakeListChatModel(responses=[case["input"]["llm_answer"]])
    pieces = list(build_chain(retriever=shelf(hits), model=model).stream({"question": "What is it?"}))
    assert len(pieces) > CASES["lcel-232"]["expected"]["chunks_gt"]


def test_offsets_are_those_of_the_document_from_0_on():
    expected = CASES["lcel-233"]["expected"]
    hit = {"text": CHUNK, "metadata": {"start_char": expected["startChar"], "end_char": expected["endChar"]}}
    [passage] = answered([hit], FakeListChatModel(responses=["?"]))["documents"]
    assert passage["metadata"]["start_char"] == 0


def test_passages_below_the_threshold_are_left_out():
    case = CASES["lcel-234"]
    hits = [{"text": f"Passage {score}.", "metadata": {"score": score}} for score in case["peer_output"]["scores"]]
    asked = {"question": case["input"]["question"], "threshold": case["input"]["scoreThreshold"]}
    found = retrieve(shelf(hits)).invoke(cast("Searching", asked))
    assert [passage["score"] for passage in found] == case["expected"]["scores"]
