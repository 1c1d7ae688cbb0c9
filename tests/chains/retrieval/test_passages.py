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


def test_a_foreign_retriever_answers_with_its_own_limits():
    assert len(shelf(("a", {}), ("b", {})).invoke({"question": "?", "top_k": 1, "threshold": 0.9})) == 2


async def test_a_text_that_has_come_before_is_dropped():
    verb = shelf(("same", {"score": 0.9}), (" same\n", {"score": 0.8}), ("b", {"score": 0.7}))
    expected = [("same", 0.9), ("b", 0.7)]

    assert [(found["content"], found["score"]) for found in verb.invoke({"question": "?"})] == expected
    assert [(found["content"], found["score"]) for found in await verb.ainvoke({"question": "?"})] == expected


@pytest.mark.parametrize(("raw", "score"), [(0.5, 0.5), (-0.1, 0.0), (1.2, 1.0), ("0.3", 0.3), (0.12345678, 0.123457)])
def test_a_score_is_clipped_and_taken_out_of_the_metadata(raw, score):
    found = passage(Document("a", metadata={"score": raw, "title": "T"}))
    assert found == {"content": "a", "metadata": {"title": "T"}, "score": score}


def test_an_empty_question_is_refused():
    with pytest.raises(QuestionError):
        shelf().invoke({"question": " "})
