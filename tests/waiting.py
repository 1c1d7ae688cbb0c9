"""Wait until a condition holds, with a generous limit."""

import asyncio
import time
from collections.abc import Callable

LIMIT_S = 30.0


def wait_until(holds: Callable[[], object], *, limit_s: float = LIMIT_S) -> None:
    """Return as soon as the condition holds.

    Raises:
        TimeoutError: it does not hold after `limit_s`.
    """
    deadline = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > deadline:
            msg = f"the condition did not hold within {limit_s:g} s"
            raise TimeoutError(msg)
        time.sleep(0.005)


async def await_until(holds: Callable[[], object], *, limit_s: float = LIMIT_S) -> None:
    """Return as soon as the condition holds, without blocking the event loop.

    Raises:
        TimeoutError: it does not hold after `limit_s`.
    """
    async with asyncio.timeout(limit_s):
        while not holds():  # noqa: ASYNC110 - nobody else knows what is waited for.
            await asyncio.sleep(0.005)
