"""A reader who leaves a stream stops the generation: on the real client, against a server that would go on for ever."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessageChunk
from langchain_core.outputs import ChatGenerationChunk

from app.settings import load_settings
from app.wiring.llm import providers
from chains.around import ObservedRunnable
from chains.citations import CiteSources
from chains.clock import Clock
from chains.generation.resilient import ResilientChatModel
from tests.chains.gst import QUESTION, gst_chain
from tests.waiting import PATIENCE_S


class Endless:
    """A Groq server that writes a few words and then keeps the connection; it notices when the client has gone."""

    def __init__(self) -> None:
        self.opened = 0
        self.closed = asyncio.Condition()
        self.gone = 0
        self.asked = asyncio.Event()

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        await reader.readuntil(b"\r\n\r\n")
        self.asked.set()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        for word in range(4):
            choice = {"index": 0, "delta": {"content": f"word{word} "}, "finish_reason": None}
            event = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
            writer.write(f"data: {json.dumps(event)}\n\n".encode())
        try:
            while await reader.read(1000):
                pass
        except ConnectionError:
            pass
        writer.close()
        async with self.closed:
            self.gone += 1
            self.closed.notify_all()

    async def all_gone(self) -> bool:
        async with self.closed:
            await asyncio.wait_for(self.closed.wait_for(lambda: self.gone == self.opened), PATIENCE_S)
        return self.opened > 0


@pytest.fixture
async def endless() -> AsyncIterator[tuple[Endless, Any]]:
    script = Endless()
    server = await asyncio.start_server(script.answer, "127.0.0.1", 0)
    settings = load_settings(
        llm_api_key="gsk_test", llm_base_url=f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    )
    chain = gst_chain(
        citations=CiteSources(checked=False), model=ResilientChatModel(providers=providers(settings, Clock()))
    )
    yield script, chain
    server.close()


async def read_words(chain: Any, words: int) -> Any:
    stream = chain.astream(QUESTION)
    async for part in stream:
        words -= len(part.get("answer", "").split())
        if words <= 0:
            return stream
    raise AssertionError


async def test_a_reader_who_leaves_between_two_words_stops_the_generation(endless):
    script, chain = endless
    before = asyncio.all_tasks()
    stream = await asyncio.wait_for(read_words(chain, 2), PATIENCE_S)
    await stream.aclose()

    assert await script.all_gone()
    for task in asyncio.all_tasks() - before:
        await asyncio.wait_for(asyncio.wait([task]), PATIENCE_S)


@pytest.mark.parametrize(
    "call", [lambda chain: read_words(chain, 99), lambda chain: chain.ainvoke(QUESTION)], ids=["reader", "call"]
)
async def test_a_reader_or_a_call_that_is_cancelled_stops_the_generation(endless, call):
    script, chain = endless
    calling = asyncio.ensure_future(call(chain))
    await asyncio.wait_for(script.asked.wait(), PATIENCE_S)
    calling.cancel()

    with pytest.raises(asyncio.CancelledError):
        await calling
    assert await script.all_gone()


class Writing(GenericFakeChatModel):
    """A model of another house that writes for ever; it knows whether its stream is open."""

    state: dict[str, bool] = {}

    def _stream(self, *args: Any, **kwargs: Any) -> Iterator[ChatGenerationChunk]:
        self.state["open"] = True
        try:
            while True:
                yield ChatGenerationChunk(message=AIMessageChunk(content="word "))
        finally:
            self.state["open"] = False

    async def _astream(self, *args: Any, **kwargs: Any) -> AsyncIterator[ChatGenerationChunk]:
        self.state["open"] = True
        try:
            while True:
                yield ChatGenerationChunk(message=AIMessageChunk(content="word "))
                await asyncio.sleep(0)
        finally:
            self.state["open"] = False


@pytest.fixture
def collector_off() -> Iterator[None]:
    gc.disable()
    yield
    gc.enable()


class Silent:
    """An observer that does nothing."""

    def started(self, call: Any) -> None: ...

    def ended(self, call: Any) -> None: ...


def alone(chain: Any) -> Any:
    return chain


def watched(chain: Any) -> Any:
    return ObservedRunnable(chain, [Silent()])


@pytest.mark.parametrize("compose", [alone, watched])
def test_a_stream_of_any_model_is_closed_with_its_reader_and_not_by_the_garbage_collector(collector_off, compose):
    model = Writing(messages=iter([]), state={})
    stream = compose(gst_chain(citations=CiteSources(checked=False), model=model)).stream(QUESTION)
    next(part for part in stream if "answer" in part)
    assert model.state["open"]
    stream.close()

    assert not model.state["open"]


@pytest.mark.parametrize("compose", [alone, watched])
async def test_an_async_stream_of_any_model_is_closed_soon_after_its_reader_has_left(collector_off, compose):
    model = Writing(messages=iter([]), state={})
    stream = compose(gst_chain(citations=CiteSources(checked=False), model=model)).astream(QUESTION)
    async for part in stream:
        if "answer" in part:
            break
    assert model.state["open"]
    await stream.aclose()
    for _ in range(20):  # LangChain's generators are closed one after the other, each in its turn of the event loop.
        await asyncio.sleep(0)

    assert not model.state["open"]
