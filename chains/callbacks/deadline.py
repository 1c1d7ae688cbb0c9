"""Limit how long one call may take, waits for models and retrievers included."""

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from contextvars import copy_context
from typing import Any, TypeVar

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from chains.callbacks.lookup import handlers_of
from chains.clock import Clock
from chains.errors import DeadlineError

OVERDUE = "the question took longer than it may; ask again, or raise REQUEST_TIMEOUT_S"

Item = TypeVar("Item")
Result = TypeVar("Result")


class Deadline(BaseCallbackHandler):
    """The time by which a call must end: `seconds` from now."""

    run_inline = True
    ignore_chain = ignore_llm = ignore_chat_model = ignore_retriever = ignore_agent = ignore_custom_event = True

    def __init__(self, seconds: float, clock: Clock) -> None:
        self._clock = clock
        self._end = clock.now() + seconds

    def left_s(self) -> float:
        """Return the seconds that are left, 0 or more."""
        return max(0.0, self._end - self._clock.now())


def left_s(callbacks: Any) -> float:
    """Return the seconds left to the call that `callbacks` (a manager or a list) belong to; inf without a deadline."""
    return min((deadline.left_s() for deadline in handlers_of(callbacks, Deadline)), default=math.inf)


def within(deadline: Deadline, config: RunnableConfig | None) -> RunnableConfig:
    """Return the config with a deadline of its own beside the call's, for parts that keep one."""
    return merge_configs(config or {}, {"callbacks": [deadline]})


def check_time(callbacks: Any) -> float:
    """Return the seconds that are left.

    Raises:
        DeadlineError: the time is over.
    """
    left = left_s(callbacks)
    if left <= 0:
        raise DeadlineError(OVERDUE)
    return left


@asynccontextmanager
async def time_limit(callbacks: Any) -> AsyncIterator[None]:
    """Cancel the body when the time of the call is over, and raise DeadlineError."""
    left = check_time(callbacks)
    try:
        async with asyncio.timeout(left if left < math.inf else None) as limit:
            yield
    except TimeoutError as error:
        if not limit.expired():
            raise
        raise DeadlineError(OVERDUE) from error


def call_in_time(callbacks: Any, function: Callable[..., Result], *args: Any) -> Result:
    """Return what the function returns, or raise DeadlineError when the time of the call is over.

    The function runs in a thread of its own, for Python cannot stop one that blocks; the thread ends with the function.
    """
    left = check_time(callbacks)
    if left == math.inf:
        return function(*args)
    context, outcome = copy_context(), Future[Result]()

    def run() -> None:
        try:
            outcome.set_result(context.run(function, *args))
        except BaseException as error:
            outcome.set_exception(error)

    threading.Thread(target=run, name="deadline", daemon=True).start()
    try:
        return outcome.result(left)
    except TimeoutError as error:
        if outcome.done():
            raise
        raise DeadlineError(OVERDUE) from error


def iterate_in_time(callbacks: Any, items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items, and raise DeadlineError where one does not come in time."""
    end = object()
    while (item := call_in_time(callbacks, next, items, end)) is not end:
        yield item
