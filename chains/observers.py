"""Tell observers of every call of a chain: when it starts, and what came of it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID, uuid4

from langchain_core.runnables import Runnable, RunnableConfig, ensure_config

from chains.delegating import DelegatingRunnable
from chains.logs import get_logger
from chains.output import merge
from chains.state import Answer, Question

log = get_logger(__name__)

LEFT = (asyncio.CancelledError, GeneratorExit)
"""What ends a call whose client goes away; nothing has failed."""


@dataclass
class Call:
    """One call of the chain.

    Attributes:
        question: The question with its options.
        metadata: The metadata of the call's config: `request_id`, `user_id`, `session_id` and the like.
        streamed: Whether the answer was streamed.
        answer: The whole answer; None while the call runs, and where it failed or the client left.
        error: What ended the call early; a client that leaves is a cancellation or GeneratorExit.
        seconds: How long the call took, including the reader's pauses in a stream.
        id: Identifies the call where there is no `request_id`.
    """

    question: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    streamed: bool = False
    answer: Answer | None = None
    error: BaseException | None = None
    seconds: float = 0.0
    id: UUID = field(default_factory=uuid4)


class Observer(Protocol):
    """Is told of the calls of a chain. It must not block; its exceptions are logged and do not reach the caller."""

    def started(self, call: Call, /) -> None:
        """Handle the start of a call."""

    def ended(self, call: Call, /) -> None:
        """Handle the end of a call: `answer` or `error` is set."""


class ObservedRunnable(DelegatingRunnable):
    """The `bound` chain, with observers of its calls."""

    def __init__(
        self,
        bound: Runnable[Question, Answer],
        observers: Sequence[Observer],
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(bound)
        self.observers = tuple(observers)
        self.clock = clock

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        with self._watch(input, config) as call:
            call.answer = self.bound.invoke(input, config, **kwargs)
        return call.answer

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        """Return the answer."""
        with self._watch(input, config) as call:
            call.answer = await self.bound.ainvoke(input, config, **kwargs)
        return call.answer

    def stream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        """Yield the answer's parts as they come."""
        with self._watch(input, config, streamed=True) as call:
            parts = []
            for part in self.bound.stream(input, config, **kwargs):
                parts.append(part)
                yield part
            call.answer = merge(parts)

    async def astream(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> AsyncIterator[Any]:
        """Yield the answer's parts as they come."""
        with self._watch(input, config, streamed=True) as call:
            parts = []
            async for part in self.bound.astream(input, config, **kwargs):
                parts.append(part)
                yield part
            call.answer = merge(parts)

    @contextmanager
    def _watch(self, question: Any, config: RunnableConfig | None, *, streamed: bool = False) -> Iterator[Call]:
        asked = question if isinstance(question, Mapping) else {"question": question}
        call = Call(dict(asked), dict(ensure_config(config).get("metadata") or {}), streamed)
        started = self.clock()
        self._tell("started", call)
        try:
            yield call
        except BaseException as error:
            call.error = error
            raise
        finally:
            call.seconds = self.clock() - started
            self._tell("ended", call)

    def _tell(self, event: str, call: Call) -> None:
        for observer in self.observers:
            try:
                getattr(observer, event)(call)
            except Exception as error:  # An observer must not break an answer.
                log.warning("observer_failed", observer=type(observer).__name__, error=type(error).__name__)


def observed(chain: Runnable[Question, Answer], observers: Sequence[Observer]) -> Runnable[Question, Answer]:
    """Return the chain with its observers, or the chain itself where there are none."""
    return ObservedRunnable(chain, observers) if observers else chain
