"""The callback handlers that each call of the chain gets anew: its record, and its deadline.

A handler travels with the callbacks of its call: it reaches every step in every way of calling, and no other call.
"""

import asyncio
import math
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager, suppress
from contextvars import Context, copy_context
from dataclasses import dataclass
from functools import partial
from queue import SimpleQueue
from typing import Any, Literal, TypeVar, get_args
from uuid import UUID
from weakref import finalize

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config
from langchain_core.runnables.config import merge_configs

from chains.clock import Clock
from chains.errors import DeadlineError
from chains.logs import get_logger

log = get_logger(__name__)

Handler = TypeVar("Handler", bound=BaseCallbackHandler)


def handlers_of(callbacks: Any, kind: type[Handler]) -> list[Handler]:
    """Return the handlers of `kind` in `callbacks`, a manager, a list or None; those of the outermost chain first."""
    handlers: Sequence[Any] = getattr(callbacks, "handlers", callbacks) or ()
    return [handler for handler in handlers if isinstance(handler, kind)]


LevelName = Literal["embedding", "retrieval", "answer"]
LEVELS: tuple[LevelName, ...] = get_args(LevelName)


class CallRecord(BaseCallbackHandler):
    """Records one call of a chain, with the times of its own `stages`; a chain within has a record of its own."""

    run_inline = True  # Two clock readings are not worth a thread for each event.
    ignore_llm = ignore_chat_model = ignore_retriever = ignore_agent = ignore_custom_event = True

    def __init__(self, stages: Sequence[str] = (), *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._stages = frozenset(stages)
        self._clock = clock
        self._started: float | None = None
        self._lap_started = 0.0
        self._names: dict[UUID, str] = {}
        self._sequence: UUID | None = None  # The run that the stages are children of.
        self.run_id: UUID | None = None
        self.laps_ms: dict[str, float] = {}
        self.hits: dict[LevelName, bool] = {}
        self.stops: list[Callable[[], object]] = []

    def on_chain_start(
        self, serialized: dict[str, Any], inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        """Start the clock at the first event, the chain's own; remember which run is which stage."""
        if self._started is None:
            self._started = self._lap_started = self._clock()
            self.run_id = run_id
        name = kwargs.get("name")
        if name in self._stages:
            self._sequence = self._sequence or parent_run_id  # Of a chain that is retried, its run is within another.
            if parent_run_id == self._sequence:
                self._names[run_id] = name

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Take the time of a stage; a reader who leaves a `stream` ends the chain."""
        name = self._names.pop(run_id, None)
        if name is not None:
            now = self._clock()
            lap_ms = 1000 * (now - self._lap_started)
            self.laps_ms[name] = round(self.laps_ms.get(name, 0.0) + lap_ms, 3)  # Two stages may have one name.
            self._lap_started = now
        self._stop(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget the sequence that has failed: a retry runs another; a reader who leaves an `astream` breaks it off."""
        if run_id == self._sequence:
            self._sequence = None
        self._stop(run_id)

    def _stop(self, run_id: UUID) -> None:
        """Stop what is still open if the chain's own run has ended."""
        for stop in self.stops if run_id == self.run_id else ():
            with suppress(RuntimeError, ValueError):  # A generator that is running cannot be closed from outside.
                stop()

    def elapsed_ms(self) -> float:
        return 0.0 if self._started is None else round(1000 * (self._clock() - self._started), 3)

    def furthest_hit(self) -> LevelName | None:
        return next((level for level in reversed(LEVELS) if self.hits.get(level)), None)


def record_of(callbacks: Any) -> CallRecord | None:
    """Return the record of the innermost chain that `callbacks` belong to, which is the last one added."""
    return next(iter(handlers_of(callbacks, CallRecord)[-1:]), None)


def note(level: LevelName, found: bool) -> None:
    """Remember the first lookup of the running call at a level; a later hit on what it has stored itself saves nothing.

    LangChain keeps the running config in a context variable.
    """
    if record := record_of(ensure_config().get("callbacks")):
        record.hits.setdefault(level, found)


def register(callbacks: Any, stop: Callable[[], object]) -> None:
    """Have `stop` called at the end of the call that `callbacks` belong to, however it ends."""
    if record := record_of(callbacks):
        record.stops.append(stop)


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
        return max(0.0, self._end - self._clock.now())


def left_s(callbacks: Any) -> float:
    """Return the seconds left to the call that `callbacks` (a manager or a list) belong to; inf without a deadline."""
    return min((deadline.left_s() for deadline in handlers_of(callbacks, Deadline)), default=math.inf)


def check_time(callbacks: Any) -> float:
    """Return the seconds that are left; DeadlineError where the time is over."""
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
    """Run the function in the worker of the call, which is closed when the call ends; in that itself, at once."""
    left, deadlines = check_time(callbacks), handlers_of(callbacks, Deadline)
    if left == math.inf or any(one.worker and one.worker.thread is threading.current_thread() for one in deadlines):
        return function(*args)
    deadline = deadlines[-1]
    if deadline.worker is None:
        deadline.worker = Worker()
        finalize(deadline, deadline.worker.close)
        register(callbacks, deadline.worker.close)
    outcome = deadline.worker.submit(partial(context.run, function, *args))
    try:
        return outcome.result(left)
    except TimeoutError as error:
        if outcome.done():
            raise
        raise DeadlineError(OVERDUE) from error


@dataclass(frozen=True)
class Limited:
    """Asks a Runnable within a time of its own beside the call's; its failure is logged as `event`, and gives None."""

    runnable: Runnable[Any, Any]
    timeout_s: float
    clock: Clock
    event: str

    def invoke(self, given: Any, config: RunnableConfig | None) -> Any:
        with self._limited(config) as (deadline, own):
            return call_in_time([deadline], self.runnable.invoke, given, own)
        return None

    async def ainvoke(self, given: Any, config: RunnableConfig | None) -> Any:
        with self._limited(config) as (deadline, own):
            async with time_limit([deadline]):
                return await self.runnable.ainvoke(given, own)
        return None

    @contextmanager
    def _limited(self, config: RunnableConfig | None) -> Iterator[tuple[Deadline, RunnableConfig]]:
        deadline = Deadline(self.timeout_s, self.clock)
        try:
            yield deadline, merge_configs(config or {}, {"callbacks": [deadline]})
        except Exception as error:  # Anything may be handed in, and none of its errors may cost the answer.
            log.warning(self.event, error=type(error).__name__)


class Worker:
    """A thread that runs one function after the other, until it is closed."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None] = SimpleQueue()
        self.thread = threading.Thread(target=_work, args=(self._tasks,), name="deadline", daemon=True)
        self.thread.start()

    def submit(self, function: Callable[[], Result]) -> Future[Result]:
        outcome = Future[Result]()
        self._tasks.put((outcome, function))
        return outcome

    def close(self) -> None:
        self._tasks.put(None)


def _work(tasks: "SimpleQueue[tuple[Future[Any], Callable[[], Any]] | None]") -> None:
    while task := tasks.get():
        outcome, function = task
        try:
            outcome.set_result(function())
        except BaseException as error:
            outcome.set_exception(error)
        del task, outcome, function  # Nothing of the call outlives it here.
