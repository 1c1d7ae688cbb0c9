from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from app.settings import load_settings
from app.wings.offline import OfflineChatModel
from app.wiring import Parts, open_index, open_service
from app.wiring.llm import chat_model, providers
from chains.clock import Clock
from chains.generation.resilient import ResilientChatModel
from chains.ports import FourCharacters
from tests.corpora import write_documents
from tests.fakes import Reply, WordEmbeddings

EMBEDDINGS = {"embedding_provider": "openai-compatible"}


@pytest.fixture
def corpus(tmp_path):
    return write_documents(
        tmp_path / "corpus", {"gst.md": "# GST Guide\n\n## Rate\n\nThe rate of GST is nine percent."}
    )


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
    open_index(settings, clock=Clock()).embedder.embed_query("x")

    assert httpserver.log[0][0].headers.get("Authorization") == sent


async def test_readiness_asks_the_service_that_embeds(httpserver: HTTPServer, tmp_path):
    memory = {"vector_store_type": "memory", "chroma_path": tmp_path / "store"}
    services = open_service(load_settings(**EMBEDDINGS, **memory, embedding_base_url=httpserver.url_for("/v1")))
    check = next(check for check in services.checks() if check.name == "embeddings")
    httpserver.expect_ordered_request("/v1/embeddings").respond_with_data("down", status=500)
    httpserver.expect_ordered_request("/v1/embeddings").respond_with_json({"data": [{"index": 0, "embedding": [1.0]}]})

    assert check.required
    with pytest.raises(Exception, match="answered 500"):
        await check.ask()
    await check.ask()


def test_compression_cuts_the_passages_with_the_deployment_s_prompt(groq, corpus, tmp_path):
    texts = write_documents(tmp_path / "prompts", {"compression.txt": "Our own words: {document}"})
    options: Any = {"retriever_type": "compression", "prompts_path": texts}
    settings = load_settings(llm_api_key="k", llm_base_url=groq.url, scope_file="off", **options)
    services = open_service(settings, parts=Parts(embeddings=WordEmbeddings()))
    services.index.ingest([corpus])
    groq.replies = [Reply("nine percent")] * 2
    retriever: Any = services.answerer.retriever
    found = retriever.invoke("Which rate does GST have?")

    assert type(retriever.over(retriever.index()).retriever).__name__.lower().startswith("hybrid")
    assert [document.page_content for document in found] == ["nine percent"]
    assert groq.requests[0]["messages"][0]["content"].startswith("Our own words: ")


KEY = {"llm_api_key": "gsk_test"}


ELSEWHERE = "http://127.0.0.1:9/v1"


def model_of(**settings: Any) -> Any:
    return chat_model(load_settings(**settings), WordEmbeddings(), clock=Clock(), tokens=FourCharacters())


def providers_of(**settings: Any) -> list[Any]:
    return list(providers(load_settings(**settings), Clock()))


def test_the_offline_answerer_answers_alone_without_a_provider_and_is_the_last_resort_unless_there_is_none():
    answered, alone = model_of(**KEY), model_of(**KEY, llm_fallback=False)

    assert isinstance(model_of(), OfflineChatModel)
    assert isinstance(answered, ResilientChatModel)
    assert [type(provider.model).__name__ for provider in answered.providers] == ["GroqModel"]
    assert isinstance(answered.last_resort, OfflineChatModel)
    assert (len(alone.providers), alone.last_resort) == (1, None)


def test_any_openai_compatible_service_can_be_the_first_or_the_second_which_has_a_breaker_of_its_own():
    [only] = providers_of(llm_provider="openai-compatible", llm_base_url=ELSEWHERE)
    first, second = providers_of(**KEY, llm_fallback=f"{ELSEWHERE} other")

    assert type(only.model).__name__ == type(second.model).__name__ == "OpenAICompatibleModel"
    assert second.model.model_name == "other"
    assert first.breaker is not second.breaker


def test_openrouter_is_told_who_asks_and_has_an_address_of_its_own(groq):
    [provider] = providers_of(
        openrouter_api_key="sk-or-x",
        llm_model="google/gemma-3n-e2b-it:free",
        llm_base_url=f"{groq.url}/openai/v1",
        llm_options={"reasoning_effort": "low", "default_headers": {"HTTP-Referer": "https://desk.example.org"}},
    )
    provider.model.invoke("Rate?")
    [usual] = providers_of(openrouter_api_key="sk-or-x", llm_model="m")

    [headers], [sent] = groq.headers, groq.requests
    assert (headers["http-referer"], headers["x-title"]) == ("https://desk.example.org", "Waypoint Co-Pilot")
    assert headers["authorization"] == "Bearer sk-or-x"
    assert (sent["model"], sent["reasoning_effort"]) == ("google/gemma-3n-e2b-it:free", "low")
    assert usual.model.openai_api_base == "https://openrouter.ai/api/v1"


def test_groqs_own_options_are_sent_where_they_are_set(groq):
    chosen = {"reasoning_format": "hidden", "reasoning_effort": "none", "service_tier": "flex"}
    for options in (None, chosen):
        [provider] = providers_of(**KEY, llm_base_url=groq.url, llm_options=options)
        provider.model.invoke("Rate?")

    plain, told = groq.requests
    assert plain.get("reasoning_format") is None
    assert chosen.items() <= told.items()
