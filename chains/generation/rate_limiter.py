"""A rate limiter for requests and tokens a minute, first come, first served.

A reservation says at once when its request may be sent: at the earliest time at which the minute before has room, and
never before an earlier request. A wait that is too long is refused before it begins, and waiting is only sleeping, so
threads and event loops can share one limiter.
"""

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from chains.clock import Clock
from chains.errors import LLMBusyError, LLMTooLargeError

MINUTE_S = 60.0


@dataclass(slots=True)
class Reservation:
    """When a request may be sent, and the tokens it is expected to take."""

    at: float
    tokens: int


class RateLimiter:
    """Reserves times for requests.

    Args:
        clock: tells the time.
        requests: at most this many in any minute; None is no limit.
        tokens: at most this many in any minute, of prompts and replies together; None is no limit.
        max_wait_s: a longer wait is refused.
    """

    def __init__(
        self, *, clock: Clock, requests: int | None = None, tokens: int | None = None, max_wait_s: float = 20
    ) -> None:
        self._clock = clock
        self._requests = requests
        self._tokens = tokens
        self._max_wait_s = max_wait_s
        self._lock = threading.Lock()
        self._reserved: deque[Reservation] = deque()
        self._paused_until = 0.0

    @property
    def counts_tokens(self) -> bool:
        """Return whether tokens are limited; if False, counting a prompt's tokens can be skipped."""
        return self._tokens is not None

    def reserve(self, tokens: int, *, left_s: float) -> tuple[Reservation, float]:
        """Return a reservation for a request of this many tokens, and the seconds to wait for it.

        Raises:
            LLMTooLargeError: the request is larger than a whole minute's tokens.
            LLMBusyError: the wait would be longer than `max_wait_s`, or than the request has time.
        """
        if self._tokens is not None and tokens > self._tokens:
            msg = f"the prompt and its reply may take {tokens} tokens, and LLM_TPM is {self._tokens}; ask for less"
            raise LLMTooLargeError(msg)
        with self._lock:
            now = self._clock.now()
            while self._reserved and self._reserved[0].at + MINUTE_S <= now:
                self._reserved.popleft()
            reservation = Reservation(self._earliest(now, tokens), tokens)
            wait = reservation.at - now
            if wait > self._max_wait_s or wait >= left_s:
                msg = f"the language model's limits are reached; the next turn is in {wait:.0f} s; try again then"
                raise LLMBusyError(msg, retry_after_s=wait)
            self._reserved.append(reservation)
            return reservation, wait

    def cancel_unused(self, reservation: Reservation) -> None:
        """Free a reservation whose time has not come: its request was not sent."""
        with self._lock:
            if reservation.at > self._clock.now() and reservation in self._reserved:
                self._reserved.remove(reservation)

    def pause(self, seconds: float) -> None:
        """Send nothing for this many seconds, as the provider requested."""
        with self._lock:
            self._paused_until = max(self._paused_until, self._clock.now() + seconds)

    @property
    def waiting(self) -> int:
        """Return how many requests wait for their time."""
        now = self._clock.now()
        return sum(reservation.at > now for reservation in list(self._reserved))

    def _earliest(self, now: float, tokens: int) -> float:
        last = self._reserved[-1].at if self._reserved else now
        start = max(now, self._paused_until, last)
        return next(at for at in self._candidates(start) if self._has_room(at, tokens))

    def _candidates(self, start: float) -> Iterator[float]:
        """Yield `start`, then the times at which a reservation leaves the minute before."""
        yield start
        yield from (one.at + MINUTE_S for one in self._reserved if one.at + MINUTE_S > start)

    def _has_room(self, at: float, tokens: int) -> bool:
        recent = [one.tokens for one in self._reserved if one.at + MINUTE_S > at]
        fits = self._requests is None or len(recent) < self._requests
        return fits and (self._tokens is None or sum(recent) + tokens <= self._tokens)
