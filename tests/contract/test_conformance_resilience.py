"""The LCEL chatbot's retries, breaker, errors and tokens; where this project differs on purpose, why."""

import math
import re
from typing import Any

import groq
import httpx
import pytest

from app.adapters.embeddings.onnx import OnnxEmbeddings, WordPieces
from app.adapters.llm.validated_model import map_errors
from app.http.errors import reply_to
from chains import errors
from chains.errors import LLMCircuitError, LLMError, LLMRateLimitError, LLMTimeoutError, LLMUnavailableError
from chains.resilience import CircuitBreaker, RetryCounter, RetryPolicy, is_retryable, retrying
from tests.clocks import StoppedClock
from tests.contract.recorded import recorded

REQUEST = httpx.Request("POST", "http://127.0.0.1/openai/v1/chat/completions")
DEVIATIONS = {"lcel-182": "0 is a value, and no count of failures: it is refused when the settings are read"}
STATUS = re.compile(r"^[45]\d\d\b")
WORDS = {"rate limit": 429}
TIMEOUT = re.compile(r"timed out|timeout|ETIMEDOUT", re.IGNORECASE)
CONNECTION = re.compile(r"ECONN|ENOTFOUND|Connection error", re.IGNORECASE)


def vendor_error(message: str) -> Exception:
    """Return what the client library raises where the peer saw this message."""
    status = int(found.group()) if (found := STATUS.match(message)) else WORDS.get(message.lower())
    if status:
        response = httpx.Response(status, request=REQUEST)
        return groq.APIStatusError(message, response=response, body=None)
    if TIMEOUT.search(message):
        return groq.APITimeoutError(REQUEST)
    if CONNECTION.search(message):
        return groq.APIConnectionError(message=message, request=REQUEST)
    return groq.BadRequestError(message, response=httpx.Response(400, request=REQUEST), body=None)


def ours(message: str) -> LLMError:
    with pytest.raises(LLMError) as caught, map_errors(groq):
        raise vendor_error(message)
    return caught.value


@pytest.mark.parametrize("case", recorded("retry_decision"))
def test_the_same_errors_are_met_again(case):
    expected = case["expected"]
    message = case["input"].get("message") or "timed out"
    wanted = expected["retryable"] if isinstance(expected, dict) else expected

    error = LLMTimeoutError() if "timeoutMs" in case["input"] else ours(message)
    assert is_retryable(error) == wanted


@pytest.mark.parametrize("case", recorded("retry_backoff"))
def test_the_delays_are_the_peer_s_and_the_jitter_comes_on_top(case):
    clock, calls = StoppedClock(), []
    error = LLMTimeoutError() if "timed out" in case["input"]["message"] else LLMRateLimitError()
    policy = RetryPolicy(retries=case["input"]["options"].get("maxRetries", 3), chance=lambda: 0.0)

    def work() -> str:
        calls.append(1)
        if len(calls) <= case["input"]["failures_before_success"]:
            raise error
        return "ok"

    try:
        result: Any = retrying(policy, clock, lambda: math.inf, RetryCounter())(work)
    except LLMError:
        result = {"error": case["input"]["message"]}
    found = {"calls": len(calls), "delays": [1000 * seconds for seconds in clock.slept], "result": result}
    assert found == case["expected"]


@pytest.mark.parametrize("case", recorded("circuit_breaker"))
def test_the_breaker_opens_and_closes_as_the_peer_s(case):
    if case["id"] in DEVIATIONS:
        pytest.xfail(DEVIATIONS[case["id"]])
    clock = StoppedClock()
    options = case["input"]["options"] if isinstance(case["input"]["options"], dict) else {}
    breaker = CircuitBreaker(
        clock=clock, failures=options.get("failureThreshold", 5), reset_s=options.get("resetTimeout", 60_000) / 1000
    )
    if "concurrent_calls_in_half_open" in case["input"]:
        assert herd(breaker, clock, case["input"]["concurrent_calls_in_half_open"]) == case["expected"]
    else:
        found = [list(step(breaker, clock, one)) for one in case["input"]["steps"]]
        assert without_counts(found) == without_counts(case["expected"])


def step(breaker: CircuitBreaker, clock: StoppedClock, one: Any) -> tuple[Any, ...]:
    if isinstance(one, int):
        clock.time = round(clock.time + one / 1000, 6)
        return f"+{one}ms", state(breaker)
    try:
        with breaker.guard():
            if one == "F":
                raise LLMUnavailableError
        came = "ok"
    except LLMCircuitError:
        came = "REJECTED"
    except LLMUnavailableError:
        came = "error"
    return one, came, state(breaker), breaker.failures


def without_counts(steps: list[list[Any]]) -> list[list[Any]]:
    """Leave out the count beside a state that is not CLOSED: it decides nothing there."""
    return [one if len(one) < 4 or one[2] == "CLOSED" else one[:3] for one in steps]


def state(breaker: CircuitBreaker) -> str:
    return breaker.state.upper().replace("-", "_")


def herd(breaker: CircuitBreaker, clock: StoppedClock, calls: int) -> dict[str, Any]:
    for _ in range(9):
        step(breaker, clock, "F")
    clock.time += 61
    rejected = 0
    with breaker.guard():
        for _ in range(calls - 1):
            rejected += step(breaker, clock, "S")[1] == "REJECTED"
    return {"calls_let_through": calls - rejected, "rejected": rejected, "state": state(breaker)}


@pytest.mark.parametrize("case", recorded("errors"))
def test_an_error_has_the_peer_s_name_code_and_status(case):
    kind = getattr(errors, case["input"]["class"])
    found = {"name": kind.__name__, "code": kind.code, "statusCode": reply_to(kind("x")).status}
    assert found == case["expected"]


@pytest.mark.parametrize("case", recorded("tokens"))
def test_tokens_are_counted_by_a_tokenizer(case):
    assert WordPieces(OnnxEmbeddings().tokenizer).count(case["input"]["text"]) == case["expected"]
