"""A condition -> the moment it holds: tests wait for what happens, and not for a time."""

import time
from collections.abc import Callable

LIMIT_S = 30


def until(holds: Callable[[], object]) -> None:
    """Return as soon as `holds()` does; fail where it has not within half a minute."""
    deadline = time.monotonic() + LIMIT_S
    while not holds():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.005)
