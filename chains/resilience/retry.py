"""Retries with exponential backoff: the only retry layer.

Retryable errors are retried up to `retries` times, after 1 s, 2 s, 4 s and so on, each lengthened by up to a quarter so
that clients that failed together do not retry together, and 10 s at most. A `Retry-After` (RFC 9110 10.2.3) is obeyed
exactly. A wait longer than the time left, or than five minutes, is not started.
"""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception

from chains.clock import Clock
from chains.errors import WaypointError

LONGEST_WAIT_S = 300.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often to retry, and how long to wait before; `chance` returns a number from 0 to 1."""

    retries: int = 3
    first_s: float = 1.0
    longest_s: float = 10.0
    jitter: float = 0.25
    chance: Callable[[], float] = random.random

    def delay_s(self, failures: int, error: BaseException | None = None) -> float:
        """Return the seconds to wait after this many failures, of which `error` is the last."""
        requested = getattr(error, "retry_after_s", None)
        if requested is not None:
            return float(requested)
        delay: float = self.first_s * 2 ** (failures - 1) * (1 + self.jitter * self.chance())
        return min(self.longest_s, delay)


class RetryCounter:
    """Counts retries, from any thread."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def note(self, state: RetryCallState) -> None:
        """Count the attempt that begins, unless it is the first of its call."""
        if state.attempt_number > 1:
            with self._lock:
                self.count += 1


def is_retryable(error: BaseException) -> bool:
    """Return whether the same request may succeed a little later."""
    return isinstance(error, WaypointError) and error.is_retryable


def retrying(policy: RetryPolicy, clock: Clock, left_s: Callable[[], float], counter: RetryCounter) -> Retrying:
    """Return tenacity's retry loop; it raises the last error unchanged."""
    return Retrying(sleep=clock.sleep, before=counter.note, **_rules(policy, left_s))


def aretrying(policy: RetryPolicy, clock: Clock, left_s: Callable[[], float], counter: RetryCounter) -> AsyncRetrying:
    """Return the same loop for calls that await."""
    return AsyncRetrying(sleep=clock.asleep, before=counter.note, **_rules(policy, left_s))


def _rules(policy: RetryPolicy, left_s: Callable[[], float]) -> dict[str, Any]:
    def wait(state: RetryCallState) -> float:
        return policy.delay_s(state.attempt_number, state.outcome.exception() if state.outcome else None)

    def stop(state: RetryCallState) -> bool:
        return state.attempt_number > policy.retries or state.upcoming_sleep >= min(left_s(), LONGEST_WAIT_S)

    return {"wait": wait, "stop": stop, "retry": retry_if_exception(is_retryable), "reraise": True}
