"""A provider's failures -> whether it is asked at all: a circuit breaker (M. Nygard, Release It!) on pybreaker.

pybreaker keeps the count and the state. What is added is what it lacks: the clock is handed in, one call at a time is
let through on trial, and nothing is locked while a call runs, so that one breaker serves threads and event loops alike.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pybreaker

from chains.clock import Clock
from chains.errors import LLMCircuitError, LLMRejectedError, LLMReplyError, LLMTimeoutError, LLMUnavailableError

FAILURES = (LLMUnavailableError, LLMTimeoutError, LLMReplyError)


class Breaker:
    """Lets calls through, one of them, or none.

    Args:
        failures: so many in a row open it.
        reset_s: for longer than so many seconds it then stays open.
        successes: so many of the trial calls after that close it.
        clock: tells the time.
        name: what stands behind it, for messages.
    """

    def __init__(
        self, *, clock: Clock, failures: int = 5, reset_s: float = 60, successes: int = 2, name: str = "language model"
    ) -> None:
        self.name = name
        self._clock = clock
        self._reset_s = reset_s
        self._lock = threading.Lock()
        self._opened = 0.0
        self._on_trial = False
        self._circuit = pybreaker.CircuitBreaker(
            fail_max=failures, reset_timeout=reset_s, success_threshold=successes, throw_new_error_on_trip=False
        )

    @property
    def state(self) -> str:
        """Return `closed`, `open` or `half-open`."""
        return self._circuit.current_state

    @property
    def failures(self) -> int:
        """Return how many calls in a row have failed."""
        return self._circuit.fail_counter

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """Let the body call the provider, and take note of how it goes; a body that is left counts for nothing.

        Raises:
            LLMCircuitError: the provider is left alone for now.
        """
        trial = self._admit()
        try:
            yield
        except FAILURES as error:
            self._note(error)
            raise
        except LLMRejectedError:
            self._note(None)  # It refuses, so it is there.
            raise
        else:
            self._note(None)
        finally:
            if trial:
                self._on_trial = False

    def _admit(self) -> bool:
        """Return whether the call is one on trial."""
        with self._lock:
            if self.state == "open" and self._clock.now() - self._opened > self._reset_s:
                self._circuit.half_open()
            if self.state == "open" or (self.state == "half-open" and self._on_trial):
                msg = (
                    f"the {self.name} failed repeatedly and is left alone for up to {self._reset_s:g} s; try again then"
                )
                raise LLMCircuitError(msg)
            self._on_trial = self.state == "half-open"
            return self._on_trial

    def _note(self, error: Exception | None) -> None:
        with self._lock:
            if self.state == "open":
                return  # The call began before it opened.
            with suppress(*FAILURES):
                self._circuit.call(_raise, error)
            self._opened = self._clock.now()  # It counts if this is the call that opened it.


def _raise(error: Exception | None) -> None:
    if error is not None:
        raise error
