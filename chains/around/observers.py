"""Notify observers of every call of a chain: when it starts, and what came of it."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol
from uuid import UUID, uuid4

from langchain_core.runnables import ensure_config

from chains.around.runnable import Around, Invocation
from chains.around.side_steps import side_step
from chains.documents.audience import Audience, audience_in
from chains.output import merge
from chains.state import Answer

LEFT = (asyncio.CancelledError, GeneratorExit)
"""What ends a call whose client goes away; nothing has failed."""


@dataclass
class Call:
    """One call of the chain.

    Attributes:
        question: The question with its options.
        metadata: The metadata of the call's config: `request_id`, `user_id`, `session_id` and the like.
        audience: Which documents its caller sees.
        streamed: Whether the answer was streamed.
        answer: The whole answer; None while the call runs, and where it failed or the client left.
        error: What ended the call early; a client that leaves is a cancellation or GeneratorExit.
        seconds: How long the call took, including the reader's pauses in a stream.
        id: Identifies the call where there is no `request_id`.
    """

    question: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    audience: Audience = "internal"
    streamed: bool = False
    answer: Answer | None = None
    error: BaseException | None = None
    seconds: float = 0.0
    id: UUID = field(default_factory=uuid4)


class Observer(Protocol):
    """Is notified of the calls of a chain. It must not block; its exceptions are logged and do not reach the caller."""

    def started(self, call: Call, /) -> None:
        """Handle the start of a call."""

    def ended(self, call: Call, /) -> None:
        """Handle the end of a call: `answer` or `error` is set."""


@dataclass(eq=False, repr=False)
class ObservedRunnable(Around):
    """The `bound` chain, with observers of its calls."""

    observers: Sequence[Observer]
    clock: Callable[[], float] = field(default=time.perf_counter, kw_only=True)

    def parts(self, call: Invocation) -> Iterator[Any]:
        with self._watch(call) as parts:
            for part in call.ask(call.question):
                parts.append(part)
                yield part

    async def aparts(self, call: Invocation) -> AsyncIterator[Any]:
        with self._watch(call) as parts:
            async for part in call.aask(call.question):
                parts.append(part)
                yield part

    @contextmanager
    def _watch(self, invocation: Invocation) -> Iterator[list[Any]]:
        """Report the call whose parts the body collects."""
        question, parts = invocation.question, list[Any]()
        asked = question if isinstance(question, Mapping) else {"question": question}
        config = ensure_config(invocation.config)
        call = Call(dict(asked), dict(config.get("metadata") or {}), audience_in(config), invocation.streamed)
        started = self.clock()
        self._notify("started", call)
        try:
            yield parts
            call.answer = merge(parts)
        except BaseException as error:
            call.error = error
            raise
        finally:
            call.seconds = self.clock() - started
            self._notify("ended", call)

    def _notify(self, event: str, call: Call) -> None:
        for observer in self.observers:
            with side_step(type(observer).__name__):
                getattr(observer, event)(call)
