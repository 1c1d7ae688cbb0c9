"""The callback handler of one call: how long its stages took, which caches answered, and what to stop at its end."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeVar, get_args
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import ensure_config

Handler = TypeVar("Handler", bound=BaseCallbackHandler)


def handlers_of(callbacks: Any, kind: type[Handler]) -> list[Handler]:
    """Return the handlers of `kind` in `callbacks`, a manager, a list or None; those of the outermost chain first."""
    handlers: Sequence[Any] = getattr(callbacks, "handlers", callbacks) or ()
    return [handler for handler in handlers if isinstance(handler, kind)]


LevelName = Literal["embedding", "retrieval", "answer"]
LEVELS: tuple[LevelName, ...] = get_args(LevelName)


class CallRecord(BaseCallbackHandler):
    """Records one call of a chain; a chain within has a record of its own.

    Args:
        stages: the steps whose times are taken: those of the chain's own run.
        clock: returns seconds.
    """

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
        """Return the hit at the highest level, which spared the levels below it."""
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
