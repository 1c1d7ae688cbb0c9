import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.runnables import RunnableLambda

from chains.retrieval import RerankingRetriever
from tests.chains.retrieval.conftest import cross_encoder
from tests.chains.retrieval.test_compression import Shelf

TEXTS = ("ships sail", "the rate of tax", "rate of GST", "a rate")


class Given(BaseDocumentCompressor):
    """Returns what the function of the test makes of the documents."""

    made: Callable[[list[Document]], Any]

    def compress_documents(self, documents, query, callbacks=None):
        return RunnableLambda(self.made).invoke(list(documents), {"callbacks": callbacks, "run_name": "rerank"})


def reranking(compressor, **options):
    documents = [Document(text, id=text, metadata={"score": 0.5}) for text in TEXTS]
    return RerankingRetriever(retriever=Shelf(documents=documents), compressor=compressor, **options)


def order(retriever, **options):
    return [document.page_content for document in retriever.invoke("rate of GST", **options)]


def test_a_compressor_of_langchain_puts_the_chunks_in_order():
    assert order(reranking(cross_encoder(top_n=2))) == ["rate of GST", "the rate of tax", "ships sail", "a rate"]


def test_the_reranker_sees_more_candidates_than_are_returned():
    assert order(reranking(Given(made=lambda found: found[::-1]), candidates=3), top_k=1) == ["rate of GST"]


def test_a_chunk_keeps_its_words_and_score_and_gets_the_rerankers_score():
    def changed(found):
        return [Document("other words", id=one.id, metadata={"relevance_score": 0.9}) for one in found[:1]]

    first, second, *_ = reranking(Given(made=changed)).invoke("rate")

    assert first.page_content == "ships sail"
    assert (first.metadata["score"], first.metadata["rerank_score"], first.metadata["rank"]) == (0.5, 0.9, 1)
    assert "rerank_score" not in second.metadata


def test_repeated_and_unknown_chunks_of_a_reranker_are_dropped():
    made = Given(made=lambda found: [found[1], found[1], Document("nobody's")])

    assert order(reranking(made)) == ["the rate of tax", "ships sail", "rate of GST", "a rate"]


def test_the_order_stands_where_the_reranker_fails():
    def fail(found):
        raise OSError

    assert order(reranking(Given(made=fail)), top_k=2) == list(TEXTS[:2])


def test_the_order_stands_where_the_reranker_takes_too_long():
    released = threading.Event()

    try:
        assert order(reranking(Given(made=lambda found: released.wait() and found[::-1]), timeout_s=0.05)) == list(
            TEXTS
        )
    finally:
        released.set()


@pytest.mark.parametrize("asked", ["invoke", "ainvoke"])
async def test_a_trace_shows_the_reranker_below_the_retriever(asked):
    class Seen(BaseCallbackHandler):
        def __init__(self):
            self.names: list[str] = []

        def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
            self.names.append(kwargs["name"] if parent_run_id else "no parent")

    seen, retriever = Seen(), reranking(Given(made=lambda found: found))
    if asked == "invoke":
        retriever.invoke("rate", {"callbacks": [seen]})
    else:
        await retriever.ainvoke("rate", {"callbacks": [seen]})

    assert seen.names == ["rerank"]


def test_nothing_is_asked_for_one_chunk():
    def fail(found):
        raise AssertionError

    assert order(RerankingRetriever(retriever=Shelf(documents=[Document("one")]), compressor=Given(made=fail))) == [
        "one"
    ]
