"""Call a service over HTTP: a time-out, retries, a circuit breaker, and errors that name the setting to check."""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import httpx
from pydantic import BaseModel, SecretStr, ValidationError

from app.adapters.http_client import MAX_BYTES, async_client, client, retry_after_s
from chains.callbacks import check_time, left_s
from chains.clock import Clock, SystemClock
from chains.errors import WaypointError
from chains.resilience import CircuitBreaker, RetryCounter, RetryPolicy, aretrying, retrying

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Read = Callable[[httpx.Response], T]  # It calls `raise_for_status`, and checks the reply.
RETRYABLE = {httpx.codes.REQUEST_TIMEOUT, httpx.codes.CONFLICT}


@dataclass(frozen=True, kw_only=True, slots=True)
class ServiceKind:
    """What a kind of service is called, the settings with its address, key and model, and the error of its calls.

    `path` follows its base URL. `unreadable` is what a reply is called that cannot be decoded; the error's `failure`
    says why, where the service did not refuse. A health check sends no request if the last one succeeded within
    `recent_s`. With `keeps_connection` calls that block go over one connection; else each has its own.
    """

    name: str
    path: str
    address: str
    key: str
    model: str = ""
    unreadable: str
    error: type[WaypointError]
    recent_s: float = 30.0
    keeps_connection: bool = False
    max_bytes: int = MAX_BYTES

    @property
    def settings(self) -> str:
        """What to check when a reply does not fit."""
        return f"{self.address} and {self.model}" if self.model else self.address


class ServiceCalls:
    """Calls the service of a kind at `base_url` by POST, with JSON.

    `api_key` is sent as bearer token. `timeout_s` is the most that one attempt may take, to the last byte of the reply.
    After `breaker_failures` in a row the service is not called for a minute.
    """

    def __init__(
        self,
        kind: ServiceKind,
        base_url: str,
        *,
        api_key: SecretStr | None = None,
        timeout_s: float = 30,
        policy: RetryPolicy | None = None,
        breaker_failures: int = 5,
        clock: Clock | None = None,
    ) -> None:
        self.url = f"{base_url.rstrip('/')}{kind.path}"
        self._headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"} if api_key else {}
        connection = {} if kind.keeps_connection else {"Connection": "close"}
        self._client, self._async_client = client(headers=connection, max_bytes=kind.max_bytes), async_client()
        self._kind, self._timeout_s = kind, timeout_s
        self._policy, self._clock = policy or RetryPolicy(), clock or SystemClock()
        self._breaker = CircuitBreaker(
            clock=self._clock,
            name=kind.name,
            failures=breaker_failures,
            open_error=partial(kind.error, failure="circuit_open"),
        )
        self._retries = RetryCounter()
        self._succeeded_at = -math.inf

    def post(self, body: Mapping[str, Any], read: Read[T], callbacks: Any) -> T:
        """Send a request, and again where that may help, for as long as the question's time allows."""
        loop = retrying(self._policy, self._clock, lambda: self._left_s(callbacks), self._retries)
        result: T = loop(self.post_once, body, read, callbacks)
        return result

    async def apost(self, body: Mapping[str, Any], read: Read[T], callbacks: Any) -> T:
        async def attempt() -> T:
            with self.attempt(callbacks) as timeout_s:
                return read(await self._async_client.post(self.url, **self._request(body, timeout_s)))

        result: T = await aretrying(self._policy, self._clock, lambda: self._left_s(callbacks), self._retries)(attempt)
        return result

    def post_once(self, body: Mapping[str, Any], read: Read[T], callbacks: Any = None) -> T:
        with self.attempt(callbacks) as timeout_s:
            return read(self._client.post(self.url, **self._request(body, timeout_s)))

    def reply(self, response: httpx.Response, form: type[M]) -> M:
        """Return a reply by its form; whatever else came is an error."""
        response.raise_for_status()
        try:
            return form.model_validate_json(response.content)
        except ValidationError as error:
            raise self.misfit(self._kind.unreadable) from error

    async def aclose(self) -> None:
        """Close the connections; the service cannot be asked any more."""
        self._client.close()
        await self._async_client.aclose()

    @contextmanager
    def attempt(self, callbacks: Any) -> Iterator[float]:
        """Guard one attempt: give the seconds it may take, and turn httpx's errors into those of the service's kind.

        The body sends the request and reads the reply. It succeeded if it raises nothing.
        Raise an error of the service's kind; DeadlineError if the question's time is used up.
        """
        try:
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
        except WaypointError:
            self._succeeded_at = -math.inf  # What is known of it is over: the next health check asks.
            raise
        self._succeeded_at = self._clock.now()

    def check(self, body: Mapping[str, Any], read: Read[Any]) -> None:
        """Send a request, unless one succeeded lately and the circuit is closed; errors are those of an attempt."""
        is_recent = self._clock.now() - self._succeeded_at < self._kind.recent_s
        if not is_recent or self._breaker.state != "closed":
            self.post_once(body, read)

    def misfit(self, what: str) -> WaypointError:
        """Return the error for a reply that does not fit; `what` says what came."""
        return self._kind.error(f"the {self._kind.name} at {self.url} answered {what}; check {self._kind.settings}")

    def _request(self, body: Mapping[str, Any], timeout_s: float) -> dict[str, Any]:
        return {"json": body, "headers": self._headers, "timeout": timeout_s}

    def _left_s(self, callbacks: Any) -> float:
        return 0.0 if self._breaker.state == "open" else left_s(callbacks)

    def _refused(self, response: httpx.Response) -> WaypointError:
        status, kind = response.status_code, self._kind
        suspect = {400: kind.model, 401: kind.key, 403: kind.key, 404: kind.settings}.get(status)
        message = f"the {kind.name} at {self.url} answered {status}; check {suspect or 'the service, or try again'}"
        wait_s = retry_after_s(response.headers.get("retry-after"))
        if status == httpx.codes.TOO_MANY_REQUESTS:
            return self._kind.error(message, retry_after_s=wait_s, failure="rate_limited")
        if status in RETRYABLE or status >= httpx.codes.INTERNAL_SERVER_ERROR:
            return self._kind.error(message, retry_after_s=wait_s, failure="unavailable")
        return self._kind.error(message)
