import math

import pytest

from chains.errors import (
    LLMBusyError,
    LLMCircuitError,
    LLMError,
    LLMRateLimitError,
    LLMRejectedError,
    LLMReplyError,
    LLMTimeoutError,
    LLMUnavailableError,
    QuestionError,
)
from chains.resilience import RetryCounter, RetryPolicy, aretrying, is_retryable, retrying
from tests.clocks import StoppedClock

EVEN = RetryPolicy(chance=lambda: 0.0)


def fail(clock: StoppedClock, error: Exception, policy: RetryPolicy = EVEN, left_s: float = math.inf) -> int:
    calls = []

    def work() -> None:
        calls.append(1)
        raise error

    with pytest.raises(type(error)):
        retrying(policy, clock, lambda: left_s, RetryCounter())(work)
    return len(calls)


def test_a_passing_error_is_met_three_times_again_after_delays_that_double():
    clock = StoppedClock()

    assert fail(clock, LLMUnavailableError()) == 4
    assert clock.slept == [1, 2, 4]


def test_the_delay_stops_growing_at_ten_seconds():
    clock = StoppedClock()
    fail(clock, LLMUnavailableError(), RetryPolicy(retries=6, chance=lambda: 0.0))

    assert clock.slept == [1, 2, 4, 8, 10, 10]


def test_each_delay_is_lengthened_by_up_to_a_quarter_and_never_beyond_ten_seconds():
    policy = RetryPolicy(chance=lambda: 1.0)

    assert [policy.delay_s(failures) for failures in range(1, 7)] == [1.25, 2.5, 5, 10, 10, 10]
    assert all(1 <= RetryPolicy().delay_s(1) <= 1.25 for _ in range(100))


def test_a_provider_that_says_how_long_to_wait_is_taken_at_its_word():
    clock = StoppedClock()
    fail(clock, LLMRateLimitError(retry_after_s=17.5))

    assert clock.slept == [17.5] * 3


def test_a_wait_of_hours_is_not_started_even_where_there_is_no_deadline():
    clock = StoppedClock()

    assert fail(clock, LLMRateLimitError(retry_after_s=86_400)) == 1
    assert clock.slept == []


def test_a_wait_that_does_not_fit_the_deadline_is_not_begun():
    clock = StoppedClock()

    assert fail(clock, LLMRateLimitError(retry_after_s=17.5), left_s=17) == 1
    assert clock.slept == []


@pytest.mark.parametrize("error", [LLMUnavailableError(), LLMTimeoutError(), LLMRateLimitError()])
def test_what_passes_is_retryable(error):
    assert is_retryable(error)


@pytest.mark.parametrize(
    "error",
    [LLMError(), LLMRejectedError(), LLMReplyError(), LLMBusyError(), LLMCircuitError(), QuestionError(), ValueError()],
)
def test_what_asking_again_does_not_mend_is_met_once(error):
    assert fail(StoppedClock(), error) == 1


async def test_calls_that_await_are_met_the_same_way():
    clock, calls = StoppedClock(), []

    async def work() -> str:
        calls.append(1)
        if len(calls) < 3:
            raise LLMUnavailableError
        return "answer"

    assert await aretrying(EVEN, clock, lambda: math.inf, RetryCounter())(work) == "answer"
    assert clock.slept == [1, 2]
