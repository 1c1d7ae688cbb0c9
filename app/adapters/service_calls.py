"""Call a service over HTTP: a time-out, retries, a circuit breaker, and errors that name the setting to check."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Unpack

import httpx
from tenacity import AsyncRetrying, Retrying
from typing_extensions import TypedDict

from app.adapters.http_client import retry_after_s
from chains.callbacks import check_time, left_s
from chains.clock import Clock, SystemClock
from chains.errors import WaypointError
from chains.resilience import CircuitBreaker, RetryCounter, RetryPolicy, aretrying, retrying

RETRYABLE = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.CONFLICT}


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceKind:
    """What a kind of service is called, which settings lead to it, and the errors that its calls raise.

    Attributes:
        name: as messages call it.
        address: the setting with its address.
        settings: what to check when a reply does not fit.
        suspects: what to check by HTTP status.
        unreadable: what a reply is called that cannot be decoded.
        error: what its calls raise; `failure` says why, where the service did not refuse.
        recent_s: a health check sends no request if the last one succeeded within these seconds.
    """

    name: str
    address: str
    settings: str
    suspects: Mapping[int, str]
    unreadable: str
    error: type[WaypointError]
    recent_s: float = 30.0


class CallOptions(TypedDict, total=False):
    """The limits of the calls to one service.

    Attributes:
        timeout_s: the most that one attempt may take, to the last byte of the reply; 30 s by default.
        policy: how often to retry, and how long to wait before.
        breaker_failures: after this many failures in a row (5 by default) the service is not called.
        breaker_reset_s: for this many seconds; 60 by default.
        clock: tells the time.
    """

    timeout_s: float
    policy: RetryPolicy | None
    breaker_failures: int
    breaker_reset_s: float
    clock: Clock | None


class ServiceCalls:
    """The rules for the calls to the service at `url`."""

    def __init__(self, kind: ServiceKind, url: str, **options: Unpack[CallOptions]) -> None:
        self.url = url
        self._kind = kind
        self._timeout_s = options.get("timeout_s", 30)
        self._policy = options.get("policy") or RetryPolicy()
        self._clock = options.get("clock") or SystemClock()
        self._breaker = CircuitBreaker(
            clock=self._clock,
            name=kind.name,
            failures=options.get("breaker_failures", 5),
            reset_s=options.get("breaker_reset_s", 60),
            open_error=partial(kind.error, failure="circuit_open"),
        )
        self._retries = RetryCounter()
        self._succeeded_at = -math.inf

    def retrying(self, callbacks: Any) -> Retrying:
        """Return the retry loop for one call; it waits no longer than the question's time allows."""
        return retrying(self._policy, self._clock, lambda: self._left_s(callbacks), self._retries)

    def aretrying(self, callbacks: Any) -> AsyncRetrying:
        return aretrying(self._policy, self._clock, lambda: self._left_s(callbacks), self._retries)

    @contextmanager
    def attempt(self, callbacks: Any) -> Iterator[float]:
        """Guard one attempt: give the seconds it may take, and turn httpx's errors into those of the service's kind.

        The body sends the request, calls `raise_for_status`, and checks the reply. It succeeded if it raises nothing.
        Raise an error of the service's kind; DeadlineError if the question's time is used up.
        """
        try:
            with self._guarded(callbacks) as timeout_s:
                yield timeout_s
        except WaypointError:
            self._succeeded_at = -math.inf  # What is known of it is over: the next health check asks.
            raise
        self._succeeded_at = self._clock.now()

    @contextmanager
    def _guarded(self, callbacks: Any) -> Iterator[float]:
        with self._breaker.guard():
            timeout_s = min(self._timeout_s, check_time(callbacks))
            try:
                yield timeout_s
            except httpx.HTTPStatusError as error:
                raise self._refused(error.response) from error
            except httpx.TimeoutException as error:
                msg = f"the {self._kind.name} at {self.url} did not answer within {timeout_s:g} s; try again"
                raise self._kind.error(msg, failure="unavailable") from error
            except httpx.DecodingError as error:
                raise self.misfit(self._kind.unreadable) from error
            except httpx.HTTPError as error:
                msg = f"the {self._kind.name} at {self.url} cannot be reached; check {self._kind.address}"
                raise self._kind.error(msg, failure="unavailable") from error

    def is_known_to_work(self) -> bool:
        """Return whether a request succeeded lately and the circuit is closed."""
        return self._clock.now() - self._succeeded_at < self._kind.recent_s and self._breaker.state == "closed"

    def misfit(self, what: str) -> WaypointError:
        """Return the error for a reply that does not fit; `what` says what came."""
        return self._kind.error(f"the {self._kind.name} at {self.url} answered {what}; check {self._kind.settings}")

    def _left_s(self, callbacks: Any) -> float:
        return 0.0 if self._breaker.state == "open" else left_s(callbacks)

    def _refused(self, response: httpx.Response) -> WaypointError:
        status = response.status_code
        suspect = self._kind.suspects.get(status, "the service, or try again")
        message = f"the {self._kind.name} at {self.url} answered {status}; check {suspect}"
        wait_s = retry_after_s(response.headers.get("retry-after"))
        if status == httpx.codes.TOO_MANY_REQUESTS:
            return self._kind.error(message, retry_after_s=wait_s, failure="rate_limited")
        if status in RETRYABLE or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return self._kind.error(message, retry_after_s=wait_s, failure="unavailable")
        return self._kind.error(message)
