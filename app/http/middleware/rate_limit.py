"""Limit the questions and PDF pages of a caller in a period: 429 with Retry-After."""

import math
import time
from ipaddress import IPv6Address, ip_address, ip_network

from limits import RateLimitItem
from limits.aio.storage import MemoryStorage, Storage
from limits.aio.strategies import FixedWindowRateLimiter
from limits.errors import StorageError
from limits.util import WindowStats
from starlette.requests import Request

from app.http.errors import RequestRefusedError
from chains.clock import Clock, SystemClock
from chains.logs import get_logger

log = get_logger(__name__)

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
        self.clock = clock or SystemClock()
        self.retry_storage_at = -math.inf

    async def check(self, caller: str, questions: int, pages: str | None) -> dict[str, str]:
        """Count a caller's questions, or one page of these; return the headers that say what is left until when.

        Raises:
            RequestRefusedError: it is too many.
        """
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
                return await _hit(self.shared, self.rate, caller, count)
            except StorageError as error:
                self.retry_storage_at = self.clock.now() + RETRY_STORAGE_S
                log.warning("rate_storage_failed", error=type(error.storage_error).__name__)
        return await _hit(self.local, self.rate, caller, count)


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
