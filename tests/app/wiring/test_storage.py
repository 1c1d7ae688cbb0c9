import pytest

from app.settings import load_settings
from app.wiring import Parts, open_service
from app.wiring.storage import ledger_file, ledger_of
from tests.corpora import write_documents
from tests.fakes import WordEmbeddings

PUBLIC = {"configurable": {"audience": "public"}}
QUESTION = "Which discount do we give on the rate?"


@pytest.fixture
def corpus(tmp_path):
    documents = {
        "01_regulatory/gst.md": "# GST Guide\n\n## Rate\n\nThe rate of GST is nine percent, without discount.",
        "02_carriers/line.md": "---\nsource_type: internal_memo\n---\n# Line\n\nThe line gives a discount on the rate.",
        "04_internal_synthetic/desk.md": "# Desk\n\n## Discounts\n\nThe desk may give a discount of five on the rate.",
    }
    return write_documents(tmp_path / "corpus", documents)


STORES = ["chroma", "memory", pytest.param("postgres", marks=pytest.mark.service)]


@pytest.fixture
def store(request):
    options = {"database_url": request.getfixturevalue("database_url")} if request.param == "postgres" else {}
    return {"vector_store_type": request.param, **options}


def make(**settings):
    return open_service(load_settings(scope_file="off", **settings), parts=Parts(embeddings=WordEmbeddings()))


def found(services, config=None):
    return {
        passage["metadata"]["doc_id"] for passage in services.chain.invoke({"question": QUESTION}, config)["documents"]
    }


@pytest.mark.parametrize("store", STORES, indirect=True)
@pytest.mark.parametrize("retriever", ["hybrid", "similarity", "mmr", "compression"])
def test_every_strategy_runs_on_every_store_and_keeps_what_is_internal_from_the_public(corpus, groq, store, retriever):
    options = {"llm_api_key": "k", "llm_base_url": groq.url} if retriever == "compression" else {}
    services = make(**store, retriever_type=retriever, relevance_threshold=0, **options)
    services.index.ingest([corpus])

    assert found(services) == {"01_regulatory_gst", "02_carriers_line", "04_internal_synthetic_desk"}
    assert found(services, PUBLIC) == {"01_regulatory_gst"}


def test_hybrid_is_the_default_and_the_settings_reach_it():
    current = make(retrieval_top_k=3, relevance_threshold=0.3).answerer.retriever
    retriever = current.over(current.index())
    assert (type(retriever).__name__, retriever.top_k, retriever.threshold) == ("HybridRetriever", 3, 0.3)

    current = make(retriever_type="mmr", mmr_fetch_k=7, mmr_lambda=0.2).answerer.retriever
    mmr = current.over(current.index())
    assert (mmr.fetch_k, mmr.weight) == (7, 0.2)


@pytest.mark.parametrize("store", STORES, indirect=True)
def test_the_words_stay_in_step_with_what_is_ingested_and_a_reset_rebuilds_them(corpus, store):
    services = make(**store)
    services.index.ingest([corpus])
    assert services.index.current().search("nine percent", 5, {})

    (corpus / "01_regulatory/gst.md").write_text("# GST Guide\n\n## Rate\n\nThe rate is eight.")
    (corpus / "02_carriers/line.md").unlink()
    services.index.ingest([corpus])
    assert services.index.current().count() == 2
    assert not services.index.current().search("nine percent", 5, {})
    assert services.index.current().search("eight", 5, {})

    assert services.index.ingest([corpus], reset=True).added == 2
    assert services.index.current().count() == 2
    assert services.index.current().search("eight", 5, {})
    assert found(services, PUBLIC) == {"01_regulatory_gst"}


@pytest.mark.parametrize("kinds", [("memory", "memory"), ("memory", "chroma"), ("chroma", "memory")])
def test_what_was_ingested_lasts_also_where_something_else_searches_it(corpus, tmp_path, kinds):
    first, then = ({"vector_store_type": kind, "chroma_path": tmp_path / "kept"} for kind in kinds)
    make(**first).index.ingest([corpus])

    again = make(**then, relevance_threshold=0)
    assert again.index.ingest([corpus]).unchanged == 3
    assert again.index.embeddings.embedded == 0
    assert found(again, PUBLIC) == {"01_regulatory_gst"}
    assert not (tmp_path / "storage").exists()


def test_a_store_that_was_deleted_is_filled_again_whatever_the_records_say(corpus):
    services = make(vector_store_type="memory")
    services.index.ingest([corpus])
    ledger_of(services.settings).close()
    ledger_file(services.settings).unlink()

    assert make(vector_store_type="memory").index.ingest([corpus]).added == 3
