"""MODERATION_PROVIDER, asked over HTTP by the clients that are used for real."""

import asyncio
from typing import Any

import pytest
import structlog
from langchain_core.messages import AIMessage
from pydantic import SecretStr
from pytest_httpserver import HTTPServer

import prompts
from app.ports import Moderation
from app.settings import SettingsError, load_settings
from app.wings.safety.moderator import OpenAIModeration, moderation_of, read_verdict
from app.wiring import Parts, open_service
from chains.clock import Clock
from chains.errors import ModerationError
from chains.ports import ModerationResult
from chains.resilience import RetryPolicy
from tests.clocks import StoppedClock
from tests.fakes import FakeGroq, Reply, WordEmbeddings

QUESTION = "How do I get rid of my neighbour?"
KEY: dict[str, Any] = {"llm_api_key": "gsk_test", "moderation_provider": "groq"}


def moderation(clock: Any = None, **settings: Any) -> Moderation:
    made = moderation_of(load_settings(**settings), clock or Clock())
    assert made is not None
    return made


def verdict(made: Moderation) -> Any:
    async def close() -> None:
        await made.aclose()

    try:
        return made.step.invoke({"question": QUESTION})
    finally:
        asyncio.run(close())


@pytest.mark.parametrize(("model", "policy"), [(None, True), ("meta-llama/llama-guard-4-12b", False)])
def test_a_guard_model_at_groq_is_asked_by_the_key_and_address_of_the_language_model(groq: FakeGroq, model, policy):
    groq.replies = [Reply("unsafe\nS1,S6")]

    found = verdict(moderation(**KEY, llm_base_url=groq.url, moderation_model=model, llm_rpm=1))

    [request] = groq.requests
    assert [headers["authorization"] for headers in groq.headers] == ["Bearer gsk_test"]
    assert request["model"] == model or request["model"] == "openai/gpt-oss-safeguard-20b"
    told = [{"role": "system", "content": prompts.load("moderation")}] if policy else []
    assert request["messages"] == [*told, {"role": "user", "content": QUESTION}]
    assert request["reasoning_effort"] == ("low" if policy else None)
    assert (found["result"], found["categories"]) == ("flagged", ["violent-crimes"])
    assert found["refusal"] == prompts.load("blocked_moderation")


def test_who_speaks_of_self_harm_is_told_where_help_is(groq: FakeGroq):
    groq.replies = [Reply("unsafe\nS11")]

    assert verdict(moderation(**KEY, llm_base_url=groq.url))["refusal"] == prompts.load("blocked_self_harm")


@pytest.mark.parametrize("status", [429, 503])
def test_a_guard_model_that_is_down_is_asked_four_times_and_the_question_goes_on(groq: FakeGroq, status):
    groq.replies = [Reply(status=status) for _ in range(4)]
    clock = StoppedClock()

    with structlog.testing.capture_logs() as logged:
        found = verdict(moderation(clock, **KEY, llm_base_url=groq.url))

    assert found == {"result": "failed", "categories": [], "refusal": None}
    assert len(groq.requests) == 4
    assert [int(seconds) for seconds in clock.slept] == [1, 2, 4]
    assert [event["event"] for event in logged] == ["moderation_failed"]
    assert QUESTION not in str(logged)


def test_retries_wait_no_longer_than_moderation_may_take(groq: FakeGroq):
    groq.replies = [Reply(status=429, headers={"Retry-After": "30"})]
    clock = StoppedClock()

    assert verdict(moderation(clock, **KEY, llm_base_url=groq.url))["result"] == "failed"
    assert (len(groq.requests), clock.slept) == (1, [])


def test_openai_is_asked_by_its_own_key(httpserver: HTTPServer):
    reply = {"results": [{"flagged": True, "categories": {"self-harm/intent": True, "violence": False}}]}
    httpserver.expect_request("/v1/moderations", headers={"Authorization": "Bearer sk-x"}).respond_with_json(reply)
    address = httpserver.url_for("/v1")

    found = verdict(moderation(moderation_provider="openai", moderation_api_key="sk-x", moderation_base_url=address))

    assert (found["categories"], found["refusal"]) == (["self-harm/intent"], prompts.load("blocked_self_harm"))


def test_openai_moderates_by_the_key_of_the_language_model_only_where_it_is_asked_there_too(httpserver: HTTPServer):
    reply = {"results": [{"flagged": False, "categories": {}}]}
    httpserver.expect_request("/v1/moderations", headers={"Authorization": "Bearer sk-y"}).respond_with_json(reply)
    same = {"llm_provider": "openai-compatible", "llm_base_url": httpserver.url_for("/v1"), "llm_api_key": "sk-y"}

    assert verdict(moderation(moderation_provider="openai", **same))["result"] == "allowed"
    with pytest.raises(SettingsError, match="needs a key in MODERATION_API_KEY"):
        load_settings(moderation_provider="openai", llm_api_key="gsk_test")


@pytest.mark.parametrize("settings", [{}, {**KEY, "safety_enabled": False}])
def test_nobody_is_asked_where_it_is_off(settings):
    assert moderation_of(load_settings(**settings), Clock()) is None


def test_a_service_asks_counts_and_tells_and_keeps_no_answer_without_a_verdict(groq: FakeGroq, tmp_path):
    (tmp_path / "gst.md").write_text("# GST Guide\n\n## Rate\n\nThe rate of GST on imports is 9 %.\n")
    settings = load_settings(
        **KEY, llm_base_url=groq.url, chroma_path=tmp_path / "store", scope_file="off", cache_enabled=True,
        cache_llm=True, moderation_model="meta-llama/llama-guard-4-12b", relevance_threshold=0,
    )  # fmt: skip
    services = open_service(settings, parts=Parts(embeddings=WordEmbeddings()))
    services.index.ingest([tmp_path / "gst.md"])
    written = Reply("It is 9 % [GST Guide > Rate].")
    groq.replies = [Reply("hm"), written, Reply("safe"), written, Reply("unsafe\nS1")]

    async def told() -> list[tuple[str, Any]]:
        async with services.running():
            answers: list[Any] = [await services.chain.ainvoke({"question": "What is the rate?"}) for _ in range(3)]
            answers.append(await services.chain.ainvoke({"question": QUESTION}))
        found = [answer["metadata"]["safety"]["moderation"] for answer in answers]
        return [(answer["outcome"], one["result"]) for answer, one in zip(answers, found, strict=True)]

    assert asyncio.run(told()) == [
        ("answered", "failed"),
        ("answered", "allowed"),
        ("answered", "allowed"),  # From the cache.
        ("blocked", "flagged"),
    ]
    assert len(groq.requests) == 5
    counted = services.metrics.text().decode()
    for result, times in {"failed": 1.0, "allowed": 2.0, "flagged": 1.0}.items():
        assert f'waypoint_safety_total{{check="moderation_{result}"}} {times}' in counted


both = pytest.mark.parametrize("way", ["invoke", "ainvoke"])
REPLY = {"results": [{"flagged": True, "categories": {"hate": False, "violence": True, "illicit": None}}]}


def moderator(server: HTTPServer, **options: Any) -> OpenAIModeration:
    chosen: dict[str, Any] = {"clock": StoppedClock(), "policy": RetryPolicy(chance=lambda: 0.0)} | options
    return OpenAIModeration(
        base_url=server.url_for("/v1/"), model="omni-moderation-latest", api_key=SecretStr("k"), **chosen
    )


async def judged(moderator: OpenAIModeration, way: str) -> ModerationResult:
    try:
        return moderator.invoke("Q?") if way == "invoke" else await moderator.ainvoke("Q?")
    finally:
        await moderator.aclose()


@both
async def test_the_text_is_sent_and_the_categories_that_hold_are_named(httpserver, way):
    body = {"model": "omni-moderation-latest", "input": "Q?"}
    headers = {"Authorization": "Bearer k"}
    httpserver.expect_request("/v1/moderations", method="POST", json=body, headers=headers).respond_with_json(REPLY)

    assert await judged(moderator(httpserver), way) == ModerationResult(flagged=True, categories=("violence",))


@both
@pytest.mark.parametrize("reply", ["<html>", '{"results": []}'])
async def test_a_reply_without_a_verdict_is_told_at_once(httpserver, way, reply):
    httpserver.expect_request("/v1/moderations").respond_with_data(reply)

    with pytest.raises(ModerationError, match="answered no verdict; check MODERATION_BASE_URL"):
        await judged(moderator(httpserver), way)
    assert len(httpserver.log) == 1


@pytest.mark.parametrize(
    ("text", "flagged", "categories"),
    [
        ("safe", False, ()),
        ("\n\nSafe", False, ()),
        ("unsafe", True, ()),
        ("\n\nunsafe\nS1", True, ("violent-crimes",)),
        ("unsafe\nS2, S10", True, ("non-violent-crimes", "hate")),
        ("UNSAFE s11", True, ("self-harm",)),
        ("unsafe\nS99", True, ("S99",)),
    ],
)
def test_the_verdict_is_read_with_the_names_of_its_codes(text, flagged, categories):
    assert read_verdict(AIMessage(text)) == ModerationResult(flagged=flagged, categories=categories)


@pytest.mark.parametrize("text", ["", "I cannot say.", "safety first", "It is safe."])
def test_another_reply_is_no_verdict(text):
    with pytest.raises(ModerationError, match="check MODERATION_MODEL"):
        read_verdict(AIMessage(text))
