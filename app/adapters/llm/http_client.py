"""HTTP clients whose read timeout holds for the whole reply, and whose replies have an end.

httpx times each read: a reply that drips in byte by byte never times out. Here the time of one read is what the whole
reply may take, from the sending of the request to its last byte.

Replies are asked for uncompressed, since what counts is their size when they are read. One that is compressed all the
same has a narrower bound, and one that is compressed in a way whose growth has none is not read.
"""

import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from functools import partial
from typing import cast

import httpx

MOST_BYTES = 4 * 1024 * 1024
# Deflate, which is gzip's method too, grows 1,032-fold at most.
MOST_DEFLATED_BYTES = MOST_BYTES // 64
# By content encoding. Zstandard grows without such a limit, and so does what is compressed twice.
MOST = {"identity": MOST_BYTES, "gzip": MOST_DEFLATED_BYTES, "deflate": MOST_DEFLATED_BYTES}
PLAIN = {"Accept-Encoding": "identity"}
LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=100)
# The connections of a pool: httpx looks through all of them whenever a request begins or ends.
POOL = 8
CONNECT_S = 5.0


def client() -> httpx.Client:
    """Return a client for calls that block."""
    return httpx.Client(transport=_Transport(limits=LIMITS), headers=PLAIN, follow_redirects=False)


def async_client() -> httpx.AsyncClient:
    """Return a client for calls that await."""
    return httpx.AsyncClient(transport=_Pools(), headers=PLAIN, follow_redirects=False)


class _Bounds:
    """What is left of a reply's time and size."""

    def __init__(self, request: httpx.Request) -> None:
        timeout = dict(request.extensions.get("timeout") or {})
        seconds = timeout.get("read")
        self._request = request
        self._end = None if seconds is None else time.monotonic() + seconds
        self._bytes = 0
        self._most = MOST_BYTES
        if timeout.get("connect") is not None:
            request.extensions["timeout"] = timeout | {"connect": min(CONNECT_S, timeout["connect"])}

    def narrow(self, response: httpx.Response) -> None:
        """Take the bound of the response's content encoding."""
        encoding = response.headers.get("content-encoding") or "identity"
        self._most = MOST.get(encoding.strip().lower(), 0)

    def check(self, part: bytes) -> bytes:
        self._bytes += len(part)
        if self._end is not None and time.monotonic() > self._end:
            msg = "the reply took longer than it may"
            raise httpx.ReadTimeout(msg, request=self._request)
        if self._bytes > self._most:
            msg = f"the reply is larger than the {self._most} bytes that its encoding may have"
            raise httpx.DecodingError(msg, request=self._request)
        return part


class _Transport(httpx.HTTPTransport):
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        bounds = _Bounds(request)
        response = super().handle_request(request)
        bounds.narrow(response)
        response.stream = _Stream(cast("httpx.SyncByteStream", response.stream), bounds)
        return response


class _Pools(httpx.AsyncBaseTransport):
    """As many small pools as there is work for; the first that has room takes the next request.

    Of those that have nothing more to do the first stays, with the connections that it keeps.
    """

    def __init__(self) -> None:
        self._ssl = httpx.create_ssl_context()
        self._pools: list[_Pool] = []

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        bounds, pool = _Bounds(request), self._roomy()
        pool.busy += 1
        try:
            response = await pool.handle_async_request(request)
        except BaseException:
            await self._release(pool)
            raise
        bounds.narrow(response)
        stream = cast("httpx.AsyncByteStream", response.stream)
        response.stream = _AsyncStream(stream, bounds, partial(self._release, pool))
        return response

    async def aclose(self) -> None:
        for pool in tuple(self._pools):  # A stream that ends meanwhile takes its pool out.
            await pool.aclose()

    async def _release(self, pool: "_Pool") -> None:
        pool.busy -= 1
        if not pool.busy and pool is not self._pools[0]:
            self._pools.remove(pool)
            await pool.aclose()

    def _roomy(self) -> "_Pool":
        for pool in self._pools:
            if pool.busy < POOL:
                return pool
        self._pools.append(_Pool(self._ssl))
        return self._pools[-1]


class _Pool(httpx.AsyncHTTPTransport):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(verify=context, limits=httpx.Limits(max_keepalive_connections=POOL))
        self.busy = 0


class _Stream(httpx.SyncByteStream):
    def __init__(self, stream: httpx.SyncByteStream, bounds: _Bounds) -> None:
        self._stream = stream
        self._bounds = bounds

    def __iter__(self) -> Iterator[bytes]:
        for part in self._stream:
            yield self._bounds.check(part)

    def close(self) -> None:
        self._stream.close()


class _AsyncStream(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, bounds: _Bounds, release: Callable[[], Awaitable[None]]) -> None:
        self._stream = stream
        self._bounds = bounds
        self._release: Callable[[], Awaitable[None]] | None = release

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield self._bounds.check(part)

    async def aclose(self) -> None:
        release, self._release = self._release, None
        try:
            await self._stream.aclose()
        finally:
            if release is not None:
                await release()
