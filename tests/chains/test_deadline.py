"""`timeout_s` holds for parts that know nothing of it."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.retrievers import BaseRetriever

from chains.callbacks import Deadline, call_in_time, iterate_in_time, time_limit
from chains.errors import DeadlineError
from tests.chains.gst import ANSWER, DOCUMENT, gst_chain
from tests.clocks import StoppedClock
from tests.streams import asked
from tests.waiting import PATIENCE_S

WAYS = ["invoke", "ainvoke", "stream", "astream"]
TIMEOUT_S = 0.05


class Hanging(BaseRetriever):
    """A retriever that answers when it is let go, and not before."""

    until: Any

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
        self.until.wait()
        return [DOCUMENT]


class Stuck(BaseChatModel):
    """A model that says `words` and goes on when it is let go."""

    until: Any
    words: int = 0

    @property
    def _llm_type(self) -> str:
        return "stuck"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        self.until.wait()
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content="late"))])

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        for _ in range(self.words):
            yield ChatGenerationChunk(message=AIMessageChunk(content="word "))
        self.until.wait()

    async def _agenerate(self, *args: Any, **kwargs: Any) -> ChatResult:
        await asyncio.Event().wait()
        raise AssertionError

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        for _ in range(self.words):
            yield ChatGenerationChunk(message=AIMessageChunk(content="word "))
        await asyncio.Event().wait()


async def call(chain: Any, way: str, until: threading.Event) -> None:
    try:
        await asked(chain, way)
    finally:
        until.set()


HANGING: dict[str, Any] = {
    "retriever": lambda until: {"retriever": Hanging(until=until)},
    "model": lambda until: {"model": Stuck(until=until)},
    "model in its answer": lambda until: {"model": Stuck(until=until, words=3)},
}


@pytest.mark.parametrize(
    ("part", "way"), [(part, way) for part in HANGING for way in (WAYS[2:] if "in its answer" in part else WAYS)]
)
async def test_a_part_that_hangs_ends_the_call(part, way):
    until = threading.Event()
    with pytest.raises(DeadlineError, match="took longer than it may"):
        await call(gst_chain(timeout_s=TIMEOUT_S, **HANGING[part](until)), way, until)


class Shelf(BaseRetriever):
    """A retriever over a database of its maker's thread, as sqlite3 and scoped sessions of a web framework are."""

    database: Any
    seen: list[Any] = []

    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> list[Any]:
        self.seen.append((threading.current_thread(), CALLER.get()))
        return [DOCUMENT] if self.database is None else [DOCUMENT for _ in self.database.execute("SELECT 1")]


class Writing(BaseChatModel):
    """A model that writes many tokens, and sets a variable of its context as a tracer does."""

    seen: list[Any] = []

    @property
    def _llm_type(self) -> str:
        return "writing"

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        self.seen.append((threading.current_thread(), CALLER.get()))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=ANSWER))])

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        token = CALLER.set("model")
        for number in range(400):
            yield ChatGenerationChunk(message=AIMessageChunk(content=ANSWER if number == 0 else " "))
        CALLER.reset(token)
        self.seen.append((threading.current_thread(), CALLER.get()))


CALLER: ContextVar[str] = ContextVar("caller", default="nobody")


@pytest.fixture
def started(monkeypatch) -> list[threading.Thread]:
    """Return the threads that are started from now on."""
    threads: list[threading.Thread] = []
    start = threading.Thread.start

    def noting(thread: threading.Thread) -> None:
        threads.append(thread)
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", noting)
    return threads


@pytest.mark.parametrize("way", ["invoke", "stream"])
@pytest.mark.parametrize(("timeout_s", "threads"), [(None, 0), (30, 1)])
async def test_a_synchronous_call_starts_no_thread_and_with_a_deadline_one(way, timeout_s, threads, started):
    retriever = Shelf(database=None if timeout_s else sqlite3.connect(":memory:"), seen=[])
    model = Writing(seen=[])
    token = CALLER.set("test")
    try:
        await call(gst_chain(retriever=retriever, model=model, timeout_s=timeout_s), way, threading.Event())
    finally:
        CALLER.reset(token)

    assert len(started) == threads
    (searched, asker), (wrote, writer) = *retriever.seen, *model.seen
    assert (asker, writer) == ("test", "test")
    assert searched is wrote is (started[0] if threads else threading.current_thread())
    for thread in started:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()


def within(seconds: float) -> Any:
    return [Deadline(seconds, StoppedClock())]


def fail() -> None:
    raise TimeoutError


async def test_a_part_that_is_too_late_is_not_begun():
    with pytest.raises(DeadlineError):
        call_in_time(within(0), fail)
    with pytest.raises(DeadlineError):
        async with time_limit(within(0)):
            raise AssertionError


async def test_a_timeout_of_a_parts_own_stays_what_it_is():
    with pytest.raises(TimeoutError):
        call_in_time(within(30), fail)
    with pytest.raises(TimeoutError):
        async with time_limit(within(30)):
            fail()


def test_without_a_deadline_a_part_is_called_in_its_callers_thread():
    assert call_in_time([], threading.current_thread) is threading.current_thread()
    assert list(iterate_in_time(within(30), iter([1, 2]))) == [1, 2]
