from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from langchain_core.runnables import Runnable, RunnablePassthrough

from app.settings import load_settings
from app.wiring.llm import providers
from chains.callbacks import Deadline
from chains.clock import Clock
from chains.errors import LLMBusyError, LLMRejectedError, LLMTimeoutError
from chains.generation.reply import CHARACTERS_PER_TOKEN, TOLERANCE
from chains.generation.resilient import ResilientChatModel
from chains.metadata import DEGRADED
from tests.fakes import FakeGroq, Reply, groq_server
from tests.streams import asked

MESSAGES: list[BaseMessage] = [HumanMessage("What is the rate?")]
WAYS = ["invoke", "ainvoke", "stream", "astream"]


second = pytest.fixture(groq_server)


def resilient(groq: FakeGroq, clock: Clock, *, offline: bool = True, **settings: Any) -> ResilientChatModel:
    resort: BaseChatModel | None = GenericFakeChatModel(messages=iter([AIMessage("Quoted.")] * 9)) if offline else None
    chosen = load_settings(**{"llm_api_key": "gsk_test", "llm_base_url": groq.url} | settings)
    made = providers(chosen, clock)
    return ResilientChatModel(providers=made, last_resort=resort, max_tokens=chosen.llm.max_tokens)


async def ask(model: Runnable[Any, BaseMessage], way: str, config: Any = None) -> Any:
    return await asked(RunnablePassthrough[Any]() | model, way, MESSAGES, config)


@pytest.mark.parametrize("way", WAYS)
async def test_an_answer_comes_with_words_model_finish_reason_and_usage(groq, clock, way):
    message = await ask(resilient(groq, clock), way)

    assert message.text == "Nine percent [GST Guide > Rate]."
    assert message.response_metadata["finish_reason"] == "stop"
    assert message.response_metadata["model_name"] == "llama-3.1-8b-instant"
    assert message.usage_metadata["total_tokens"] > 0
    assert message.response_metadata.get(DEGRADED) is None
    assert len(groq.requests) == 1


@pytest.mark.parametrize("way", WAYS)
async def test_a_provider_that_fails_is_asked_again_and_nothing_of_it_shows(groq, clock, way):
    groq.replies = [Reply(status=503), Reply(status=429, headers={"Retry-After": "7"})]
    model = resilient(groq, clock)
    message = await ask(model, way)

    assert message.text == "Nine percent [GST Guide > Rate]."
    assert (len(groq.requests), model.providers[0].retries.count) == (3, 2)
    assert message.response_metadata["retries"] == 2
    assert 1 <= clock.slept[0] <= 1.25
    assert clock.slept[1:] == [7]


@pytest.mark.parametrize("way", WAYS)
async def test_the_last_resort_answers_where_no_provider_does_and_says_why(groq, second, clock, way):
    groq.replies, second.replies = [Reply(status=500)] * 4, [Reply(status=502)] * 4
    message = await ask(resilient(groq, clock, llm_fallback=f"{second.url}/openai/v1"), way)

    assert message.text == "Quoted."
    reason = "The language model could not be reached; the words are quoted from the documents instead"
    assert message.response_metadata.get(DEGRADED) == reason
    assert (len(groq.requests), len(second.requests)) == (4, 4)


@pytest.mark.parametrize("way", WAYS)
async def test_a_request_that_is_rejected_goes_nowhere_else(groq, second, clock, way):
    groq.replies = [Reply(status=400)]

    with pytest.raises(LLMRejectedError):
        await ask(resilient(groq, clock, llm_fallback=f"{second.url}/openai/v1"), way)
    assert (len(groq.requests), len(second.requests)) == (1, 0)


async def test_a_provider_that_keeps_failing_is_left_alone(groq, clock):
    groq.replies = [Reply(status=500)] * 99
    model = resilient(groq, clock)
    for _ in range(4):
        message = await model.ainvoke(MESSAGES)

    assert len(groq.requests) == 5
    assert model.providers[0].breaker.state == "open"
    assert str(message.response_metadata.get(DEGRADED)).startswith("The language model is out of order")
    clock.time += 61
    groq.replies.clear()
    assert (await model.ainvoke(MESSAGES)).text.startswith("Nine percent")


@pytest.mark.parametrize("way", WAYS)
async def test_a_call_whose_time_is_over_is_not_sent(groq, clock, way):
    deadline = Deadline(5, clock)
    clock.time += 6

    with pytest.raises(LLMTimeoutError):
        await ask(resilient(groq, clock, offline=False), way, {"callbacks": [deadline]})
    assert groq.requests == []


async def test_a_wait_that_the_call_has_no_time_for_is_not_begun(groq, clock):
    groq.replies = [Reply(status=429, headers={"Retry-After": "30"})]
    message = await ask(resilient(groq, clock), "ainvoke", {"callbacks": [Deadline(20, clock)]})

    assert str(message.response_metadata.get(DEGRADED)).startswith("The language model is busy")
    assert clock.slept == []


@pytest.mark.parametrize("requested", ["999999999999", "inf", "nan", "-1", "Fri, 31 Dec 9999 23:59:59 GMT", "9" * 400])
async def test_no_wait_that_a_provider_asks_for_switches_the_model_off_for_longer_than_a_minute(groq, clock, requested):
    groq.replies = [Reply(status=429, headers={"Retry-After": requested})] * 4
    model = resilient(groq, clock)
    await ask(model, "ainvoke")
    clock.time += 60
    groq.replies = []
    message = await ask(model, "ainvoke")

    assert message.response_metadata.get(DEGRADED) is None


@pytest.mark.parametrize("way", WAYS)
async def test_a_reply_without_end_is_ended_at_a_few_times_the_tokens_that_were_asked_for(groq, clock, way):
    groq.replies = [Reply("Nine percent [GST Guide > Rate]. " + "And so on. " * 10_000)]
    message = await ask(resilient(groq, clock, llm_max_tokens=100), way)

    assert message.text.startswith("Nine percent [GST Guide > Rate]. And so on.")
    assert len(message.text) <= TOLERANCE * 100 * CHARACTERS_PER_TOKEN
    assert message.response_metadata["finish_reason"] == "length"
    assert message.response_metadata.get(DEGRADED) is None


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_thoughts_without_end_are_ended_as_well(groq, clock, way):
    groq.replies = [Reply("<think>" + "Let me see. " * 10_000)]
    message = await ask(resilient(groq, clock, llm_max_tokens=100), way)

    assert (message.text, message.response_metadata["finish_reason"]) == ("", "length")


@pytest.mark.parametrize("way", WAYS)
async def test_a_call_may_ask_for_a_longer_reply_than_the_model_s_own(groq, clock, way):
    groq.replies = [Reply("word " * 1500)]
    message = await ask(resilient(groq, clock, llm_max_tokens=100).bind(max_tokens=1000), way)

    assert (len(message.text), message.response_metadata["finish_reason"]) == (7500, "stop")


@pytest.mark.parametrize("way", WAYS)
async def test_requests_above_the_limit_wait_their_turn_and_give_up_in_time(groq, clock, way, monkeypatch):
    monkeypatch.setattr("app.wiring.llm.QUEUE_S", 100)
    model = resilient(groq, clock, offline=False, llm_rpm=1)
    await ask(model, way)
    await ask(model, way)

    assert clock.slept == [60]
    with pytest.raises(LLMBusyError):
        await ask(model, way, {"callbacks": [Deadline(30, clock)]})
    assert len(groq.requests) == 2


def test_a_prompt_beyond_the_minute_s_tokens_is_refused_before_it_is_sent(groq, clock):
    with pytest.raises(LLMRejectedError, match="LLM_TPM is 501"):
        resilient(groq, clock, llm_tpm=501).invoke(MESSAGES)
    assert groq.requests == []


@pytest.mark.parametrize("way", ["invoke", "ainvoke"])
async def test_a_degraded_answer_is_in_no_cache_of_the_program_around_it(groq, clock, way):
    groq.replies = [Reply(status=500)] * 4
    model = resilient(groq, clock)
    set_llm_cache(InMemoryCache())
    try:
        told = [(await asked(model, way, MESSAGES)).text for _ in range(2)]
    finally:
        set_llm_cache(None)

    assert told == ["Quoted.", "Nine percent [GST Guide > Rate]."]
