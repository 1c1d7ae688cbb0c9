"""Wait until a condition holds, with a generous limit."""

import asyncio
from collections.abc import Callable

from benchmarks.processes import PATIENCE_S, wait_until

__all__ = ["PATIENCE_S", "await_until", "wait_until"]


async def await_until(holds: Callable[[], object]) -> None:
    """Return as soon as the condition holds, without blocking the event loop.

    Raises:
        TimeoutError: it does not hold after `PATIENCE_S`.
    """
    async with asyncio.timeout(PATIENCE_S):
        while not holds():  # noqa: ASYNC110 - nobody else knows what is waited for.
            await asyncio.sleep(0.005)
