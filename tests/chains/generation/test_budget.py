import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chains.errors import LLMBusyError, LLMTooLargeError
from chains.generation.budget import MINUTE_S, Budget
from tests.clocks import StoppedClock


@pytest.fixture
def clock() -> StoppedClock:
    return StoppedClock()


def waits(budget: Budget, *sizes: int) -> list[float]:
    return [budget.take(size, left_s=math.inf)[1] for size in sizes]


def test_without_limits_nobody_waits(clock):
    assert waits(Budget(clock=clock), *[10_000] * 50) == [0] * 50


def test_requests_beyond_the_minute_s_number_wait_until_the_first_is_a_minute_old(clock):
    budget = Budget(clock=clock, requests=2, patience_s=200)

    assert waits(budget, 1, 1, 1, 1, 1) == [0, 0, 60, 60, 120]
    assert budget.waiting == 3


def test_tokens_beyond_the_minute_s_number_wait_and_a_small_request_does_not_overtake(clock):
    budget = Budget(clock=clock, tokens=1000, patience_s=200)

    assert waits(budget, 800, 800, 10) == [0, 60, 60]


def test_what_a_request_did_not_use_is_there_for_the_next(clock):
    budget = Budget(clock=clock, tokens=1000)
    place, _ = budget.take(800, left_s=60)
    budget.settle(place, 100)

    assert waits(budget, 800) == [0]


def test_a_request_larger_than_a_minute_s_tokens_is_refused_at_once(clock):
    with pytest.raises(LLMTooLargeError, match="may take 1001 tokens, and LLM_TPM is 1000"):
        Budget(clock=clock, tokens=1000).take(1001, left_s=60)


def test_who_would_wait_longer_than_patience_or_time_allow_is_told_when_to_come_again(clock):
    budget = Budget(clock=clock, requests=1, patience_s=70)
    budget.take(1, left_s=60)

    with pytest.raises(LLMBusyError, match="next turn is in 60 s") as caught:
        budget.take(1, left_s=50)
    assert caught.value.retry_after_s == 60
    assert waits(budget, 1) == [60]
    with pytest.raises(LLMBusyError, match="120 s"):
        budget.take(1, left_s=math.inf)


def test_a_place_that_is_given_back_is_free(clock):
    budget = Budget(clock=clock, requests=1, patience_s=70)
    budget.take(1, left_s=60)
    place, _ = budget.take(1, left_s=100)
    budget.give_back(place)

    assert waits(budget, 1) == [60]


def test_nothing_is_sent_while_the_provider_asked_to_wait(clock):
    budget = Budget(clock=clock)
    budget.close(7)

    assert waits(budget, 1) == [7]
    clock.time += 7
    assert waits(budget, 1) == [0]


@given(
    st.lists(st.tuples(st.integers(1, 500), st.floats(0, 30)), max_size=40), st.integers(1, 6), st.integers(500, 900)
)
def test_no_minute_ever_holds_more_than_the_limits_and_the_line_keeps_its_order(asked, requests, tokens):
    clock = StoppedClock(0.1)
    budget = Budget(clock=clock, requests=requests, tokens=tokens, patience_s=math.inf)
    places = []
    for size, pause in asked:
        clock.time += pause
        places.append(budget.take(size, left_s=math.inf)[0])

    assert [place.at for place in places] == sorted(place.at for place in places)
    for place in places:
        minute = [other.tokens for other in places if other.at <= place.at < other.at + MINUTE_S]
        assert len(minute) <= requests
        assert sum(minute) <= tokens
