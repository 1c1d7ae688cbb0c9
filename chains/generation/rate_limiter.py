"""A rate limiter for requests and tokens a minute, first come, first served.

A reservation says at once when its request may be sent: at the earliest time at which the minute before has room, and
never before an earlier request. A wait that is too long is refused before it begins, and waiting is only sleeping, so
threads and event loops can share one limiter.

A provider that asks for a long wait gets no request meanwhile, for a minute at most; then one request tries again, and
the others follow once that has ended.
"""

import threading
from collections import deque
from dataclasses import dataclass

from chains.clock import Clock
from chains.errors import LLMBusyError, LLMTooLargeError

MINUTE_S = 60.0
# Of a wait that the provider asks for. It may ask for years.
LONGEST_PAUSE_S = 60.0


@dataclass(slots=True)
class Reservation:
    """When a request may be sent, and the tokens it is expected to take."""

    at: float
    tokens: int


@dataclass(kw_only=True, eq=False)
class RateLimiter:
    """Reserves times for requests: at most so many, and so many tokens of prompts and replies, in any minute.

    None is no limit. A wait longer than `max_wait_s` is refused.
    """

    clock: Clock
    requests: int | None = None
    tokens: int | None = None
    max_wait_s: float = 20

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._reserved: deque[Reservation] = deque()
        self._paused_until = 0.0
        self._needs_trial = False
        self._trial: Reservation | None = None

    def reserve(self, tokens: int, *, left_s: float) -> tuple[Reservation, float]:
        """Return a reservation for a request of this many tokens, and the seconds to wait for it.

        Raises:
            LLMTooLargeError: the request is larger than a whole minute's tokens.
            LLMBusyError: the wait would be longer than `max_wait_s`, or than the request has time; or another request
                tries whether the provider takes any again.
        """
        if self.tokens is not None and tokens > self.tokens:
            msg = f"the prompt and its reply may take {tokens} tokens, and LLM_TPM is {self.tokens}; ask for less"
            raise LLMTooLargeError(msg)
        with self._lock:
            now = self.clock.now()
            if self._trial is not None:
                raise LLMBusyError("the language model's rate limit is reached; try again in a moment", retry_after_s=1)
            while self._reserved and self._reserved[0].at + MINUTE_S <= now:
                self._reserved.popleft()
            reservation = Reservation(self._earliest(now, tokens), tokens)
            wait = reservation.at - now
            if wait > self.max_wait_s or wait >= left_s:
                msg = f"the language model's rate limit is reached; try again in {wait:.0f} s"
                raise LLMBusyError(msg, retry_after_s=wait)
            self._reserved.append(reservation)
            self._trial = reservation if self._needs_trial else None
            return reservation, wait

    def release(self, reservation: Reservation) -> None:
        """End a reservation: a trial is over, and one whose time has not come is free, since it was not used."""
        with self._lock:
            if self._trial is reservation:
                self._trial, self._needs_trial = None, self.clock.now() < self._paused_until
            if reservation.at > self.clock.now() and reservation in self._reserved:
                self._reserved.remove(reservation)

    def pause(self, seconds: float) -> None:
        """Send nothing for this many seconds, as the provider requested, but for a minute at most."""
        with self._lock:
            self._paused_until = max(self._paused_until, self.clock.now() + min(seconds, LONGEST_PAUSE_S))
            self._needs_trial |= seconds > self.max_wait_s

    @property
    def paused_s(self) -> float:
        """Return for how many seconds nothing will be sent because the provider asked for that; 0 if it did not."""
        return max(0.0, self._paused_until - self.clock.now())

    @property
    def waiting(self) -> int:
        now = self.clock.now()
        return sum(reservation.at > now for reservation in list(self._reserved))

    def _earliest(self, now: float, tokens: int) -> float:
        last = self._reserved[-1].at if self._reserved else now
        start = max(now, self._paused_until, last)
        # After `start` the minute before has room at the earliest when a reservation leaves it.
        leaving = [one.at + MINUTE_S for one in self._reserved if one.at + MINUTE_S > start]
        return next(at for at in [start, *leaving] if self._has_room(at, tokens))

    def _has_room(self, at: float, tokens: int) -> bool:
        recent = [one.tokens for one in self._reserved if one.at + MINUTE_S > at]
        fits = self.requests is None or len(recent) < self.requests
        return fits and (self.tokens is None or sum(recent) + tokens <= self.tokens)
