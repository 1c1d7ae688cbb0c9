"""The body of a request, as it comes in -> the whole body in one piece, or a refusal: too large, or too slow."""

import asyncio

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.problems import Problem, RequestRefusedError

MAX_BYTES = 10 * 1024
# A client that is still sending would not read the refusal; up to here it is listened to, then cut off.
PATIENCE_BYTES = 256 * 1024
_CLOSE = {"Connection": "close"}


class BoundedBody:
    """ASGI middleware that reads a body before anything works on it, counting its bytes as they come."""

    def __init__(self, app: ASGIApp, *, timeout_s: float, max_bytes: int = MAX_BYTES) -> None:
        self.app = app
        self.timeout_s = timeout_s
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its whole body, or refuse it."""
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            await self.app(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self.timeout_s):
                body = await self._read(Headers(scope=scope), receive)
        except TimeoutError:
            msg = f"The body did not arrive within {self.timeout_s:g} seconds"
            raise RequestRefusedError(Problem(408, "Request Timeout", msg), _CLOSE) from None
        if body is not None:
            await self.app(scope, replayed(body, receive), send)

    async def _read(self, headers: Headers, receive: Receive) -> bytes | None:
        """Return the body; None where the client left before its end."""
        if _declared(headers) > PATIENCE_BYTES:
            raise _too_large(self.max_bytes)
        body, size, more = bytearray(), 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            piece = message.get("body", b"")
            size, more = size + len(piece), message.get("more_body", False)
            if size <= self.max_bytes:
                body += piece
            if size > PATIENCE_BYTES:
                break
        if size > self.max_bytes:
            raise _too_large(self.max_bytes)
        return bytes(body)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a channel that gives the body first, and then what else happens."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay


def _declared(headers: Headers) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


def _too_large(max_bytes: int) -> RequestRefusedError:
    msg = f"The request is larger than {max_bytes // 1024} kB; shorten it"
    return RequestRefusedError(Problem(413, "Payload Too Large", msg), _CLOSE)
