from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from app.settings import SettingsError, load_settings
from app.wiring import Parts, open_service
from app.wiring.models import embedding_model
from chains.clock import SystemClock
from tests.fakes import Reply, WordEmbeddings

EMBEDDINGS = {"embedding_provider": "openai-compatible"}
QUESTION: Any = {"question": "Which rate does GST have?"}


@pytest.fixture
def corpus(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "gst.md").write_text("# GST Guide\n\n## Rate\n\nThe rate of GST is nine percent.")
    return folder


@pytest.mark.parametrize(
    ("keys", "sent"),
    [
        ({"embedding_api_key": "own", "llm_api_key": "other"}, "Bearer own"),
        ({"llm_api_key": "other"}, "Bearer other"),
        ({}, None),
    ],
)
def test_the_embeddings_key_is_that_of_the_language_model_where_there_is_no_other(httpserver: HTTPServer, keys, sent):
    httpserver.expect_request("/v1/embeddings").respond_with_json({"data": [{"index": 0, "embedding": [1.0]}]})
    settings = load_settings(**EMBEDDINGS, **keys, embedding_base_url=httpserver.url_for("/v1"))
    embedding_model(settings, SystemClock()).embed_query("x")

    assert httpserver.log[0][0].headers.get("Authorization") == sent


async def test_readiness_asks_the_service_that_embeds(httpserver: HTTPServer, tmp_path):
    memory = {"vector_store_type": "memory", "memory_store_path": tmp_path / "store.json"}
    services = open_service(load_settings(**EMBEDDINGS, **memory, embedding_base_url=httpserver.url_for("/v1")))
    check = next(check for check in services.checks() if check.name == "embeddings")
    httpserver.expect_ordered_request("/v1/embeddings").respond_with_data("down", status=500)
    httpserver.expect_ordered_request("/v1/embeddings").respond_with_json({"data": [{"index": 0, "embedding": [1.0]}]})

    assert check.required
    with pytest.raises(Exception, match="answered 500"):
        await check.ask()
    await check.ask()


def test_compression_cuts_the_passages_with_the_deployment_s_prompt(groq, corpus, tmp_path):
    texts = tmp_path / "prompts"
    texts.mkdir()
    (texts / "compression.txt").write_text("Our own words: {document}")
    options: Any = {"retriever_type": "compression", "prompts_path": texts}
    settings = load_settings(llm_api_key="k", llm_base_url=groq.url, scope_file="off", **options)
    services = open_service(settings, parts=Parts(embeddings=WordEmbeddings()))
    services.index.ingest([corpus])
    groq.replies = [Reply("nine percent")] * 2
    retriever: Any = services.answerer.retriever
    found = retriever.invoke("Which rate does GST have?")

    assert type(retriever.current().retriever).__name__.lower().startswith("hybrid")
    assert [document.page_content for document in found] == ["nine percent"]
    assert groq.requests[0]["messages"][0]["content"].startswith("Our own words: ")


def test_each_model_has_a_window_of_its_own():
    models = {"llm_model": "large", "llm_allowed_models": "small,other", "llm_context_tokens": "100000,small=8192"}
    settings = load_settings(**models)

    assert [settings.llm.window(name) for name in ("large", "small", "other")] == [100_000, 8192, 100_000]


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"llm_context_tokens": "8192,unknown=4096"}, "names the model 'unknown'"),
        ({"llm_context_tokens": "131072,small=400", "llm_allowed_models": "small"}, "must be smaller"),
        ({"llm_context_tokens": "many"}, "LLM_CONTEXT_TOKENS='many'"),
        ({"llm_context_tokens": 0}, "LLM_CONTEXT_TOKENS=0"),
    ],
)
def test_a_window_that_cannot_be_is_refused_at_start(settings, told):
    with pytest.raises(SettingsError, match=told):
        load_settings(**settings)


def test_a_model_with_a_small_window_is_shown_less(groq, tmp_path):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "gst.md").write_text("# GST Guide\n\n## Rate\n\n" + "The rate of GST is nine percent of it. " * 60)
    models = {"llm_model": "large", "llm_allowed_models": "small", "llm_context_tokens": "131072,small=1500"}
    settings = load_settings(llm_api_key="k", llm_base_url=groq.url, scope_file="off", **models)
    services = open_service(settings, parts=Parts(embeddings=WordEmbeddings()))
    services.index.ingest([corpus])
    for name in ("large", "small"):
        services.numbered_chain(name).invoke(QUESTION)

    large, small = (len(str(request["messages"])) for request in groq.requests)
    assert small < large
