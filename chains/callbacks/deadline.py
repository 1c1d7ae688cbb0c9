"""Limit how long one call may take, waits for models and retrievers included."""

import asyncio
import math
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager
from contextvars import Context, copy_context
from functools import partial
from queue import SimpleQueue
from typing import Any, TypeVar
from weakref import finalize

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langchain_core.runnables.config import merge_configs

from chains.callbacks.handlers import handlers_of, register
from chains.clock import Clock
from chains.errors import DeadlineError

OVERDUE = "the question took longer than it may; ask again, or raise timeout_s (LLM_TIMEOUT_S of the service)"

Item = TypeVar("Item")
Result = TypeVar("Result")


class Deadline(BaseCallbackHandler):
    """The time by which a call must end: `seconds` from now."""

    run_inline = True
    ignore_chain = ignore_llm = ignore_chat_model = ignore_retriever = ignore_agent = ignore_custom_event = True

    def __init__(self, seconds: float, clock: Clock) -> None:
        self.worker: Worker | None = None
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

    Python cannot stop a function that blocks, so one with a deadline runs in the call's worker thread, in a copy of the
    caller's context; the thread ends with the call, or with the function where that takes longer.
    """
    return _in_time(callbacks, copy_context(), function, *args)


def iterate_in_time(callbacks: Any, items: Iterator[Item]) -> Iterator[Item]:
    """Yield the items, and raise DeadlineError where one does not come in time. All of them come in one context."""
    end, context = object(), copy_context()
    while (item := _in_time(callbacks, context, next, items, end)) is not end:
        yield item


def _in_time(callbacks: Any, context: Context, function: Callable[..., Result], *args: Any) -> Result:
    left = check_time(callbacks)
    worker = None if left == math.inf else _worker_of(callbacks)
    if worker is None or worker.is_current():
        return function(*args)
    outcome = worker.submit(partial(context.run, function, *args))
    try:
        return outcome.result(left)
    except TimeoutError as error:
        if outcome.done():
            raise
        raise DeadlineError(OVERDUE) from error


def _worker_of(callbacks: Any) -> "Worker":
    """Return the worker of the call that `callbacks` belong to; it is closed when the call ends."""
    deadlines = handlers_of(callbacks, Deadline)
    used = next((one.worker for one in deadlines if one.worker and one.worker.is_current()), None)
    if used:
        return used
    deadline = deadlines[-1]
    if deadline.worker is None:
        deadline.worker = Worker()
        finalize(deadline, deadline.worker.close)
        register(callbacks, deadline.worker.close)
    return deadline.worker


class Worker:
    """A thread that runs one function after the other, until it is closed."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self._thread = threading.Thread(target=_work, args=(self._tasks,), name="deadline", daemon=True)
        self._thread.start()

    def is_current(self) -> bool:
        return threading.current_thread() is self._thread

    def submit(self, function: Callable[[], Result]) -> Future[Result]:
        """Have a function run, and return its result to come."""
        outcome = Future[Result]()
        self._tasks.put((outcome, function))
        return outcome

    def close(self) -> None:
        """End the thread, as soon as its function has ended."""
        self._tasks.put(None)


def _work(tasks: "SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]") -> None:
    while task := tasks.get():
        outcome, function = task
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)
        del task, outcome, function  # Nothing of the call outlives it here.
