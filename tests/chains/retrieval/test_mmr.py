from langchain_core.documents import Document

from chains.retrieval import MmrRetriever
from tests.chains.retrieval.conftest import TEXTS
from tests.indexes import put


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
