"""Calls that fail: when they are made again, and when they are made no more."""

import asyncio
import math
from contextlib import suppress

import pytest

from chains.errors import (
    LLMBusyError,
    LLMCircuitError,
    LLMError,
    LLMRateLimitError,
    LLMRejectedError,
    LLMReplyError,
    LLMUnavailableError,
)
from chains.resilience import CircuitBreaker, RetryCounter, RetryPolicy, retrying
from tests.cases import cases

EVEN = RetryPolicy(chance=lambda: 0.0)
AWAY, WAIT = LLMUnavailableError(), LLMRateLimitError(retry_after_s=17.5)
RETRIES = {
    "a passing error is met three times again after delays that double": [(AWAY, EVEN, math.inf, 4, [1, 2, 4])],
    "the delay stops growing at ten seconds": [
        (AWAY, RetryPolicy(retries=6, chance=lambda: 0.0), math.inf, 7, [1, 2, 4, 8, 10, 10])
    ],
    "a provider that says how long to wait is taken at its word": [(WAIT, EVEN, math.inf, 4, [17.5] * 3)],
    "a wait of hours is not started even where there is no deadline": [
        (LLMRateLimitError(retry_after_s=86_400), EVEN, math.inf, 1, [])
    ],
    "a wait that does not fit the deadline is not begun": [(WAIT, EVEN, 17, 1, [])],
    "what asking again does not mend is met once": [
        (error(), EVEN, math.inf, 1, [])
        for error in (
            LLMError,
            LLMRejectedError,
            LLMReplyError,
            LLMBusyError,
            LLMCircuitError,
            ValueError,
        )
    ],
}


@pytest.mark.parametrize(("error", "policy", "left_s", "calls", "slept"), cases(RETRIES))
def test_a_call_is_made_again_as_often_as_it_may_help(clock, error, policy, left_s, calls, slept):
    made = []

    def work() -> None:
        made.append(1)
        raise error

    with pytest.raises(type(error)):
        retrying(policy, clock, lambda: left_s, RetryCounter())(work)
    assert (len(made), clock.slept) == (calls, slept)


def test_each_delay_is_lengthened_by_up_to_a_quarter_and_never_beyond_ten_seconds():
    policy = RetryPolicy(chance=lambda: 1.0)

    assert [policy.delay_s(failures) for failures in range(1, 7)] == [1.25, 2.5, 5, 10, 10, 10]
    assert all(1 <= RetryPolicy().delay_s(1) <= 1.25 for _ in range(100))


OPEN: list[object] = [AWAY] * 5
LEFT = asyncio.CancelledError()
# What is called in turn: an error is raised, None succeeds, a number is a wait in seconds.
BREAKER = {
    "five failures in a row open it": [(OPEN, "open")],
    "a success in between starts the count anew": [([*OPEN[:4], None, *OPEN[:4]], "closed")],
    "it is tried after its time and two successes close it": [
        ([*OPEN, 60.001, None], "half-open"),
        ([*OPEN, 60.001, None, None], "closed"),
    ],
    "a failure on trial opens it for its whole time again": [([*OPEN, 61, AWAY, 59], "open")],
    "a trial that is left counts for nothing and makes room for the next": [
        ([*OPEN, 61, LEFT], "half-open"),
        ([*OPEN, 61, LEFT, None, None], "closed"),
    ],
    "a provider that refuses or asks to wait is there": [([LLMRejectedError()] * 9, "closed"), ([WAIT] * 9, "closed")],
}


def call(breaker: CircuitBreaker, error: BaseException | None) -> None:
    with suppress(type(error) if error else LLMError), breaker.guard():
        if error:
            raise error


@pytest.mark.parametrize(("steps", "state"), cases(BREAKER))
def test_the_breaker_opens_and_closes(clock, steps, state):
    breaker = CircuitBreaker(clock=clock)
    for step in steps:
        if isinstance(step, int | float):
            clock.time += step
        else:
            call(breaker, step)

    assert breaker.state == state
    if state == "open":
        with pytest.raises(LLMCircuitError, match="not called for up to"), breaker.guard():
            pytest.fail("it was called")
    assert clock.slept == []


def test_a_call_from_before_it_opened_changes_nothing_when_it_ends(clock):
    breaker = CircuitBreaker(clock=clock)
    with breaker.guard():
        for _ in range(5):
            call(breaker, AWAY)

    assert breaker.state == "open"
