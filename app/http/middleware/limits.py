"""Limit a request: size and time of its body, questions at the same time and in a period; drain the service."""

import asyncio
import json
import math
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, nullcontext, suppress
from ipaddress import IPv6Address, ip_address, ip_network
from typing import Any, Literal, NoReturn

from limits import RateLimitItem
from limits.aio.storage import MemoryStorage, Storage
from limits.aio.strategies import FixedWindowRateLimiter
from limits.errors import StorageError
from limits.util import WindowStats
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import Message, Receive

from app.http.errors import RequestRefusedError
from app.http.policy import KILOBYTE, MEGABYTE
from app.ports import MOST_MB
from chains.clock import Clock
from chains.logs import get_logger

log = get_logger(__name__)

# How long a client may take to send a body, or a piece of a streamed one.
BODY_TIMEOUT_S = 10
MAX_DEPTH = 32
BATCH_MAX = 10  # Questions of a request.
# A client that is still sending does not read a refusal: up to this size its bytes are read and dropped, and those of a
# streamed body up to so many times its limit.
DISCARD_BYTES, DISCARDED_TIMES = 256 * KILOBYTE, 4
STREAMED_BYTES = MOST_MB * MEGABYTE
_CLOSE = {"Connection": "close"}


async def bounded(headers: Headers, receive: Receive, max_bytes: int, discard_bytes: int = DISCARD_BYTES) -> Receive:
    """Return a channel that raises RequestRefusedError when the body is, or is said to be, too large, or stops."""
    length, size, more = headers.get("content-length", ""), 0, True
    declared = int(length) if length.isascii() and length.isdigit() else 0

    async def read() -> Message:
        nonlocal size, more
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
        return message

    async def refuse() -> NoReturn:
        with suppress(TimeoutError):
            async with asyncio.timeout(BODY_TIMEOUT_S):
                while more and size <= discard_bytes and declared <= discard_bytes:
                    await read()
        limit = f"{max_bytes // KILOBYTE} kB" if max_bytes < MEGABYTE else f"{max_bytes // MEGABYTE} MB"
        raise RequestRefusedError(413, f"The request is larger than {limit}; shorten it", _CLOSE)

    async def counted() -> Message:
        async with in_time() if more else nullcontext():
            message = await read()
        return await refuse() if size > max_bytes else message

    return await refuse() if declared > max_bytes else counted


@asynccontextmanager
async def in_time() -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            yield
    except TimeoutError:
        raise RequestRefusedError(408, f"The body did not arrive within {BODY_TIMEOUT_S:g} seconds", _CLOSE) from None


def replayed(body: bytes, receive: Receive) -> Receive:
    """Return a channel that returns the whole body first, then whatever `receive` returns."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return first.pop() if first else await receive()

    return replay


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


class Places:
    """Limits concurrent questions; further ones wait their turn, then get 503.

    A place is released when the answer is computed: what a client has not read yet waits in the connection's buffer
    (BoundedConnection), which disconnects a client that reads too slowly. A batch takes as many places as it has
    questions, or all; a request waits `queue_s` for its turn.
    """

    def __init__(self, *, at_once: int, queue_s: float) -> None:
        self.at_once = at_once
        self.queue_s = queue_s
        self._places = asyncio.Semaphore(at_once)
        self._front = asyncio.Lock()  # One request at a time acquires places, so that two batches cannot deadlock.

    @asynccontextmanager
    async def taken(self, count: int) -> AsyncIterator[None]:
        """Take so many places while the body runs. Raise RequestRefusedError if there was none in time."""
        async with AsyncExitStack() as places:
            if count:
                try:
                    async with asyncio.timeout(self.queue_s), self._front:
                        for _ in range(min(count, self.at_once)):
                            await places.enter_async_context(self._places)
                except TimeoutError:
                    msg = "Too many questions are being answered at the moment. Try again soon."
                    raise RequestRefusedError(503, msg, {"Retry-After": str(math.ceil(self.queue_s))}) from None
            yield


Phase = Literal["starting", "ready", "draining"]

RETRY_AFTER_S = 5


class InFlight:
    """The phase of the service, and the requests in progress."""

    def __init__(self) -> None:
        self.phase: Phase = "starting"
        self.running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def request(self, *, awaited: bool = True) -> Iterator[None]:
        """Count a request that a drain waits for while the body runs; RequestRefusedError if the service drains."""
        if self.phase == "draining":
            # A client on a kept connection has to open a new one, which leads to another process.
            headers = {"Retry-After": str(RETRY_AFTER_S), "Connection": "close"}
            raise RequestRefusedError(503, "The service is restarting. Try again in a few seconds.", headers)
        if not awaited:
            yield
            return
        self.running += 1
        self._idle.clear()
        try:
            yield
        finally:
            self.running -= 1
            if not self.running:
                self._idle.set()

    async def drain(self, timeout_s: float) -> None:
        """Refuse new requests, and return when the running ones have ended or the time is over."""
        self.phase = "draining"
        try:
            await asyncio.wait_for(self._idle.wait(), timeout_s)
        except TimeoutError:
            return


# After the shared storage failed, each process counts in memory for this long before it tries again.
RETRY_STORAGE_S = 5


class RateLimit:
    """Counts questions in fixed windows; a window starts with a caller's first question.

    A refused request costs nothing, so a smaller batch may still be answered in the same window. PDF pages are counted
    separately, at the same rate. `storage` raises StorageError on failure.
    """

    def __init__(self, rate: RateLimitItem, storage: Storage, *, clock: Clock | None = None) -> None:
        self.rate = rate
        self.shared = FixedWindowRateLimiter(storage)
        self.local = FixedWindowRateLimiter(MemoryStorage())
        self.clock = clock or Clock()
        self.retry_storage_at = -math.inf

    async def check(self, caller: str, questions: int, pages: str | None) -> dict[str, str]:
        """Count questions, or a page of these, and return headers of what is left; RequestRefusedError if too many."""
        # A page is shown by two requests: one for its picture, one for the places of the words.
        key, count = (f"{pages} of pages, {caller}", 1) if pages else (caller, questions)
        allowed, window = await self.count(key, count)
        wait_s = str(max(1, math.ceil(window.reset_time - time.time())))
        headers = {
            "RateLimit-Limit": str(self.rate.amount),
            "RateLimit-Remaining": str(max(0, window.remaining)),
            "RateLimit-Reset": wait_s,
        }
        if not allowed:
            name, multiples = self.rate.GRANULARITY.name, self.rate.multiples
            period = f"a {name}" if multiples == 1 else f"{multiples} {name}s"
            what = "pages" if pages else "questions"
            msg = f"More than {self.rate.amount} {what} in {period}; try again in {wait_s} seconds"
            raise RequestRefusedError(429, msg, {**headers, "Retry-After": wait_s})
        return headers

    async def count(self, caller: str, count: int) -> tuple[bool, WindowStats]:
        """Count a caller's questions; return whether they are allowed, and what is left until when."""
        if self.clock.now() >= self.retry_storage_at:
            try:
                return await self._hit(self.shared, caller, count)
            except StorageError as error:
                self.retry_storage_at = self.clock.now() + RETRY_STORAGE_S
                log.warning("rate_storage_failed", error=type(error.storage_error).__name__)
        return await self._hit(self.local, caller, count)

    async def _hit(self, limiter: FixedWindowRateLimiter, caller: str, count: int) -> tuple[bool, WindowStats]:
        # A hit counts even if it exceeds the rate, so a cost above one is tested first.
        fits = count == 1 or await limiter.test(self.rate, caller, cost=count)
        allowed = fits and await limiter.hit(self.rate, caller, cost=count)
        return allowed, await limiter.get_window_stats(self.rate, caller)


def caller_of(request: Request) -> str:
    """Return the key that a question is counted under: the user, else the address (for IPv6 the /64 network)."""
    identity = getattr(request.state, "identity", None)
    if identity is not None and identity.user_id is not None:
        return f"user:{identity.user_id}"
    host: Any = request.client.host if request.client else ""
    with suppress(ValueError):
        host = ip_address(host)
    if isinstance(host, IPv6Address):
        # A proxy may have sent `::ffff:192.0.2.7` for an IPv4 client; all of them share one /64.
        host = host.ipv4_mapped or ip_network((int(host), 64), strict=False)
    return f"address:{host}"
