from typing import Any

import pytest
from pydantic import SecretStr
from pytest_httpserver import HTTPServer

from app.wings.safety.moderator import OpenAIModeration
from chains.errors import ModerationError
from chains.ports import ModerationResult
from chains.resilience import RetryPolicy
from tests.clocks import StoppedClock
from tests.failures import is_circuit_open, is_rate_limited, is_unavailable

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
async def test_a_busy_service_is_asked_four_times_in_all(httpserver, way):
    clock = StoppedClock()
    httpserver.expect_request("/v1/moderations").respond_with_data("wait", status=429)

    with pytest.raises(ModerationError, check=is_rate_limited, match="answered 429"):
        await judged(moderator(httpserver, clock=clock), way)
    assert (len(httpserver.log), clock.slept) == (4, [1.0, 2.0, 4.0])


@both
@pytest.mark.parametrize(
    ("reply", "error", "message"),
    [
        ({"status": 401}, ModerationError, "check MODERATION_API_KEY"),
        ({"status": 404}, ModerationError, "check MODERATION_BASE_URL and MODERATION_MODEL"),
        ({"response_data": "<html>"}, ModerationError, "answered no verdict; check MODERATION_BASE_URL"),
        ({"response_data": '{"results": []}'}, ModerationError, "answered no verdict"),
    ],
)
async def test_what_no_retry_mends_is_told_at_once(httpserver, way, reply, error, message):
    httpserver.expect_request("/v1/moderations").respond_with_data(**reply)

    with pytest.raises(error, match=message):
        await judged(moderator(httpserver), way)
    assert len(httpserver.log) == 1


async def test_a_service_that_fails_again_and_again_is_left_alone(httpserver):
    httpserver.expect_request("/v1/moderations").respond_with_data("no", status=500)
    asked = moderator(httpserver, breaker_failures=4)

    for expected in (is_unavailable, is_circuit_open):
        with pytest.raises(ModerationError, check=expected):
            await asked.ainvoke("Q?")
    await asked.aclose()
    assert len(httpserver.log) == 4
