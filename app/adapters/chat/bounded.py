"""HTTP clients whose read timeout holds for the whole reply, and whose replies have an end.

httpx times each read: a reply that drips in byte by byte never times out. Here the time of one read is what the whole
reply may take, from the sending of the request to its last byte.
"""

import time
from collections.abc import AsyncIterator, Iterator
from typing import cast

import httpx

MOST_BYTES = 4 * 1024 * 1024
# Hundreds of questions at once are streamed by one client; connections are kept for the next ones.
LIMITS = httpx.Limits(max_connections=1000, max_keepalive_connections=100)
CONNECT_S = 5.0


def client() -> httpx.Client:
    """Return a client for calls that block."""
    return httpx.Client(transport=_Transport(limits=LIMITS), follow_redirects=False)


def async_client() -> httpx.AsyncClient:
    """Return a client for calls that await."""
    return httpx.AsyncClient(transport=_AsyncTransport(limits=LIMITS), follow_redirects=False)


class _Bounds:
    """What is left of a reply's time and size."""

    def __init__(self, request: httpx.Request) -> None:
        timeout = dict(request.extensions.get("timeout") or {})
        seconds = timeout.get("read")
        self._request = request
        self._end = None if seconds is None else time.monotonic() + seconds
        self._bytes = 0
        if timeout.get("connect") is not None:
            request.extensions["timeout"] = timeout | {"connect": min(CONNECT_S, timeout["connect"])}

    def check(self, part: bytes) -> bytes:
        self._bytes += len(part)
        if self._end is not None and time.monotonic() > self._end:
            msg = "the reply took longer than it may"
            raise httpx.ReadTimeout(msg, request=self._request)
        if self._bytes > MOST_BYTES:
            msg = f"the reply is larger than {MOST_BYTES} bytes"
            raise httpx.DecodingError(msg, request=self._request)
        return part


class _Transport(httpx.HTTPTransport):
    def handle_request(self, request: httpx.Request) -> httpx.Response:
        bounds = _Bounds(request)
        response = super().handle_request(request)
        response.stream = _Stream(cast("httpx.SyncByteStream", response.stream), bounds)
        return response


class _AsyncTransport(httpx.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        bounds = _Bounds(request)
        response = await super().handle_async_request(request)
        response.stream = _AsyncStream(cast("httpx.AsyncByteStream", response.stream), bounds)
        return response


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
    def __init__(self, stream: httpx.AsyncByteStream, bounds: _Bounds) -> None:
        self._stream = stream
        self._bounds = bounds

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            yield self._bounds.check(part)

    async def aclose(self) -> None:
        await self._stream.aclose()
