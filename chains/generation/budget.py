"""Requests and tokens a minute -> when the next request may be sent: first come, first served.

Each request gets the earliest time at which the minute before it has room, and never one before a request that came
earlier. It knows at once how long it has to wait, so a wait that is too long is refused before it begins, and waiting
is nothing but sleeping: threads and event loops stand in one line.
"""

import threading
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from chains.clock import Clock
from chains.errors import LLMBusyError, LLMTooLargeError

MINUTE_S = 60.0


@dataclass(slots=True)
class Place:
    """A place in the line: when its request may be sent, and the tokens it is expected to take."""

    at: float
    tokens: int


class Budget:
    """Gives out places in the line.

    Args:
        clock: tells the time.
        requests: at most so many in any minute; None is no limit.
        tokens: at most so many in any minute, of prompt and reply together; None is no limit.
        patience_s: nobody waits longer than this.
    """

    def __init__(
        self, *, clock: Clock, requests: int | None = None, tokens: int | None = None, patience_s: float = 20
    ) -> None:
        self._clock = clock
        self._requests = requests
        self._tokens = tokens
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._taken: deque[Place] = deque()
        self._closed_until = 0.0

    @property
    def counts_tokens(self) -> bool:
        """Say whether tokens are limited: whoever takes a place need not measure a prompt else."""
        return self._tokens is not None

    def take(self, tokens: int, *, left_s: float) -> tuple[Place, float]:
        """Return a place for a request of so many tokens, and the seconds to wait for it.

        Raises:
            LLMTooLargeError: the request is larger than a whole minute's tokens.
            LLMBusyError: its turn would come later than a request may wait, or than this one has time.
        """
        if self._tokens is not None and tokens > self._tokens:
            msg = f"the prompt and its reply may take {tokens} tokens, and LLM_TPM is {self._tokens}; ask for less"
            raise LLMTooLargeError(msg)
        with self._lock:
            now = self._clock.now()
            self._forget(now)
            place = Place(self._earliest(now, tokens), tokens)
            wait = place.at - now
            if wait > self._patience_s or wait >= left_s:
                msg = f"the language model's limits are reached; the next turn is in {wait:.0f} s; try again then"
                raise LLMBusyError(msg, retry_after_s=wait)
            self._taken.append(place)
            return place, wait

    def give_back(self, place: Place) -> None:
        """Free a place whose request was not sent."""
        with self._lock:
            if place in self._taken:
                self._taken.remove(place)

    def settle(self, place: Place, tokens: int) -> None:
        """Write down what a request really took."""
        place.tokens = tokens

    def close(self, seconds: float) -> None:
        """Send nothing for so many seconds, as the provider has asked."""
        with self._lock:
            self._closed_until = max(self._closed_until, self._clock.now() + seconds)

    @property
    def waiting(self) -> int:
        """Return how many requests stand in the line."""
        now = self._clock.now()
        return sum(place.at > now for place in list(self._taken))

    def _forget(self, now: float) -> None:
        while self._taken and self._taken[0].at + MINUTE_S <= now:
            self._taken.popleft()

    def _earliest(self, now: float, tokens: int) -> float:
        last = self._taken[-1].at if self._taken else now
        start = max(now, self._closed_until, last)
        return next(at for at in self._chances(start) if self._has_room(at, tokens))

    def _chances(self, start: float) -> Iterator[float]:
        """Yield `start`, and then the times at which a place leaves the minute before."""
        yield start
        yield from (place.at + MINUTE_S for place in self._taken if place.at + MINUTE_S > start)

    def _has_room(self, at: float, tokens: int) -> bool:
        recent = [place.tokens for place in self._taken if place.at + MINUTE_S > at]
        fits = self._requests is None or len(recent) < self._requests
        return fits and (self._tokens is None or sum(recent) + tokens <= self._tokens)
