"""What is read of documents as LangChain's own loaders, splitters and stores leave them."""

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
from chains.errors import ConfigurationError
from chains.retrieval import passage

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


def test_two_documents_without_a_title_are_two():
    first, second = (passage(Document(text))["metadata"] for text in (GST, FEES))

    assert first["doc_id"] != second["doc_id"]


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
