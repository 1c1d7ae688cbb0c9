"""Passages: of any retriever, as LangChain's own loaders, splitters and stores leave their documents."""

from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_text_splitters import MarkdownHeaderTextSplitter, RecursiveCharacterTextSplitter

from chains import build_chain
from chains.citations import CiteSources
from chains.context import FormatContext
from chains.errors import ConfigurationError, QuestionError
from chains.retrieval.passages import passage, retrieve
from tests.chains.gst import Shelf


def shelf(*documents):
    """Search a retriever of somebody else's, which knows neither limits nor filters."""
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


GST = "The rate of GST on imports is 9 %."
FEES = "The fee for a permit is 2.88 dollars."


def read(**metadata):
    return passage(Document("a", id="3f", metadata=metadata))["metadata"]


FOUND: dict[str, list[tuple[Any, Any]]] = {
    "title": [
        ({"title": "GST Guide", "source": "a/b.md"}, "GST Guide"),
        ({"file_name": "b.md", "source": "a/c.md"}, "b.md"),
        ({"source": "/data/handbook/GST guide.md"}, "GST guide.md"),
        ({"source": "C:\\data\\gst.docx"}, "gst.docx"),
        ({"source": "https://example.org/customs/gst%20guide.html?lang=en"}, "gst guide.html"),
        ({"source": "https://example.org/"}, "example.org"),
        ({"Header 1": "GST", "Header 2": "Rates"}, "GST"),
        ({}, "3f"),
    ],
    "page": [  # It counts from 1.
        ({"page": 3}, 3),
        ({"page": 0, "page_label": "1", "total_pages": 9}, 1),
        ({"page": 6, "page_label": "5", "total_pages": 9}, 5),
        ({"page": 0, "page_label": "iv"}, 1),
        ({"page": 0, "total_pages": 9}, 1),
        ({"page_number": 2}, 2),
        ({"page": 0}, None),
        ({"page": "cover"}, None),
    ],
    "source_urls": [
        ({"source": "https://example.org/a"}, ["https://example.org/a"]),
        ({"source": "a.md", "url": "https://example.org/a"}, ["https://example.org/a"]),
        ({"source": "https://example.org/a", "source_urls": []}, []),
    ],
}


@pytest.mark.parametrize(
    ("name", "metadata", "expected"), [(name, *case) for name, found in FOUND.items() for case in found]
)
def test_title_page_and_address_are_found(name, metadata, expected):
    assert read(**metadata)[name] == expected


def test_a_path_is_no_address():
    assert "source_urls" not in read(source="/data/gst.md", url="gst.md")


def test_names_of_the_documents_own_are_mapped():
    own = passage(Document("a", metadata={"doc_name": "GST Guide", "part": "Rate"}), {"title": "doc_name"})

    assert own["metadata"]["title"] == "GST Guide"


def chain_over(*documents, answer, **options):
    store = InMemoryVectorStore(DeterministicFakeEmbedding(size=16))
    store.add_documents(list(documents))
    return build_chain(retriever=store.as_retriever(), model=FakeListChatModel(responses=[answer]), **options)


def test_the_tutorial_s_documents_are_cited_with_nothing_set(tmp_path):
    splitter = RecursiveCharacterTextSplitter(chunk_size=60, chunk_overlap=0)
    texts = splitter.create_documents([GST, FEES], [{"source": "data/gst.md"}, {"source": "data/fees.md"}])

    answer = chain_over(*texts, answer="The rate of GST on imports is 9 % [gst.md].").invoke(
        {"question": "Which rate?"}
    )

    assert answer["outcome"] == "answered"
    (citation,) = answer["citations"]
    assert (citation["title"], citation["matched"], citation["support"]) == ("gst.md", True, 1.0)
    assert answer["confidence"]["level"] == "Medium"
    assert answer["confidence"]["score"] > 0


def test_headers_of_a_splitter_become_the_section():
    splitter = MarkdownHeaderTextSplitter([("#", "Header 1"), ("##", "Header 2")])
    texts = splitter.split_text(f"# Customs\n\n## Rates\n\n{GST}\n\n## Fees\n\n{FEES}")

    answer = chain_over(*texts, answer=f"{FEES[:-1]} [Customs > Fees].").invoke({"question": "Which fee?"})

    assert [(one["title"], one["section"]) for one in answer["citations"]] == [("Customs", "Fees")]


@pytest.mark.parametrize("style", ["title", "numbered"])
@pytest.mark.parametrize("sources", [({"source": "a/readme.md"}, {"source": "b/readme.md"}), ({}, {})])
def test_the_markers_of_two_documents_stay_two(sources, style):
    texts = [Document(text, metadata=metadata) for text, metadata in zip((GST, FEES), sources, strict=True)]
    stated = [f"{GST[:-1]} [1].", f"{FEES[:-1]} [2]."]
    chain = build_chain(
        retriever=lambda _: texts,
        model=FakeListChatModel(responses=[" ".join(stated)]),
        context=FormatContext(style=style),
        citations=CiteSources(style=style),
    )

    answer = chain.invoke({"question": "Which rate and fee?"})

    assert [one["number"] for one in answer["citations"]] == [1, 2]
    assert [one["quote"] for one in answer["citations"]] == [GST, FEES]
    assert len({one["doc_id"] for one in answer["citations"]}) == 2


def test_a_mapping_that_names_nothing_of_ours_is_refused():
    with pytest.raises(ConfigurationError, match=r"metadata names 'titel'.*title"):
        chain_over(Document(GST), answer="", metadata={"titel": "name"})
