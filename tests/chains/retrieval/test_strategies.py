"""What holds in every strategy: filters, one scale of scores, limits, ranks; and what is each one's own."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.language_models import FakeListChatModel
from langchain_core.runnables import RunnableLambda

from chains.callbacks import Deadline
from chains.errors import ConfigurationError, DeadlineError
from chains.retrieval.passages import retrieve
from chains.retrieval.retriever import ChunkRetriever
from chains.retrieval.strategies import (
    CompressionRetriever,
    HybridRetriever,
    MmrRetriever,
    RerankingRetriever,
    SimilarityRetriever,
    cosines,
)
from chains.state import Searching
from tests.chains.retrieval.conftest import TEXTS, cross_encoder
from tests.clocks import StoppedClock
from tests.fakes import WordEmbeddings
from tests.indexes import put
from tests.streams import asked

QUESTION = "the rate of GST"
INTERNAL = {name for name, text in TEXTS.items() if text[1] == "internal"}
EVERYONE: Any = {"configurable": {"audience": "public"}}


def similarity(desk, **options):
    return SimilarityRetriever(store=desk.store, **options)


def mmr(desk, **options):
    return MmrRetriever(store=desk.store, **options)


def hybrid(desk, **options):
    return HybridRetriever(store=desk.store, words=desk.words, **options)


def compression(desk, **options):
    model = FakeListChatModel(responses=["in other words"])
    return CompressionRetriever(retriever=hybrid(desk, **options), model=model, **options)


def reranking(desk, **options):
    return RerankingRetriever(retriever=hybrid(desk, **options), compressor=cross_encoder(top_n=2), **options)


# A new strategy is added here: what the tests say of `retriever` has to hold for it too.
STRATEGIES = [similarity, mmr, compression, hybrid, reranking]


@pytest.fixture(params=STRATEGIES, ids=lambda make: make.__name__)
def retriever(request, desk):
    return request.param(desk, threshold=0.0)


def names(documents):
    return {document.metadata["doc_id"] for document in documents}


async def test_the_public_never_gets_one_by_any_way_to_call(retriever):
    public = set(TEXTS) - INTERNAL

    assert names(await retriever.ainvoke(QUESTION, EVERYONE)) == public
    assert [names(found) for found in retriever.batch([QUESTION] * 2, EVERYONE)] == [public] * 2
    assert names([one async for part in retriever.astream(QUESTION, EVERYONE) for one in part]) == public
    inside: Any = RunnableLambda(lambda question: [*retriever.invoke(question)])
    assert names(inside.invoke(QUESTION, EVERYONE)) == public


def test_the_limit_counts_what_may_be_seen(retriever):
    assert names(retriever.invoke("margin discount rate of the desk", EVERYONE, top_k=4)) == set(TEXTS) - INTERNAL


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"category": "carrier"}, {"sailing"}),
        ({"jurisdiction": "ID"}, {"vat"}),
        ({"category": "regulatory", "jurisdiction": "SG"}, {"gst", "relief"}),
        ({"category": "internal", "audience": "public"}, set()),
        ({"category": "unheard of"}, set()),
    ],
)
def test_category_and_jurisdiction_narrow_the_search(retriever, filters, expected):
    assert names(retriever.invoke(QUESTION, {"configurable": filters})) == expected


def test_scores_are_the_same_cosines_in_every_strategy(retriever, desk):
    vectors = desk.store.vectors(list(TEXTS))
    scores = cosines(np.array(list(vectors.values())), WordEmbeddings().embed_query(QUESTION))
    found = retriever.invoke(QUESTION)

    assert {one.id: round(one.metadata["score"], 4) for one in found} == {
        id_: round(score, 4) for id_, score in zip(vectors, scores.tolist(), strict=True)
    }
    assert [one.metadata["rank"] for one in found] == list(range(1, len(TEXTS) + 1))


def test_the_threshold_is_on_the_score_and_zero_is_a_value(retriever):
    assert len(retriever.invoke("Surabaya", threshold=0.0)) == len(TEXTS)
    strict = retriever.invoke(QUESTION, threshold=0.5)
    assert strict
    assert all(document.metadata["score"] >= 0.5 for document in strict)
    assert retriever.invoke(QUESTION, threshold=1.0) == []


def test_a_passage_with_the_words_of_a_question_is_found_below_the_retrievers_own_threshold(desk):
    [best] = [one for one in hybrid(desk, threshold=0.0).invoke("weekly Surabaya") if one.id == "sailing"]
    least = (best.metadata["score"] + best.metadata["fused_score"]) / 2

    assert names(hybrid(desk, threshold=least).invoke("weekly Surabaya")) == {"sailing"}
    assert hybrid(desk).invoke("weekly Surabaya", threshold=least) == []


def test_the_rare_words_of_a_question_find_their_passage_among_few_however_far_it_is(desk):
    assert names(hybrid(desk, threshold=0.95).invoke("weekly Surabaya")) == {"sailing"}
    assert hybrid(desk, threshold=0.95).invoke("the rate") == []


def test_a_word_finds_its_passage_where_there_are_too_few_for_any_to_be_rare(fresh_desk):
    put(fresh_desk.index, {}, stale=[name for name in TEXTS if name not in {"margin", "vat"}])
    desk = replace(fresh_desk, store=fresh_desk.index.open(), words=fresh_desk.index.open())

    assert names(hybrid(desk, threshold=0.95).invoke("the rate")) == {"margin", "vat"}
    assert hybrid(desk, threshold=0.95).invoke("one boat") == []


def test_the_retrievers_own_threshold_is_the_same_where_a_call_sends_it(desk):
    """The form of /copilot has defaults, which it sends with each question."""
    [best] = [one for one in hybrid(desk, threshold=0.0).invoke("weekly Surabaya") if one.id == "sailing"]
    least = (best.metadata["score"] + best.metadata["fused_score"]) / 2
    search, question = retrieve(hybrid(desk, threshold=least)), Searching(question="weekly Surabaya")

    assert [passage["content"] for passage in search.invoke(question)] == [TEXTS["sailing"][0]]
    assert search.invoke({**question, "threshold": least}) == search.invoke(question)


def test_a_question_may_bring_its_own_top_k_and_zero_is_a_value(retriever):
    assert [len(retriever.invoke(QUESTION, top_k=top_k)) for top_k in (0, 1, 3, 100)] == [0, 1, 3, len(TEXTS)]


def test_a_typing_error_finds_what_the_word_finds(desk):
    error, meant = (hybrid(desk, threshold=0.0).invoke(f"the {word} on parcels") for word in ("relieff", "relief"))

    assert [(one.id, one.metadata["fused_score"]) for one in error] == [
        (one.id, one.metadata["fused_score"]) for one in meant
    ]


def test_a_word_of_the_language_is_searched_for_as_it_was_typed(desk):
    retriever = hybrid(desk, threshold=0.0, is_word=lambda word: word == "relieff")
    error, meant = (retriever.invoke(f"the {word} on parcels") for word in ("relieff", "relief"))

    assert error[0].metadata["fused_score"] < meant[0].metadata["fused_score"]


@pytest.mark.untraced
@given(question=st.text(min_size=1, max_size=40), top_k=st.integers(0, 8), threshold=st.floats(0, 1))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_limits_and_the_audience_hold_for_any_question(desk, question, top_k, threshold):
    found = hybrid(desk, threshold=0.0).invoke(question, EVERYONE, top_k=top_k, threshold=threshold)

    assert len(found) <= top_k
    assert not names(found) & INTERNAL
    assert all(threshold <= document.metadata["score"] <= 1 for document in found)
    assert len({document.id for document in found}) == len(found)


def test_names_that_langchain_uses_elsewhere_are_refused_with_those_there_are(retriever, desk):
    told = "'k' is no field of .*; it has .*top_k"
    with pytest.raises(ConfigurationError, match=told):
        SimilarityRetriever(store=desk.store, k=3)
    with pytest.raises(ConfigurationError, match="'score_threshold' is no field of HybridRetriever"):
        hybrid(desk, score_threshold=0.5)
    with pytest.raises(ConfigurationError, match=told):
        retriever.invoke(QUESTION, k=1)
    assert len(retriever.invoke(QUESTION, top_k=1)) == 1


async def test_an_awaited_search_refuses_them_too(retriever):
    with pytest.raises(ConfigurationError, match="'k' is no field of a search; it has top_k, threshold"):
        await retriever.ainvoke(QUESTION, k=1)


def test_what_only_shares_a_rare_word_is_found_with_its_true_similarity(desk):
    retriever = HybridRetriever(store=desk.store, words=desk.words, candidates=1, threshold=0.0)
    found = retriever.invoke("rate of GST in surabayas")

    sailing = next(one for one in found if one.id == "sailing")
    assert sailing.metadata["score"] == 0.0
    assert sailing.metadata["fused_score"] > 0.0


def test_a_chunk_deleted_a_moment_ago_is_left_out(fresh_desk):
    put(fresh_desk.index, {}, stale=["gst"])

    found = HybridRetriever(store=fresh_desk.store, words=fresh_desk.words, threshold=0.0).invoke("rate of GST")
    assert "gst" not in {one.id for one in found}
    assert len(found) == 5


def test_a_long_document_that_the_question_names_leads(desk, monkeypatch):
    question = "rate of GST"
    first = HybridRetriever(store=desk.store, words=desk.words, threshold=0.0).invoke(question)
    monkeypatch.setattr(type(desk.words), "named", lambda *_: {"sailing": 4.0})

    assert first[0].id != "sailing"
    assert HybridRetriever(store=desk.store, words=desk.words, threshold=0.0).invoke(question)[0].id == "sailing"


def store_copies(fresh_desk):
    for number in range(3):
        copy = Document(f"The rate of GST is nine percent today {number}.", metadata={"doc_id": f"copy{number}"})
        put(fresh_desk.index, {f"copy{number}": copy})


def test_repetitions_are_held_back(fresh_desk):
    store_copies(fresh_desk)
    varied = MmrRetriever(store=fresh_desk.store, top_k=3, fetch_k=9, threshold=0.0).invoke(
        "the rate of GST nine percent"
    )
    alike = MmrRetriever(store=fresh_desk.store, top_k=3, fetch_k=9, threshold=0.0, weight=1.0).invoke(
        "the rate of GST nine percent"
    )

    def near_copies(found):
        return sum("nine percent" in document.page_content for document in found)

    assert near_copies(varied) < near_copies(alike) == 3


def test_twice_as_many_are_chosen_from_where_nothing_else_is_said(fresh_desk):
    asked = []

    nearest = fresh_desk.store.nearest

    def counted(vector, limit, where):
        asked.append(limit)
        return nearest(vector, limit, where)

    fresh_desk.store.nearest = counted
    MmrRetriever(store=fresh_desk.store, top_k=2).invoke("rate")
    MmrRetriever(store=fresh_desk.store, top_k=2, fetch_k=5).invoke("rate")
    MmrRetriever(store=fresh_desk.store, top_k=4, fetch_k=2).invoke("rate")
    assert asked == [4, 5, 4]


def test_an_empty_store_gives_nothing(fresh_desk):
    put(fresh_desk.index, {}, stale=list(TEXTS))
    assert MmrRetriever(store=fresh_desk.store).invoke("rate") == []


def config(seconds: float, clock: StoppedClock | None = None) -> Any:
    return {"callbacks": [Deadline(seconds, clock or StoppedClock())]}


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_search_whose_time_is_over_is_not_begun(desk, way):
    retriever = SimilarityRetriever(store=desk.store)

    with pytest.raises(DeadlineError, match="took longer than it may"):
        await asked(retriever, way, "GST", config(0))


async def test_an_awaited_search_runs_in_the_retrievers_own_threads():
    class Naming(ChunkRetriever):
        def find(self, query: str, **options: Any) -> list[Any]:
            return [Document(threading.current_thread().name)]

    with ThreadPoolExecutor(1, "own") as own:
        found = await Naming(executor=own).ainvoke("GST")
    assert found[0].page_content.startswith("own")
