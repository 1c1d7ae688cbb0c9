import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.errors import LLMBusyError, LLMTooLargeError
from chains.generation.rate_limiter import LONGEST_PAUSE_S, MINUTE_S, RateLimiter
from tests.clocks import StoppedClock


def waits(limiter: RateLimiter, *sizes: int) -> list[float]:
    return [limiter.reserve(size, left_s=math.inf)[1] for size in sizes]


WAITS = {
    "without limits nobody waits": ({}, [10_000] * 50, [0] * 50),
    "requests wait until the first is a minute old": ({"requests": 2}, [1] * 5, [0, 0, 60, 60, 120]),
    "tokens wait, and a small request does not overtake": ({"tokens": 1000}, [800, 800, 10], [0, 60, 60]),
}


@pytest.mark.parametrize(("limits", "sizes", "waited"), WAITS.values(), ids=WAITS)
def test_requests_beyond_a_limit_wait(clock, limits, sizes, waited):
    limiter = RateLimiter(clock=clock, max_wait_s=200, **limits)

    assert waits(limiter, *sizes) == waited
    assert limiter.waiting == sum(wait > 0 for wait in waited)


def test_what_a_request_did_not_use_is_there_for_the_next(clock):
    limiter = RateLimiter(clock=clock, tokens=1000)
    reservation, _ = limiter.reserve(800, left_s=60)
    reservation.tokens = 100

    assert waits(limiter, 800) == [0]


def test_a_request_larger_than_a_minute_s_tokens_is_refused_at_once(clock):
    with pytest.raises(LLMTooLargeError, match="may take 1001 tokens, and LLM_TPM is 1000"):
        RateLimiter(clock=clock, tokens=1000).reserve(1001, left_s=60)


def test_who_would_wait_longer_than_patience_or_time_allow_is_told_when_to_come_again(clock):
    limiter = RateLimiter(clock=clock, requests=1, max_wait_s=70)
    limiter.reserve(1, left_s=60)

    with pytest.raises(LLMBusyError, match="try again in 60 s") as caught:
        limiter.reserve(1, left_s=50)
    assert caught.value.retry_after_s == 60
    assert waits(limiter, 1) == [60]
    with pytest.raises(LLMBusyError, match="120 s"):
        limiter.reserve(1, left_s=math.inf)


def test_a_place_that_is_given_back_is_free(clock):
    limiter = RateLimiter(clock=clock, requests=1, max_wait_s=70)
    limiter.reserve(1, left_s=60)
    reservation, _ = limiter.reserve(1, left_s=100)
    limiter.release(reservation)

    assert waits(limiter, 1) == [60]


def test_nothing_is_sent_while_the_provider_asked_to_wait(clock):
    limiter = RateLimiter(clock=clock)
    limiter.pause(7)

    assert waits(limiter, 1) == [7]
    clock.time += 7
    assert waits(limiter, 1) == [0]


def test_after_a_long_pause_one_request_tries_and_the_others_follow_once_it_has_ended(clock):
    limiter = RateLimiter(clock=clock)
    limiter.pause(3600)
    clock.time += LONGEST_PAUSE_S
    trial, _ = limiter.reserve(1, left_s=90)
    with pytest.raises(LLMBusyError, match="rate limit is reached") as caught:
        limiter.reserve(1, left_s=90)
    limiter.release(trial)

    assert caught.value.retry_after_s == 1
    assert waits(limiter, 1, 1) == [0, 0]


def test_a_trial_that_meets_the_same_refusal_begins_the_pause_again(clock):
    limiter = RateLimiter(clock=clock)
    limiter.pause(3600)
    clock.time += LONGEST_PAUSE_S
    trial, _ = limiter.reserve(1, left_s=90)
    limiter.pause(3600)
    limiter.release(trial)

    assert limiter.paused_s == LONGEST_PAUSE_S
    clock.time += LONGEST_PAUSE_S
    limiter.reserve(1, left_s=90)
    with pytest.raises(LLMBusyError, match="rate limit is reached"):
        limiter.reserve(1, left_s=90)


@pytest.mark.untraced
@given(
    st.lists(st.tuples(st.integers(1, 500), st.floats(0, 30)), max_size=40), st.integers(1, 6), st.integers(500, 900)
)
def test_no_minute_ever_holds_more_than_the_limits_and_the_line_keeps_its_order(asked, requests, tokens):
    clock = StoppedClock(0.1)
    limiter = RateLimiter(clock=clock, requests=requests, tokens=tokens, max_wait_s=math.inf)
    reservations = []
    for size, pause in asked:
        clock.time += pause
        reservations.append(limiter.reserve(size, left_s=math.inf)[0])

    assert [reservation.at for reservation in reservations] == sorted(reservation.at for reservation in reservations)
    for reservation in reservations:
        minute = [other.tokens for other in reservations if other.at <= reservation.at < other.at + MINUTE_S]
        assert len(minute) <= requests
        assert sum(minute) <= tokens
