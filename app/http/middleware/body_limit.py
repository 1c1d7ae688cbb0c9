"""Read and parse the body of a request once, within limits of size, time, depth and number of questions."""

import asyncio
import json
from contextlib import suppress
from typing import Any, NoReturn

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.errors import RequestRefusedError
from app.http.policy import policy_of

MAX_DEPTH = 32
MEGABYTE = 2**20
# A client that is still sending does not read a refusal: up to this size its bytes are read and dropped.
DISCARD_BYTES = 256 * 1024
DISCARDED_TIMES = 4
_CLOSE = {"Connection": "close"}


class BodyLimit:
    """ASGI middleware that reads the whole body and puts its JSON value into `request.state.json`.

    Args:
        app: The application behind it.
        timeout_s: How long the client may take to send the body.
        streamed_bytes: How large a streamed body may be; then `timeout_s` is the time of each piece.
    """

    def __init__(self, app: ASGIApp, *, timeout_s: float, streamed_bytes: int) -> None:
        self.app = app
        self.streamed_bytes = streamed_bytes
        self.timeout_s = timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in {"GET", "HEAD", "OPTIONS"}:
            await self.app(scope, receive, send)
            return
        if is_streamed(scope):
            if _declared_length(Headers(scope=scope)) > self.streamed_bytes:
                await self._refuse_streamed(receive)
            await self.app(scope, self._counted(receive), send)
            return
        try:
            async with asyncio.timeout(self.timeout_s):
                body = await _read(Headers(scope=scope), receive, policy_of(scope).body_bytes)
        except TimeoutError:
            raise self._too_slow() from None
        if body is None:
            return
        if body and scope["method"] == "POST":
            Request(scope).state.json = parse_json(body)
        await self.app(scope, replayed(body, receive), send)

    def _counted(self, receive: Receive) -> Receive:
        """Return a channel that raises an error when the body is too large or stops arriving."""
        size, more = 0, True

        async def counted() -> Message:
            nonlocal size, more
            try:
                async with asyncio.timeout(self.timeout_s if more else None):
                    message = await receive()
            except TimeoutError:
                raise self._too_slow() from None
            size, more = size + len(message.get("body", b"")), message.get("more_body", False)
            if size > self.streamed_bytes:
                await self._refuse_streamed(receive, more=more)
            return message

        return counted

    async def _refuse_streamed(self, receive: Receive, *, more: bool = True) -> NoReturn:
        """Read and drop what the client still sends, up to four times the limit, then refuse the body."""
        left = DISCARDED_TIMES * self.streamed_bytes
        with suppress(TimeoutError):
            async with asyncio.timeout(self.timeout_s):
                while more and left > 0:
                    message = await receive()
                    left, more = left - len(message.get("body", b"")), message.get("more_body", False)
        raise _too_large(self.streamed_bytes)

    def _too_slow(self) -> RequestRefusedError:
        msg = f"The body did not arrive within {self.timeout_s:g} seconds"
        return RequestRefusedError(408, msg, _CLOSE)


def is_streamed(scope: Scope) -> bool:
    """Return whether a request's route reads the body piece by piece."""
    return scope["type"] == "http" and scope["method"] == "POST" and policy_of(scope).streamed


async def _read(headers: Headers, receive: Receive, max_bytes: int) -> bytes | None:
    """Return the body; None if the client left before its end."""
    if _declared_length(headers) > DISCARD_BYTES:
        raise _too_large(max_bytes)
    body, size, more = bytearray(), 0, True
    while more and size <= DISCARD_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        piece = message.get("body", b"")
        size, more = size + len(piece), message.get("more_body", False)
        if size <= max_bytes:
            body += piece
    if size > max_bytes:
        raise _too_large(max_bytes)
    return bytes(body)


def _too_large(max_bytes: int) -> RequestRefusedError:
    size = f"{max_bytes // 1024} kB" if max_bytes < MEGABYTE else f"{max_bytes // MEGABYTE} MB"
    msg = f"The request is larger than {size}; shorten it"
    return RequestRefusedError(413, msg, _CLOSE)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a channel that returns the whole body first, then whatever `receive` returns."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay


def _declared_length(headers: Headers) -> int:
    length = headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdigit() else 0


def parse_json(body: bytes) -> Any:
    """Return the JSON value of a body, checked so that every response that repeats it can be encoded.

    Raises:
        RequestRefusedError: it is not UTF-8 JSON, contains NaN or an unpaired surrogate, or is nested too deeply.
    """
    try:
        value = json.loads(body.decode("utf-8-sig"))  # From bytes, json would accept UTF-16 and UTF-32 as well.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise RequestRefusedError(400, "The body must be a JSON object in UTF-8") from None
    if _depth(value) > MAX_DEPTH:
        raise RequestRefusedError(400, f"The body is nested deeper than {MAX_DEPTH} levels")
    return value


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [inner for outer in level for inner in _children(outer)]:
        depth += 1
    return depth


def _children(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


class BatchLimit:
    """ASGI middleware that puts the number of questions into `request.state.questions`, and refuses large batches."""

    def __init__(self, app: ASGIApp, *, batch_max: int) -> None:
        self.app = app
        self.batch_max = batch_max

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "POST":
            state = Request(scope).state
            state.questions = policy_of(scope).questions(getattr(state, "json", None))
            if state.questions > self.batch_max:
                msg = f"The batch has {state.questions} questions; at most {self.batch_max} are allowed"
                raise RequestRefusedError(422, msg)
        await self.app(scope, receive, send)
