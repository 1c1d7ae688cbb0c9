"""An error and how often it was met -> whether to ask again, and after how long: the only retry layer there is.

Passing errors are met again up to `retries` times, after 1 s, 2 s, 4 s ... and at most 10 s, each lengthened by up to a
quarter so that clients that failed together do not come back together. A provider that says how long to wait
(`Retry-After`, RFC 9110 10.2.3) is taken at its word; a wait that the call has no time for is not begun.
"""

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception

from chains.clock import Clock
from chains.errors import LLMError


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and after how long a passing error is met again; `chance` returns a number from 0 to 1."""

    retries: int = 3
    first_s: float = 1.0
    longest_s: float = 10.0
    jitter: float = 0.25
    chance: Callable[[], float] = random.random

    def delay_s(self, failures: int, error: BaseException | None = None) -> float:
        """Return the seconds to wait after so many failures, of which `error` is the last."""
        asked = getattr(error, "retry_after_s", None)
        if asked is not None:
            return float(asked)
        step = min(self.longest_s, self.first_s * 2 ** (failures - 1))
        return float(step * (1 + self.jitter * self.chance()))


class Retries:
    """Counts, from any thread, the attempts that repeat another."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = threading.Lock()

    def note(self, state: RetryCallState) -> None:
        """Count the attempt that begins, unless it is the first of its call."""
        if state.attempt_number > 1:
            with self._lock:
                self.count += 1


def is_passing(error: BaseException) -> bool:
    """Return whether the same request may succeed a little later."""
    return isinstance(error, LLMError) and error.is_passing


def retrying(policy: RetryPolicy, clock: Clock, left_s: Callable[[], float], retries: Retries) -> Retrying:
    """Return tenacity's loop of attempts; the last error is raised as it is."""
    return Retrying(sleep=clock.sleep, before=retries.note, **_rules(policy, left_s))


def aretrying(policy: RetryPolicy, clock: Clock, left_s: Callable[[], float], retries: Retries) -> AsyncRetrying:
    """Return the same loop for calls that await."""
    return AsyncRetrying(sleep=clock.asleep, before=retries.note, **_rules(policy, left_s))


def _rules(policy: RetryPolicy, left_s: Callable[[], float]) -> dict[str, Any]:
    def wait(state: RetryCallState) -> float:
        return policy.delay_s(state.attempt_number, state.outcome.exception() if state.outcome else None)

    def stop(state: RetryCallState) -> bool:
        return state.attempt_number > policy.retries or state.upcoming_sleep >= left_s()

    return {"wait": wait, "stop": stop, "retry": retry_if_exception(is_passing), "reraise": True}
