from typing import Any

import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import SecretStr

from app.adapters.llm.openai_compatible import OpenAICompatibleModel, openai_compatible_model
from chains.errors import LLMRejectedError, LLMUnavailableError
from tests.fakes import Reply

MESSAGES = [SystemMessage("context"), HumanMessage("What is the rate?")]


def connect(url: str, key: str | None = "sk-test") -> OpenAICompatibleModel:
    return openai_compatible_model(
        base_url=f"{url}/openai/v1", model="llama-3", api_key=SecretStr(key) if key else None, timeout_s=30
    )


def test_the_messages_and_the_settings_are_sent_in_the_protocol_s_own_words(groq):
    connect(groq.url).invoke(MESSAGES)

    assert groq.authorizations == ["Bearer sk-test"]
    sent = groq.requests[0]
    assert [message["role"] for message in sent["messages"]] == ["system", "user"]
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("llama-3", 0.3, 500)


def test_a_service_without_keys_needs_none(groq):
    assert connect(groq.url, None).invoke(MESSAGES).text.startswith("Nine percent")


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_words_model_and_finish_reason_come_every_way(groq, way):
    groq.replies = [Reply("Nine percent, since 2024.", finish_reason="length")]
    model, message = connect(groq.url), None
    if way == "invoke":
        message = model.invoke(MESSAGES)
    elif way == "ainvoke":
        message = await model.ainvoke(MESSAGES)
    else:
        chunks: list[Any] = (
            list(model.stream(MESSAGES)) if way == "stream" else [c async for c in model.astream(MESSAGES)]
        )
        message = sum(chunks[1:], chunks[0])

    assert message.text == "Nine percent, since 2024."
    assert message.response_metadata["finish_reason"] == "length"
    assert message.response_metadata["model_name"] == "llama-3"


@pytest.mark.parametrize(("status", "error"), [(401, LLMRejectedError), (500, LLMUnavailableError)])
def test_a_refusal_is_met_once_and_becomes_our_error(groq, status, error):
    groq.replies = [Reply(status=status)] * 9
    with pytest.raises(error):
        connect(groq.url).invoke(MESSAGES)
    assert len(groq.requests) == 1
