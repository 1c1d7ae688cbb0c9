"""Callback events -> the lap time of each stage, in milliseconds.

A lap runs from the end of the stage before to the end of this one: together they are the whole time, and right also
where LangChain's own sequence opens all stages of a stream at once.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig


class Laps(BaseCallbackHandler):
    """Times one call of the chain; `clock` returns seconds."""

    run_inline = True  # Two clock readings: not worth a thread for each event.

    def __init__(self, stages: Sequence[str], *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._stages = frozenset(stages)
        self._clock = clock
        self._started: float | None = None
        self._last = 0.0
        self.run_id: UUID | None = None
        self._names: dict[UUID, str] = {}
        self.laps_ms: dict[str, float] = {}

    def on_chain_start(self, serialized: dict[str, Any], inputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Start the clock at the first event, which is the chain's own; remember which run is which stage."""
        if self._started is None:
            self._started = self._last = self._clock()
            self.run_id = run_id
        name = kwargs.get("name")
        if name in self._stages:
            self._names[run_id] = name

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Close the lap of a stage."""
        name = self._names.pop(run_id, None)
        if name is not None:
            now = self._clock()
            self.laps_ms[name] = round(1000 * (now - self._last), 3)
            self._last = now

    def elapsed_ms(self) -> float:
        """Return the milliseconds since the chain started."""
        return 0.0 if self._started is None else round(1000 * (self._clock() - self._started), 3)


def laps_of(config: RunnableConfig) -> Laps | None:
    """Return the lap timer of the call that `config` belongs to."""
    handlers = getattr(config.get("callbacks"), "handlers", None) or []
    # The innermost chain's timer is the last that was added.
    return next((handler for handler in reversed(handlers) if isinstance(handler, Laps)), None)
