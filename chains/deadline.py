"""A call and how long it may take -> the time that is left, for whoever has to wait in it.

Like the lap timer it is a callback handler that is made anew for each call: what travels in the callbacks reaches every
step in every way of calling, and nothing of one call reaches another.
"""

import math
from collections.abc import Iterable
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler

from chains.clock import Clock
from chains.errors import DeadlineError

OVERDUE = "the question took longer than it may; ask again, or raise REQUEST_TIMEOUT_S"


class Deadline(BaseCallbackHandler):
    """The time by which a call has to be done: `seconds` from now, by the clock."""

    run_inline = True

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._clock = clock
        self._end = clock.now() + seconds

    def left_s(self) -> float:
        """Return the seconds that are left, 0 or more."""
        return max(0.0, self._end - self._clock.now())


def left_s(callbacks: Any) -> float:
    """Return the seconds left to the call that `callbacks` (a manager or a list) belong to; inf without an end."""
    handlers: Iterable[Any] = getattr(callbacks, "handlers", None) or (callbacks if isinstance(callbacks, list) else ())
    return min((handler.left_s() for handler in handlers if isinstance(handler, Deadline)), default=math.inf)


def check_time(callbacks: Any) -> float:
    """Return the seconds that are left.

    Raises:
        DeadlineError: none are.
    """
    left = left_s(callbacks)
    if left <= 0:
        raise DeadlineError(OVERDUE)
    return left
