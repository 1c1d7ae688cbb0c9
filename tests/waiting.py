"""A condition -> a wait until it holds, with a limit that only what is broken reaches."""

import time
from collections.abc import Callable

LIMIT_S = 30.0


def wait_until(holds: Callable[[], bool], *, limit_s: float = LIMIT_S) -> None:
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
