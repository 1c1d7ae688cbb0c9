"""HTTP clients for services, and calls of services: time-outs, limits, retries, circuit breakers, mapped errors.

httpx times each read, so a reply that drips in byte by byte never times out. Here the read timeout is the time for the
whole reply, from sending the request to the last byte.

Replies are asked for uncompressed, because their size counts when they are read. A reply that is compressed anyway has
a lower limit, and one in an encoding without a limit to its growth is refused.
"""

import asyncio
import math
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import Any, TypeVar, cast

import httpx
from pydantic import BaseModel, SecretStr, ValidationError

from chains.callbacks import check_time, left_s
from chains.clock import Clock
from chains.errors import WaypointError
from chains.resilience import CircuitBreaker, RetryCounter, RetryPolicy, aretrying, retrying

MAX_BYTES = 4 * 1024 * 1024
# Deflate, also in gzip, grows by a factor of 1,032 at most; Zstandard and double compression have no limit.
DEFLATE_SHARE = 64
ENCODINGS = {"identity": 1, "gzip": DEFLATE_SHARE, "deflate": DEFLATE_SHARE}
UNCOMPRESSED = {"Accept-Encoding": "identity"}
LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=100)
# Requests in one pool: httpx looks through all connections of a pool whenever a request begins or ends.
POOL_SIZE = 8
CONNECT_TIMEOUT_S = 5.0
LONGEST_RETRY_AFTER_S = 86_400.0


def client(*, headers: dict[str, str] | None = None, max_bytes: int = MAX_BYTES) -> httpx.Client:
    return httpx.Client(transport=_Transport(max_bytes), headers=UNCOMPRESSED | (headers or {}), follow_redirects=False)


def async_client() -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=_AsyncTransport(), headers=UNCOMPRESSED, follow_redirects=False)


def retry_after_s(value: str | None) -> float | None:
    """Return the seconds that a `Retry-After` header asks to wait, a day at most (RFC 9110 10.2.3)."""
    try:
        seconds = float(value or "nan")
    except ValueError:
        try:
            seconds = (parsedate_to_datetime(value or "") - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return None
    return None if math.isnan(seconds) else min(max(0.0, seconds), LONGEST_RETRY_AFTER_S)


@cache
def _ssl_context() -> ssl.SSLContext:
    """Return the one context of the process: to read the certificates takes longer than to build the client."""
    return httpx.create_ssl_context()


class _ReplyLimits:
    """The time and the size that a reply may still take."""

    def __init__(self, request: httpx.Request, max_bytes: int = MAX_BYTES) -> None:
        timeout = dict(request.extensions.get("timeout") or {})
        seconds = timeout.get("read")
        self._request = request
        self._end = None if seconds is None else time.monotonic() + seconds
        self._bytes = 0
        self._max_bytes = max_bytes
        if timeout.get("connect") is not None:
            request.extensions["timeout"] = timeout | {"connect": min(CONNECT_TIMEOUT_S, timeout["connect"])}

    def start(self, response: httpx.Response) -> None:
        encoding = (response.headers.get("content-encoding") or "identity").strip().lower()
        self._max_bytes = self._max_bytes // ENCODINGS[encoding] if encoding in ENCODINGS else 0

    def check(self, part: bytes) -> bytes:
        self._bytes += len(part)
        if self._end is not None and time.monotonic() > self._end:
            raise httpx.ReadTimeout("the reply took longer than its time-out", request=self._request)
        if self._bytes > self._max_bytes:
            msg = f"the reply is larger than the {self._max_bytes} bytes allowed for its encoding"
            raise httpx.DecodingError(msg, request=self._request)
        return part


class _Transport(httpx.HTTPTransport):
    def __init__(self, max_bytes: int) -> None:
        super().__init__(limits=LIMITS, verify=_ssl_context())
        self._max_bytes = max_bytes

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        limits = _ReplyLimits(request, self._max_bytes)
        response = super().handle_request(request)
        limits.start(response)
        response.stream = _Stream(cast("httpx.SyncByteStream", response.stream), limits)
        return response


@dataclass(eq=False)
class _Stream(httpx.SyncByteStream):
    stream: httpx.SyncByteStream
    limits: _ReplyLimits

    def __iter__(self) -> Iterator[bytes]:
        yield from map(self.limits.check, self.stream)

    def close(self) -> None:
        self.stream.close()


class _AsyncTransport(httpx.AsyncBaseTransport):
    """As many small pools as needed; the first one with room takes the next request, and an idle one is closed.

    The first pool stays open with its idle connections. A task that is cancelled while httpcore closes a connection
    leaves that connection open for ever (anyio's shields do not stop `Task.cancel`). Therefore everything is closed in
    a task of its own, and a pool in which a request was cancelled gets no new one and is closed after its last.
    """

    def __init__(self) -> None:
        self._pools: list[_Pool] = []
        self._closing: set[asyncio.Future[None]] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        limits = _ReplyLimits(request)
        pool = next((pool for pool in self._pools if pool.busy < POOL_SIZE and not pool.cancelled), None)
        if pool is None:
            self._pools.append(pool := _Pool())
        pool.busy += 1
        try:
            response = await pool.handle_async_request(request)
        except BaseException as error:
            pool.cancelled |= isinstance(error, asyncio.CancelledError)
            await self.uninterrupted(self.release(pool))
            raise
        limits.start(response)
        response.stream = _AsyncStream(cast("httpx.AsyncByteStream", response.stream), limits, pool, self)
        return response

    async def aclose(self) -> None:
        for pool in tuple(self._pools):  # A stream that ends meanwhile removes its pool.
            await pool.aclose()
        await asyncio.gather(*self._closing, return_exceptions=True)

    async def release(self, pool: "_Pool") -> None:
        pool.busy -= 1
        if not pool.busy and (pool.cancelled or pool is not self._pools[0]):
            self._pools.remove(pool)
            await pool.aclose()

    async def uninterrupted(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._closing.add(task)  # The event loop holds tasks weakly.
        task.add_done_callback(self._closing.discard)
        await asyncio.shield(task)


class _Pool(httpx.AsyncHTTPTransport):
    def __init__(self) -> None:
        super().__init__(verify=_ssl_context(), limits=httpx.Limits(max_keepalive_connections=POOL_SIZE))
        self.busy = 0
        self.cancelled = False


@dataclass(eq=False)
class _AsyncStream(httpx.AsyncByteStream):
    stream: httpx.AsyncByteStream
    limits: _ReplyLimits
    pool: _Pool
    transport: _AsyncTransport

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self.stream:
                yield self.limits.check(part)
        except asyncio.CancelledError:
            self.pool.cancelled = True
            raise

    async def aclose(self) -> None:
        await self.transport.uninterrupted(self._close())

    async def _close(self) -> None:
        try:
            await self.stream.aclose()
        finally:
            await self.transport.release(self.pool)


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
    After five failures in a row the service is not called for a minute.
    """

    def __init__(
        self,
        kind: ServiceKind,
        base_url: str,
        *,
        api_key: SecretStr | None = None,
        timeout_s: float = 30,
        policy: RetryPolicy | None = None,
        clock: Clock | None = None,
    ) -> None:
        self.url = f"{base_url.rstrip('/')}{kind.path}"
        self._headers = {"Authorization": f"Bearer {api_key.get_secret_value()}"} if api_key else {}
        connection = {} if kind.keeps_connection else {"Connection": "close"}
        self._client, self._async_client = client(headers=connection, max_bytes=kind.max_bytes), async_client()
        self._kind, self._timeout_s = kind, timeout_s
        self._policy, self._clock = policy or RetryPolicy(), clock or Clock()
        self._breaker = CircuitBreaker(
            clock=self._clock, name=kind.name, open_error=partial(kind.error, failure="circuit_open")
        )
        self._succeeded_at = -math.inf

    def post(self, body: Mapping[str, Any], read: Read[T], callbacks: Any) -> T:
        """Send a request, and again where that may help, for as long as the question's time allows."""
        loop = retrying(self._policy, self._clock, lambda: self._left_s(callbacks), RetryCounter())
        result: T = loop(self.post_once, body, read, callbacks)
        return result

    async def apost(self, body: Mapping[str, Any], read: Read[T], callbacks: Any) -> T:
        async def attempt() -> T:
            with self.attempt(callbacks) as timeout_s:
                return read(await self._async_client.post(self.url, **self._request(body, timeout_s)))

        loop = aretrying(self._policy, self._clock, lambda: self._left_s(callbacks), RetryCounter())
        result: T = await loop(attempt)
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
