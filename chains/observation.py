"""A chain and who watches it -> the same chain; its observers are told of every call, whichever way it was made."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID, uuid4

import structlog
from langchain_core.runnables import Runnable, RunnableConfig, ensure_config

from chains.delegating import DelegatingRunnable
from chains.output import merge
from chains.state import Answer, Question

log = structlog.get_logger(__name__)

LEFT = (asyncio.CancelledError, GeneratorExit)
"""What breaks a call off when its client goes away: nothing failed."""


@dataclass
class Call:
    """One call of the chain: what was asked, by whom, and what came of it.

    Attributes:
        question: The question as it was asked, options and all.
        metadata: The metadata of the call's config: `request_id`, `user_id`, `session_id` and the like.
        streamed: Whether the answer was taken in pieces.
        answer: The whole answer; None while the call runs, and where it failed or was left.
        error: What broke the call off; a client that leaves is a cancellation or GeneratorExit.
        seconds: How long the call took; the reader's pauses count in a stream.
        id: What its beginning and its end have in common where no `request_id` says so.
    """

    question: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    streamed: bool = False
    answer: Answer | None = None
    error: BaseException | None = None
    seconds: float = 0.0
    id: UUID = field(default_factory=uuid4)


class Observer(Protocol):
    """Is told of the calls of a chain. It must not block, and what it raises is logged and goes no further."""

    def started(self, call: Call, /) -> None:
        """Take note that a question came in; nothing is done for it yet."""

    def ended(self, call: Call, /) -> None:
        """Take note of the end: `answer` or `error` is set."""


class Observed(DelegatingRunnable):
    """The `bound` chain, every call of which its observers are told of."""

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
    def _watch(
        self, question: Mapping[str, Any], config: RunnableConfig | None, *, streamed: bool = False
    ) -> Iterator[Call]:
        call = Call(dict(question), dict(ensure_config(config).get("metadata") or {}), streamed)
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
            except Exception as error:  # Whoever watches must not break an answer.
                log.warning("observer_failed", observer=type(observer).__name__, error=type(error).__name__)


def observed(chain: Runnable[Question, Answer], observers: Sequence[Observer]) -> Runnable[Question, Answer]:
    """Return the chain with its observers, or the chain itself where there are none."""
    return Observed(chain, observers) if observers else chain
