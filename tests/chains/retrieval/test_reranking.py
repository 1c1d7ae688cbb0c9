"""Retrievers around another one: compression and reranking."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.documents import BaseDocumentCompressor, Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

from chains.errors import LLMTimeoutError
from chains.retrieval.retriever import ChunkRetriever
from chains.retrieval.strategies import CompressionRetriever, RerankingRetriever
from tests.chains.retrieval.conftest import cross_encoder

TEXT = "The rate of GST is nine percent. Exports are zero-rated. Imports pay at the border."


class Shelf(ChunkRetriever):
    documents: list[Document]

    def find(self, query, *, top_k, threshold, filters, callbacks):
        return self.documents[:top_k]


class Scripted(GenericFakeChatModel):
    """Says what it is told, and keeps what it was asked."""

    asked: list[str] = []

    def _generate(self, messages, *args, **kwargs):
        self.asked.append("\n".join(str(message.content) for message in messages))
        reply = next(self.messages)
        if isinstance(reply, Exception):
            raise reply
        return super()._generate(messages, *args, **kwargs) if reply is None else self._said(reply)

    def _said(self, reply):
        self.messages = iter([AIMessage(reply), *self.messages])
        return super()._generate([])


def compress(reply, *texts, **metadata):
    documents = [Document(text, metadata={"score": 0.5, **metadata}) for text in texts or (TEXT,)]
    model = Scripted(messages=iter([reply] * len(documents)), asked=[])
    return CompressionRetriever(retriever=Shelf(documents=documents), model=model, concurrency=1), model


def only(retriever):
    [document] = retriever.invoke("Are exports taxed?")
    return document


def test_a_chunk_is_cut_down_to_the_extract_and_its_offsets_follow():
    found = only(compress(" Exports are zero-rated.\n", start_char=100, end_char=100 + len(TEXT))[0])

    assert found.page_content == "Exports are zero-rated."
    assert {name: found.metadata[name] for name in ("score", "compressed", "start_char", "end_char")} == {
        "score": 0.5,
        "compressed": True,
        "start_char": 100 + TEXT.index("Exports"),
        "end_char": 100 + TEXT.index("Exports") + len("Exports are zero-rated."),
    }


@pytest.mark.parametrize(
    "reply", ["Exports are zero rated.", "", "  \n", "NONE", TEXT, LLMTimeoutError("late"), OSError()]
)
def test_a_chunk_stays_whole_where_the_extract_is_not_its_own_or_the_model_fails(reply):
    found = only(compress(reply)[0])
    assert (found.page_content, "compressed" in found.metadata) == (TEXT, False)


def test_a_chunk_without_offsets_is_cut_all_the_same():
    assert only(compress("zero-rated")[0]).metadata == {"score": 0.5, "compressed": True, "rank": 1}


def test_the_model_is_asked_once_for_each_chunk_with_the_question():
    retriever, model = compress("nothing", "first {text}", "second")
    retriever.invoke("Are {exports} taxed?")

    assert [("first {text}" in asked, "second" in asked) for asked in model.asked] == [(True, False), (False, True)]
    assert all("Are {exports} taxed?" in asked for asked in model.asked)


async def test_it_works_without_blocking_the_loop():
    [found] = await compress("zero-rated")[0].ainvoke("Are exports taxed?")
    assert found.page_content == "zero-rated"


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
