"""The chat models of Groq and of any service that speaks OpenAI's protocol, against a server on loopback."""

from collections.abc import Callable
from contextlib import aclosing, closing
from typing import Any, cast

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_groq import ChatGroq
from pydantic import SecretStr

from app.adapters.llm.groq_compat import ClosingChatGroq, groq_model
from app.adapters.llm.openai_compatible import listed_models, local_model, openai_compatible_model
from app.wiring.llm import lists_models
from benchmarks.processes import free_port
from chains.errors import (
    LLMRateLimitError,
    LLMRejectedError,
    LLMTimeoutError,
    LLMTooLargeError,
    LLMUnavailableError,
)
from tests.fakes import MODEL, Reply
from tests.faulty import faulty_groq
from tests.waiting import await_until

MESSAGES = [SystemMessage("context"), HumanMessage("What is the rate?")]
NAMES = ["nomic-embed-text:latest", "qwen2.5:7b", "llama3.2:3b"]
NOBODY = "http://127.0.0.1:9"
every_way = pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])


def at_groq(url: str) -> BaseChatModel:
    return groq_model(api_key=SecretStr("gsk_test"), model=MODEL, base_url=url, timeout_s=30)


def at_another(url: str, key: str | None = "gsk_test") -> BaseChatModel:
    api_key = SecretStr(key) if key else None
    return openai_compatible_model(base_url=f"{url}/openai/v1", model=MODEL, api_key=api_key, timeout_s=30)


@pytest.fixture(params=[at_groq, at_another])
def connect(request) -> Callable[[str], BaseChatModel]:
    connect: Callable[[str], BaseChatModel] = request.param
    return connect


async def asked(model: BaseChatModel, way: str) -> Any:
    """Ask in one of the four ways, and return the whole message; a stream has more than one chunk."""
    if way in {"invoke", "ainvoke"}:
        return model.invoke(MESSAGES) if way == "invoke" else await model.ainvoke(MESSAGES)
    chunks = list(model.stream(MESSAGES)) if way == "stream" else [chunk async for chunk in model.astream(MESSAGES)]
    assert len(chunks) > 3
    return sum(chunks[1:], cast("Any", chunks[0]))


def test_the_messages_and_the_settings_are_sent(groq, connect):
    connect(groq.url).invoke(MESSAGES)

    assert [headers["authorization"] for headers in groq.headers] == ["Bearer gsk_test"]
    [sent] = groq.requests
    assert sent["messages"] == [
        {"role": "system", "content": "context"},
        {"role": "user", "content": "What is the rate?"},
    ]
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == (MODEL, 0.3, 500)


def test_a_service_without_keys_needs_none_and_an_address_may_end_in_the_path_that_the_client_adds(groq):
    for model in (at_another(groq.url, None), at_groq(f"{groq.url}/openai/v1/")):
        assert model.invoke(MESSAGES).text.startswith("Nine percent")
    assert local_model(base_url=NOBODY, model="m").openai_api_base == f"{NOBODY}/v1"


@every_way
async def test_words_usage_model_and_finish_reason_come_every_way(groq, connect, way):
    groq.replies = [Reply("Nine percent, since 2024.", finish_reason="length")]
    model = connect(groq.url)
    message = await asked(model, way)

    assert message.text == "Nine percent, since 2024."
    assert (message.response_metadata["model_name"], message.response_metadata["finish_reason"]) == (MODEL, "length")
    if connect is at_groq:
        assert message.usage_metadata["total_tokens"] == 6 + 6


@pytest.mark.parametrize(
    ("status", "error"),
    [
        *((status, LLMRejectedError) for status in (400, 401, 403, 404, 422)),
        *((status, LLMUnavailableError) for status in (409, 500, 503)),
        *((408, LLMTimeoutError), (413, LLMTooLargeError), (429, LLMRateLimitError)),
    ],
)
def test_a_refusal_is_met_once_and_becomes_our_error_without_the_vendor_text(groq, connect, status, error):
    groq.replies = [Reply(status=status)] * 9
    with pytest.raises(error) as caught:
        connect(groq.url).invoke(MESSAGES)
    assert (type(caught.value), len(groq.requests)) == (error, 1)
    assert all(words not in str(caught.value) for words in ("scripted", "gsk_test"))


def test_a_server_that_is_not_there_is_unavailable(connect):
    for model in (connect(NOBODY), local_model(base_url=NOBODY, model=None)):
        with pytest.raises(LLMUnavailableError, match="cannot be reached"):
            model.invoke(MESSAGES)


# What ClosingChatGroq relies on in ChatGroq and Groq's client: this fails on the version that changes it.


def closing_model(url: str, kind: type[ChatGroq] = ClosingChatGroq) -> ChatGroq:
    return kind(api_key=SecretStr("gsk_test"), model_name=MODEL, base_url=url, max_retries=0)


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_a_stream_that_is_left_is_closed_at_once(way):
    with faulty_groq() as endless:
        endless.always = "endless answer"
        model = closing_model(endless.url)
        if way == "stream":
            with closing(cast("Any", model.stream("?"))) as chunks:
                next(chunk for chunk in chunks if chunk.text)
        else:
            async with aclosing(cast("Any", model.astream("?"))) as chunks:
                async for chunk in chunks:
                    if chunk.text:
                        break
        await await_until(lambda: endless.connections == 0)


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_its_chunks_are_those_of_chat_groq(groq, way):
    async def chunks(kind: type[ChatGroq]) -> list[Any]:
        model = closing_model(groq.url, kind)
        read = list(model.stream("?")) if way == "stream" else [chunk async for chunk in model.astream("?")]
        return [chunk.model_copy(update={"id": None}) for chunk in read]

    ours = await chunks(ClosingChatGroq)
    assert ours == await chunks(ChatGroq)
    assert len(ours) > 3


@every_way
async def test_without_a_name_the_first_listed_language_model_is_asked(groq, way):
    groq.models = NAMES
    model = local_model(base_url=f"{groq.url}/openai/v1", model=None)
    for _ in range(2):
        assert await asked(model, way)

    assert [sent["model"] for sent in groq.requests] == ["qwen2.5:7b"] * 2


def test_a_name_that_is_set_is_asked_for(groq):
    groq.models = NAMES
    model = local_model(base_url=f"{groq.url}/openai/v1", model="llama3.2:3b")
    model.invoke(MESSAGES)

    assert [sent["model"] for sent in groq.requests] == ["llama3.2:3b"]
    assert listed_models(model) == NAMES


def test_a_server_without_a_language_model_says_how_to_load_one(groq):
    groq.models = NAMES[:1]
    with pytest.raises(LLMRejectedError, match="ollama pull"):
        local_model(base_url=f"{groq.url}/openai/v1", model=None).invoke("Rate?")


def test_only_what_lists_models_is_a_model_server(groq):
    assert lists_models(f"{groq.url}/openai/v1")
    assert not lists_models(f"{groq.url}/other")
    assert not lists_models(f"http://127.0.0.1:{free_port()}/v1")
