"""Callback handlers of one call: which caches answered, how long the stages took, and what to stop at its end."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Literal, TypeVar, get_args
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig, ensure_config

Handler = TypeVar("Handler", bound=BaseCallbackHandler)


def handlers_of(callbacks: Any, kind: type[Handler]) -> list[Handler]:
    """Return the handlers of `kind` in `callbacks`, a manager, a list or None; those of the outermost chain first."""
    handlers: Sequence[Any] = getattr(callbacks, "handlers", callbacks) or ()
    return [handler for handler in handlers if isinstance(handler, kind)]


def innermost(callbacks: Any, kind: type[Handler]) -> Handler | None:
    """Return the handler of `kind` that belongs to the innermost chain, which is the last one added."""
    found = handlers_of(callbacks, kind)
    return found[-1] if found else None


LevelName = Literal["embedding", "retrieval", "answer"]
LEVELS: tuple[LevelName, ...] = get_args(LevelName)


class CacheHits(BaseCallbackHandler):
    """The first lookup of one call at each level; a later hit on what the call itself stored saved nothing."""

    run_inline = True
    ignore_chain = ignore_llm = ignore_chat_model = ignore_retriever = ignore_agent = ignore_custom_event = True

    def __init__(self) -> None:
        self.found: dict[LevelName, bool] = {}


def note(level: LevelName, found: bool) -> None:
    """Remember whether the running call found something; LangChain keeps the running config in a context variable."""
    hits = innermost(ensure_config().get("callbacks"), CacheHits)
    if hits:
        hits.found.setdefault(level, found)


def furthest_hit(config: RunnableConfig) -> LevelName | None:
    """Return the hit at the highest level, which spared the levels below it."""
    hits = innermost(config.get("callbacks"), CacheHits)
    return next((level for level in reversed(LEVELS) if hits and hits.found.get(level)), None)


class StageTimer(BaseCallbackHandler):
    """Times the named stages of one call, those of its own run and of no chain within; `clock` returns seconds."""

    run_inline = True  # Two clock readings are not worth a thread for each event.
    ignore_llm = ignore_chat_model = ignore_retriever = True

    def __init__(self, stages: Sequence[str], *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._stages = frozenset(stages)
        self._clock = clock
        self._started: float | None = None
        self._lap_started = 0.0
        self._names: dict[UUID, str] = {}
        self._sequence: UUID | None = None  # The run that the stages are children of.
        self.run_id: UUID | None = None
        self.laps_ms: dict[str, float] = {}

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
        name = self._names.pop(run_id, None)
        if name is not None:
            now = self._clock()
            lap_ms = 1000 * (now - self._lap_started)
            self.laps_ms[name] = round(self.laps_ms.get(name, 0.0) + lap_ms, 3)  # Two stages may have one name.
            self._lap_started = now

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Forget the sequence that has failed: a retry runs another."""
        if run_id == self._sequence:
            self._sequence = None

    def elapsed_ms(self) -> float:
        return 0.0 if self._started is None else round(1000 * (self._clock() - self._started), 3)


def stage_timer_of(config: RunnableConfig) -> StageTimer | None:
    """Return the stage timer of the call that `config` belongs to."""
    return innermost(config.get("callbacks"), StageTimer)


class StreamCleanup(BaseCallbackHandler):
    """Calls what was registered when the run of the chain ends, however it ends."""

    run_inline = True
    ignore_llm = ignore_chat_model = ignore_retriever = True

    def __init__(self) -> None:
        self._root: UUID | None = None
        self._stops: list[Callable[[], object]] = []

    def register(self, stop: Callable[[], object]) -> None:
        """Have `stop` called at the end."""
        self._stops.append(stop)

    def on_chain_start(self, serialized: dict[str, Any], inputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Remember the first run, which is the chain's own."""
        self._root = self._root or run_id

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Stop what is still open when the chain has ended; a reader who leaves a `stream` ends it."""
        self._stop(run_id)

    def on_chain_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:
        """Stop what is still open when the chain has failed; a reader who leaves an `astream` breaks it off."""
        self._stop(run_id)

    def _stop(self, run_id: UUID) -> None:
        if run_id != self._root:
            return
        for stop in self._stops:
            with suppress(RuntimeError, ValueError):  # A generator that is running cannot be closed from outside.
                stop()


def register(callbacks: Any, stop: Callable[[], object]) -> None:
    """Have `stop` called at the end of the call that `callbacks` belong to."""
    cleanup = innermost(callbacks, StreamCleanup)
    if cleanup:
        cleanup.register(stop)
