"""Read and parse the body of a request once, within limits of size, time and depth."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext, suppress
from typing import Any, NoReturn

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

from app.http.errors import RequestRefusedError

# How long a client may take to send a body, or a piece of a streamed one.
BODY_TIMEOUT_S = 10
MAX_DEPTH = 32
MEGABYTE = 2**20
# A client that is still sending does not read a refusal: up to this size its bytes are read and dropped.
DISCARD_BYTES = 256 * 1024
DISCARDED_TIMES = 4
_CLOSE = {"Connection": "close"}


async def read_body(headers: Headers, receive: Receive, max_bytes: int) -> bytes:
    """Return the body; RequestRefusedError if it is too large or too slow, ClientDisconnect if the client left."""
    if _declared_length(headers) > DISCARD_BYTES:
        raise _too_large(max_bytes)
    body, size, more = bytearray(), 0, True
    async with _in_time():
        while more and size <= DISCARD_BYTES:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            piece, more = message.get("body", b""), message.get("more_body", False)
            size += len(piece)
            body += piece if size <= max_bytes else b""
    if size > max_bytes:
        raise _too_large(max_bytes)
    return bytes(body)


async def streamed_body(headers: Headers, receive: Receive, max_bytes: int) -> Receive:
    """Return a channel that raises RequestRefusedError when the body is, or is said to be, too large, or stops."""
    if _declared_length(headers) > max_bytes:
        await _refuse_streamed(receive, max_bytes)
    size, more = 0, True

    async def counted() -> Message:
        nonlocal size, more
        async with _in_time() if more else nullcontext():
            message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        if size > max_bytes:
            await _refuse_streamed(receive, max_bytes, more=more)
        return message

    return counted


async def _refuse_streamed(receive: Receive, max_bytes: int, *, more: bool = True) -> NoReturn:
    """Read and drop what the client still sends, up to four times the limit, then refuse the body."""
    left = DISCARDED_TIMES * max_bytes
    with suppress(TimeoutError):
        async with asyncio.timeout(BODY_TIMEOUT_S):
            while more and left > 0:
                message = await receive()
                left, more = left - len(message.get("body", b"")), message.get("more_body", False)
    raise _too_large(max_bytes)


@asynccontextmanager
async def _in_time() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            yield
    except TimeoutError:
        msg = f"The body did not arrive within {BODY_TIMEOUT_S:g} seconds"
        raise RequestRefusedError(408, msg, _CLOSE) from None


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
    """Return the JSON of a body; RequestRefusedError if not UTF-8, with NaN or half a surrogate pair, or too deep."""
    try:
        value = json.loads(body.decode("utf-8-sig"))  # From bytes, json would accept UTF-16 and UTF-32 as well.
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise RequestRefusedError(400, "The body must be a JSON object in UTF-8") from None
    depth, level = 0, [value]
    while level := [
        inner
        for outer in level
        if isinstance(outer, dict | list)
        for inner in (outer.values() if isinstance(outer, dict) else outer)
    ]:
        depth += 1
    if depth > MAX_DEPTH:
        raise RequestRefusedError(400, f"The body is nested deeper than {MAX_DEPTH} levels")
    return value
