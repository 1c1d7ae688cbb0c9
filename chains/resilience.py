"""Retries, and a circuit breaker (M. Nygard, Release It!), for calls of services: language models and embeddings."""

import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

from tenacity import AsyncRetrying, RetryCallState, Retrying, retry_if_exception

from chains.clock import Clock
from chains.errors import LLMCircuitError, WaypointError

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
        if state.attempt_number > 1:
            with self._lock:
                self.count += 1


def is_retryable(error: BaseException) -> bool:
    return isinstance(error, WaypointError) and error.is_retryable


def retrying(policy: RetryPolicy, clock: Clock, left_s: Callable[[], float], counter: RetryCounter) -> Retrying:
    """Return tenacity's retry loop; it raises the last error unchanged."""
    return Retrying(sleep=clock.sleep, before=counter.note, **_rules(policy, left_s))


def aretrying(policy: RetryPolicy, clock: Clock, left_s: Callable[[], float], counter: RetryCounter) -> AsyncRetrying:
    return AsyncRetrying(sleep=clock.asleep, before=counter.note, **_rules(policy, left_s))


def _rules(policy: RetryPolicy, left_s: Callable[[], float]) -> dict[str, Any]:
    def wait(state: RetryCallState) -> float:
        return policy.delay_s(state.attempt_number, state.outcome.exception() if state.outcome else None)

    def stop(state: RetryCallState) -> bool:
        return state.attempt_number > policy.retries or state.upcoming_sleep >= min(left_s(), LONGEST_WAIT_S)

    return {"wait": wait, "stop": stop, "retry": retry_if_exception(is_retryable), "reraise": True}


# So many successful trials in a row close an open breaker.
SUCCESSES_TO_CLOSE = 2


class CircuitBreaker:
    """Allows all calls (closed), none (open), or one at a time on trial (half-open).

    It holds no lock while a call runs, so threads and event loops can share it.

    Args:
        name: the service's name, for messages.
        failures: this many failures in a row open it.
        reset_s: after this many seconds it allows a trial.
        open_error: raised in place of a call while it is open.
    """

    def __init__(
        self,
        *,
        clock: Clock,
        name: str = "language model",
        failures: int = 5,
        reset_s: float = 60,
        open_error: Callable[[str], WaypointError] = LLMCircuitError,
    ) -> None:
        self.name = name
        self.state = "closed"
        self.failures = 0
        self._clock = clock
        self._max_failures = failures
        self._reset_s = reset_s
        self._open_error = open_error
        self._lock = threading.Lock()
        self._opened_at = 0.0
        self._successes = 0
        self._on_trial = False

    @contextmanager
    def guard(self) -> Iterator[None]:
        """Call the service in the body and record the outcome; a body that is cancelled is not counted.

        Raises the `open_error` where the service is not called for now.
        """
        on_trial = self._admit()
        try:
            yield
        except WaypointError as error:
            if error.breaker_outcome is not None:
                self._record(error.breaker_outcome)
            raise
        else:
            self._record("success")
        finally:
            if on_trial:
                self._on_trial = False

    def _admit(self) -> bool:
        with self._lock:
            if self.state == "open" and self._clock.now() - self._opened_at > self._reset_s:
                self.state, self._successes = "half-open", 0
            if self.state == "open" or (self.state == "half-open" and self._on_trial):
                msg = (
                    f"the {self.name} failed repeatedly and is not called for up to {self._reset_s:g} s; try again then"
                )
                raise self._open_error(msg)
            self._on_trial = self.state == "half-open"
            return self._on_trial

    def _record(self, outcome: Literal["success", "failure"]) -> None:
        with self._lock:
            if self.state == "open":
                return  # The call began before the breaker opened.
            if outcome == "success":
                self.failures = 0
                self._successes += 1
                if self._successes >= SUCCESSES_TO_CLOSE:
                    self.state = "closed"
            else:
                self.failures += 1
                if self.state == "half-open" or self.failures >= self._max_failures:
                    self.state, self._opened_at = "open", self._clock.now()
