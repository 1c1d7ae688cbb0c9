"""HTTP clients for model services: a time-out for the whole reply, a limit on its size, and no forgotten connection.

httpx times each read, so a reply that drips in byte by byte never times out. Here the read timeout is the time for the
whole reply, from sending the request to the last byte.

Replies are asked for uncompressed, because their size counts when they are read. A reply that is compressed anyway has
a lower limit, and one in an encoding without a limit to its growth is refused.
"""

import asyncio
import math
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import cast

import httpx

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
        """Apply the limit of the response's content encoding."""
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
        self._ssl = _ssl_context()
        self._pools: list[_Pool] = []
        self._closing: set[asyncio.Future[None]] = set()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        limits = _ReplyLimits(request)
        pool = next((pool for pool in self._pools if pool.busy < POOL_SIZE and not pool.cancelled), None)
        if pool is None:
            self._pools.append(pool := _Pool(self._ssl))
        pool.busy += 1
        try:
            response = await pool.handle_async_request(request)
        except BaseException as error:
            pool.cancelled |= isinstance(error, asyncio.CancelledError)
            await self._uninterrupted(self._release(pool))
            raise
        limits.start(response)
        stream = cast("httpx.AsyncByteStream", response.stream)
        response.stream = _AsyncStream(stream, limits, pool, partial(self._close_stream, stream, pool))
        return response

    async def aclose(self) -> None:
        for pool in tuple(self._pools):  # A stream that ends meanwhile removes its pool.
            await pool.aclose()
        await asyncio.gather(*self._closing, return_exceptions=True)

    async def _close_stream(self, stream: httpx.AsyncByteStream, pool: "_Pool") -> None:
        async def close() -> None:
            try:
                await stream.aclose()
            finally:
                await self._release(pool)

        await self._uninterrupted(close())

    async def _release(self, pool: "_Pool") -> None:
        pool.busy -= 1
        if not pool.busy and (pool.cancelled or pool is not self._pools[0]):
            self._pools.remove(pool)
            await pool.aclose()

    async def _uninterrupted(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._closing.add(task)  # The event loop holds tasks weakly.
        task.add_done_callback(self._closing.discard)
        await asyncio.shield(task)


class _Pool(httpx.AsyncHTTPTransport):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(verify=context, limits=httpx.Limits(max_keepalive_connections=POOL_SIZE))
        self.busy = 0
        self.cancelled = False


@dataclass(eq=False)
class _AsyncStream(httpx.AsyncByteStream):
    stream: httpx.AsyncByteStream
    limits: _ReplyLimits
    pool: _Pool
    close: Callable[[], Awaitable[None]] | None

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self.stream:
                yield self.limits.check(part)
        except asyncio.CancelledError:
            self.pool.cancelled = True
            raise

    async def aclose(self) -> None:
        close, self.close = self.close, None
        if close is not None:
            await close()
