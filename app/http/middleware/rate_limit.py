"""Limit the questions and PDF pages of a caller in a period: 429 with Retry-After."""

import math
import time
from ipaddress import IPv6Address, ip_address, ip_network

from limits import RateLimitItem
from limits.aio.storage import MemoryStorage, Storage
from limits.aio.strategies import FixedWindowRateLimiter
from limits.errors import StorageError
from limits.util import WindowStats
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.errors import RequestRefusedError
from app.http.policy import pdf_pages_of
from chains.clock import Clock, SystemClock
from chains.logs import get_logger

log = get_logger(__name__)

# After the shared storage failed, each process counts in memory for this long before it tries again.
RETRY_STORAGE_S = 5


class RateLimit:
    """ASGI middleware that counts questions in fixed windows; a window starts with a caller's first question.

    A refused request costs nothing, so a smaller batch may still be answered in the same window. PDF pages are counted
    separately, at the same rate.

    Args:
        app: The application behind it.
        rate: How many questions in how long.
        storage: Where they are counted; it raises StorageError on failure.
        clock: Measures how long a failed storage is not tried again.
    """

    def __init__(self, app: ASGIApp, *, rate: RateLimitItem, storage: Storage, clock: Clock | None = None) -> None:
        self.app = app
        self.rate = rate
        self.shared = FixedWindowRateLimiter(storage)
        self.local = FixedWindowRateLimiter(MemoryStorage())
        self.clock = clock or SystemClock()
        self.retry_storage_at = -math.inf

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope) if scope["type"] == "http" else None
        pages = pdf_pages_of(scope)
        count: int = 1 if pages else getattr(request.state, "questions", 0) if request else 0
        if request is None or count == 0:
            await self.app(scope, receive, send)
            return
        caller = caller_of(request)
        # A page is shown by two requests: one for its picture, one for the places of the words.
        allowed, window = await self.count(f"{pages} of pages, {caller}" if pages else caller, count)
        headers = self._headers(window)
        if not allowed:
            wait_s, what = headers["RateLimit-Reset"], "pages" if pages else "questions"
            msg = f"More than {self.rate.amount} {what} in {self._period()}; try again in {wait_s} seconds"
            raise RequestRefusedError(429, msg, {**headers, "Retry-After": wait_s})
        await self.app(scope, receive, _with_headers(headers, send))

    async def count(self, caller: str, count: int) -> tuple[bool, WindowStats]:
        """Count a caller's questions; return whether they are allowed, and what is left until when."""
        if self.clock.now() >= self.retry_storage_at:
            try:
                return await _hit(self.shared, self.rate, caller, count)
            except StorageError as error:
                self.retry_storage_at = self.clock.now() + RETRY_STORAGE_S
                log.warning("rate_storage_failed", error=type(error.storage_error).__name__)
        return await _hit(self.local, self.rate, caller, count)

    def _period(self) -> str:
        name = self.rate.GRANULARITY.name
        return f"a {name}" if self.rate.multiples == 1 else f"{self.rate.multiples} {name}s"

    def _headers(self, window: WindowStats) -> dict[str, str]:
        reset_s = max(1, math.ceil(window.reset_time - time.time()))
        return {
            "RateLimit-Limit": str(self.rate.amount),
            "RateLimit-Remaining": str(max(0, window.remaining)),
            "RateLimit-Reset": str(reset_s),
        }


async def _hit(
    limiter: FixedWindowRateLimiter, rate: RateLimitItem, caller: str, count: int
) -> tuple[bool, WindowStats]:
    # A hit counts even if it exceeds the rate, so a cost above one is tested first.
    allowed = (count == 1 or await limiter.test(rate, caller, cost=count)) and await limiter.hit(
        rate, caller, cost=count
    )
    return allowed, await limiter.get_window_stats(rate, caller)


def caller_of(request: Request) -> str:
    """Return the key that a question is counted under: the user, else the address (for IPv6 the /64 network)."""
    identity = getattr(request.state, "identity", None)
    if identity is not None and identity.user_id is not None:
        return f"user:{identity.user_id}"
    host = request.client.host if request.client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return f"address:{host}"
    if isinstance(address, IPv6Address):
        # A proxy may have sent `::ffff:192.0.2.7` for an IPv4 client; all of them share one /64.
        return f"address:{address.ipv4_mapped or ip_network((int(address), 64), strict=False)}"
    return f"address:{address}"


def _with_headers(headers: dict[str, str], send: Send) -> Send:
    async def add(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(headers)
        await send(message)

    return add
