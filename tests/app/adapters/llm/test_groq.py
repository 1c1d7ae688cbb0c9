import pytest
from langchain_core.messages import HumanMessage, SystemMessage
from pydantic import SecretStr

from app.adapters.llm.groq_compat import GroqModel, groq_model
from chains.errors import LLMRateLimitError, LLMRejectedError, LLMUnavailableError
from tests.fakes import MODEL, Reply

MESSAGES = [SystemMessage("context"), HumanMessage("What is the rate?")]


def connect(url: str) -> GroqModel:
    return groq_model(api_key=SecretStr("gsk_test"), model=MODEL, base_url=url, timeout_s=5)


def test_the_messages_and_the_settings_are_sent(groq):
    connect(groq.url).invoke(MESSAGES)

    assert groq.authorizations == ["Bearer gsk_test"]
    sent = groq.requests[0]
    assert sent["messages"] == [
        {"role": "system", "content": "context"},
        {"role": "user", "content": "What is the rate?"},
    ]
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == (MODEL, 0.3, 500)


def test_a_base_url_may_end_in_the_path_that_the_client_adds(groq):
    assert connect(f"{groq.url}/openai/v1/").invoke(MESSAGES).text.startswith("Nine percent")


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_words_usage_model_and_finish_reason_come_every_way(groq, way):
    groq.replies = [Reply("Nine percent, since 2024.", finish_reason="length")]
    model = connect(groq.url)
    if way == "invoke":
        message = model.invoke(MESSAGES)
    elif way == "ainvoke":
        message = await model.ainvoke(MESSAGES)
    else:
        chunks = list(model.stream(MESSAGES)) if way == "stream" else [c async for c in model.astream(MESSAGES)]
        assert len(chunks) > 3
        message = chunks[0]
        for chunk in chunks[1:]:
            message = message + chunk

    assert message.text == "Nine percent, since 2024."
    assert message.response_metadata["model_name"] == MODEL
    assert message.response_metadata["finish_reason"] == "length"
    assert message.usage_metadata
    assert message.usage_metadata["total_tokens"] == 6 + 6


@pytest.mark.parametrize(
    ("status", "error"),
    [(401, LLMRejectedError), (400, LLMRejectedError), (413, LLMRejectedError), (429, LLMRateLimitError)]
    + [(500, LLMUnavailableError), (503, LLMUnavailableError)],
)
def test_a_refusal_becomes_our_error_without_the_vendor_text(groq, status, error):
    groq.replies = [Reply(status=status)]
    with pytest.raises(error) as caught:
        connect(groq.url).invoke(MESSAGES)
    assert "scripted" not in str(caught.value)
    assert "gsk_test" not in str(caught.value)


def test_a_server_that_is_not_there_is_unavailable():
    with pytest.raises(LLMUnavailableError, match="cannot be reached"):
        connect("http://127.0.0.1:9").invoke(MESSAGES)
