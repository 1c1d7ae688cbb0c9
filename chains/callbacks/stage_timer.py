"""Time the stages of one call, in milliseconds.

A lap runs from the end of one stage to the end of the next, so the laps add up to the whole time; the scope gate's time
counts with the stage behind it.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig

from chains.callbacks.lookup import innermost


class StageTimer(BaseCallbackHandler):
    """Times the named stages of one call; `clock` returns seconds."""

    run_inline = True  # Two clock readings are not worth a thread for each event.
    ignore_llm = ignore_chat_model = ignore_retriever = True

    def __init__(self, stages: Sequence[str], *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._stages = frozenset(stages)
        self._clock = clock
        self._started: float | None = None
        self._lap_started = 0.0
        self._names: dict[UUID, str] = {}
        self.run_id: UUID | None = None
        self.laps_ms: dict[str, float] = {}

    def on_chain_start(self, serialized: dict[str, Any], inputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """Start the clock at the first event, the chain's own; remember which run is which stage."""
        if self._started is None:
            self._started = self._lap_started = self._clock()
            self.run_id = run_id
        name = kwargs.get("name")
        if name in self._stages:
            self._names[run_id] = name

    def on_chain_end(self, outputs: Any, *, run_id: UUID, **kwargs: Any) -> None:
        """End the lap of a stage."""
        name = self._names.pop(run_id, None)
        if name is not None:
            now = self._clock()
            self.laps_ms[name] = round(1000 * (now - self._lap_started), 3)
            self._lap_started = now

    def elapsed_ms(self) -> float:
        """Return the milliseconds since the chain started."""
        return 0.0 if self._started is None else round(1000 * (self._clock() - self._started), 3)


def stage_timer_of(config: RunnableConfig) -> StageTimer | None:
    """Return the stage timer of the call that `config` belongs to."""
    return innermost(config.get("callbacks"), StageTimer)
