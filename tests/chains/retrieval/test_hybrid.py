from chains.retrieval import HybridRetriever
from tests.indexes import put


def test_what_only_shares_a_rare_word_is_found_with_its_true_similarity(desk):
    retriever = HybridRetriever(store=desk.store, words=desk.words, candidates=1, threshold=0.0)
    found = retriever.invoke("rate of GST in surabayas")

    sailing = next(one for one in found if one.id == "sailing")
    assert sailing.metadata["score"] == 0.0
    assert sailing.metadata["fused_score"] > 0.0


def test_the_order_is_that_of_the_fused_score(desk):
    found = HybridRetriever(store=desk.store, words=desk.words, threshold=0.0).invoke("relief from GST")

    fused = [one.metadata["fused_score"] for one in found]
    assert found[0].id == "relief"
    assert fused == sorted(fused, reverse=True)


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
