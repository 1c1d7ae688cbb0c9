"""`timeout_s` holds for parts that know nothing of it."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.retrievers import BaseRetriever

from chains.callbacks import Deadline
from chains.callbacks.deadline import call_in_time, iterate_in_time, time_limit
from chains.errors import DeadlineError
from tests.chains.gst import DOCUMENT, QUESTION, gst_chain
from tests.clocks import StoppedClock

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
        match way:
            case "invoke":
                chain.invoke(QUESTION)
            case "ainvoke":
                await chain.ainvoke(QUESTION)
            case "stream":
                list(chain.stream(QUESTION))
            case "astream":
                [part async for part in chain.astream(QUESTION)]
    finally:
        until.set()


@pytest.mark.parametrize("way", WAYS)
async def test_a_retriever_that_hangs_ends_the_call(way):
    retriever = Hanging(until=threading.Event())
    with pytest.raises(DeadlineError, match="took longer than it may"):
        await call(gst_chain(retriever=retriever, timeout_s=TIMEOUT_S), way, retriever.until)


@pytest.mark.parametrize("way", WAYS)
async def test_a_model_that_hangs_ends_the_call(way):
    model = Stuck(until=threading.Event())
    with pytest.raises(DeadlineError, match="took longer than it may"):
        await call(gst_chain(model=model, timeout_s=TIMEOUT_S), way, model.until)


@pytest.mark.parametrize("way", ["stream", "astream"])
async def test_a_model_that_hangs_in_the_middle_of_its_answer_ends_the_call(way):
    model = Stuck(until=threading.Event(), words=3)
    with pytest.raises(DeadlineError, match="took longer than it may"):
        await call(gst_chain(model=model, timeout_s=TIMEOUT_S), way, model.until)


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
