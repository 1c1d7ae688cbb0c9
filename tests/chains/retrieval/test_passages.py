from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from chains.errors import QuestionError
from chains.retrieval import passage, retrieve


class Shelf(BaseRetriever):
    """A retriever of somebody else's, which knows neither limits nor filters."""

    documents: list[Document] = []

    def _get_relevant_documents(self, query, *, run_manager):
        return self.documents


def shelf(*documents):
    return retrieve(Shelf(documents=[Document(text, metadata=metadata) for text, metadata in documents]))


def test_a_retriever_that_heeds_no_filter_is_filtered():
    verb = shelf(
        ("a", {"audience": "public"}), ("b", {"audience": "internal"}), ("c", {}), ("d", {"category": "carrier"})
    )
    texts = [found["content"] for found in verb.invoke({"question": "?"}, {"configurable": {"audience": "public"}})]

    assert texts == ["a"]


@pytest.mark.parametrize(
    ("limits", "texts"),
    [
        ({}, ["a", "b", "c"]),
        ({"top_k": 1}, ["a"]),
        ({"threshold": 0.8}, ["a", "c"]),
        ({"top_k": 0}, []),
        ({"threshold": 1, "top_k": 2}, ["c"]),
    ],
)
def test_a_question_s_limits_apply_although_the_retriever_knows_none(limits, texts):
    found = shelf(("a", {"score": 0.9}), ("b", {"score": 0.7}), ("c", {})).invoke({"question": "?", **limits})

    assert [one["content"] for one in found] == texts


ODD: dict[str, tuple[list[Any], str]] = {
    "top_k": ([-1, 1.5, "3", True, float("nan")], "top_k must be a whole number of at least 0"),
    "threshold": ([-0.1, 1.01, "0.5", True, float("nan"), float("inf")], "threshold must be a number from 0 to 1"),
    "question": ([" "], "Query cannot be empty"),
}


@pytest.mark.parametrize(("name", "value", "told"), [(name, v, told) for name, (odd, told) in ODD.items() for v in odd])
def test_an_odd_number_threshold_or_question_is_refused(name, value, told):
    with pytest.raises(QuestionError, match=told):
        shelf().invoke({"question": "?", name: value})


async def test_a_text_that_has_come_before_is_dropped():
    verb = shelf(("same", {"score": 0.9}), (" same\n", {"score": 0.8}), ("b", {"score": 0.7}))
    expected = [("same", 0.9), ("b", 0.7)]

    assert [(found["content"], found["score"]) for found in verb.invoke({"question": "?"})] == expected
    assert [(found["content"], found["score"]) for found in await verb.ainvoke({"question": "?"})] == expected


@pytest.mark.parametrize(
    ("raw", "score"), [(0.5, 0.5), (-0.1, 0.0), (1.2, None), (float("nan"), None), ("0.3", 0.3), (0.12345678, 0.123457)]
)
def test_a_score_that_can_be_a_similarity_is_taken_out_of_the_metadata(raw, score):
    found = passage(Document("a", metadata={"score": raw, "title": "T"}))
    assert found == {"content": "a", "metadata": {"title": "T"}, "score": score}
