"""Wait until a condition holds, with a generous limit."""

import asyncio
from collections.abc import Callable

from benchmarks.processes import LIMIT_S, wait_until

__all__ = ["await_until", "wait_until"]


async def await_until(holds: Callable[[], object], *, limit_s: float = LIMIT_S) -> None:
    """Return as soon as the condition holds, without blocking the event loop.

    Raises:
        TimeoutError: it does not hold after `limit_s`.
    """
    async with asyncio.timeout(limit_s):
        while not holds():  # noqa: ASYNC110 - nobody else knows what is waited for.
            await asyncio.sleep(0.005)
