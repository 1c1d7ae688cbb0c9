import asyncio
from contextlib import suppress

import pytest

from chains.errors import LLMCircuitError, LLMError, LLMRateLimitError, LLMRejectedError, LLMUnavailableError
from chains.resilience import CircuitBreaker
from tests.clocks import StoppedClock


def call(breaker: CircuitBreaker, error: LLMError | None = None) -> None:
    with suppress(type(error) if error else LLMUnavailableError), breaker.guard():
        if error:
            raise error


def opened(clock: StoppedClock) -> CircuitBreaker:
    breaker = CircuitBreaker(clock=clock)
    for _ in range(5):
        call(breaker, LLMUnavailableError())
    return breaker


def test_five_failures_in_a_row_open_it_and_then_nothing_is_called(clock):
    breaker = opened(clock)

    assert breaker.state == "open"
    with pytest.raises(LLMCircuitError, match="not called for up to 60 s"), breaker.guard():
        pytest.fail("it was called")


def test_a_success_in_between_starts_the_count_anew(clock):
    breaker = CircuitBreaker(clock=clock)
    for _ in range(4):
        call(breaker, LLMUnavailableError())
    call(breaker)
    for _ in range(4):
        call(breaker, LLMUnavailableError())

    assert breaker.state == "closed"


def test_it_is_tried_after_its_time_and_two_successes_close_it(clock):
    breaker = opened(clock)
    clock.time += 60.001

    call(breaker)
    assert breaker.state == "half-open"
    call(breaker)
    assert breaker.state == "closed"


def test_a_failure_on_trial_opens_it_for_its_whole_time_again(clock):
    breaker = opened(clock)
    clock.time += 61
    call(breaker, LLMUnavailableError())
    clock.time += 59

    assert breaker.state == "open"
    with pytest.raises(LLMCircuitError), breaker.guard():
        pytest.fail("it was called")


def test_a_trial_that_is_left_counts_for_nothing_and_makes_room_for_the_next(clock):
    breaker = opened(clock)
    clock.time += 61
    with suppress(asyncio.CancelledError), breaker.guard():
        raise asyncio.CancelledError

    assert breaker.state == "half-open"
    call(breaker)
    call(breaker)
    assert breaker.state == "closed"


@pytest.mark.parametrize("error", [LLMRejectedError(), LLMRateLimitError()])
def test_a_provider_that_refuses_or_asks_to_wait_is_there(clock, error):
    breaker = CircuitBreaker(clock=clock)
    for _ in range(9):
        call(breaker, error)

    assert breaker.state == "closed"


def test_a_call_from_before_it_opened_changes_nothing_when_it_ends(clock):
    breaker = CircuitBreaker(clock=clock)
    with breaker.guard():
        for _ in range(5):
            call(breaker, LLMUnavailableError())

    assert breaker.state == "open"


def test_an_open_breaker_refuses_without_a_wait(clock):
    breaker = opened(clock)
    for _ in range(100):
        with suppress(LLMCircuitError), breaker.guard():
            pytest.fail("it was called")

    assert clock.slept == []
