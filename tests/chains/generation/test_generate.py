"""The stage of generation, and the pieces that it streams."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from contextlib import nullcontext
from typing import Any

import pytest
from langchain_core.caches import InMemoryCache
from langchain_core.globals import set_llm_cache
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.prompts import ChatPromptTemplate

from chains.errors import ConfigurationError
from chains.generation.generate import MOST_UNREAD, PIECE_S, apieces, pieces
from tests.chains.gst import ANSWER, QUESTION, gst_chain, writing
from tests.clocks import StoppedClock

USAGE = {"input_tokens": 5, "output_tokens": 7, "total_tokens": 12}


def message(text: str) -> ChatPromptTemplate:
    return ChatPromptTemplate([("human", text)])


@pytest.mark.parametrize(
    ("system", "told"),
    [
        ("Answer the question.", r"has no \{context\}; without it the model is not shown the documents"),
        ("", r"has no \{context\}"),
        *((system, "system prompt") for system in ("{context", "{context} }", "{context} {}")),
        ("{context} {tone} {customer}", "fills: customer, tone; it may use context, history, question"),
        (message("{question}"), r"the prompt has no \{context\}; without it the model is not shown the documents"),
        (message("{context}"), r"the prompt has no \{question\}; without it the model is not shown the question"),
        (
            message("{context} {question} {tone}"),
            "the prompt has variables that nothing fills: tone; it may",
        ),
    ],
)
def test_a_prompt_that_is_no_template_lacks_a_variable_or_has_another_is_refused(system, told):
    with pytest.raises(ConfigurationError, match=told):
        gst_chain(system=system)


def test_the_question_and_the_history_may_stand_in_the_prompt():
    assert gst_chain(system="{context} {question} {history}").invoke(QUESTION)["answer"] == ANSWER


@pytest.fixture
def llm_cache() -> Iterator[None]:
    set_llm_cache(InMemoryCache())
    yield
    set_llm_cache(None)


@pytest.mark.parametrize(
    ("usage", "told"),
    [(None, None), (USAGE, USAGE), ({"input_tokens": 5, "output_tokens": 0, "total_tokens": 5}, None)],
)
def test_an_answer_from_langchains_cache_tells_what_usage_the_model_told(usage, told, llm_cache):
    message = AIMessage(ANSWER, usage_metadata=usage)
    chain: Any = gst_chain(message)
    chain.invoke(QUESTION)

    cached = chain.invoke(QUESTION)

    assert cached["answer"] == ANSWER
    assert cached["metadata"]["usage"] == (told or usage)


async def test_any_model_that_is_composed_of_others_will_do():
    class Broken(GenericFakeChatModel):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise ConnectionError

        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            raise ConnectionError

    model: Any = Broken(messages=iter([])).with_fallbacks([writing().with_config(tags=["second"])])
    chain = gst_chain(model=model)

    assert chain.invoke(QUESTION)["answer"] == ANSWER
    assert (await chain.ainvoke(QUESTION))["answer"] == ANSWER
    assert "".join(part.get("answer", "") for part in chain.stream(QUESTION)) == ANSWER


def test_the_first_chunk_comes_at_once_and_then_what_has_come_in_its_time():
    clock = StoppedClock()

    def chunks() -> Iterator[str]:
        for chunk in "abcdefg":
            yield chunk
            clock.sleep(PIECE_S / 2)

    assert list(pieces(chunks(), clock.now)) == [["a"], ["b", "c"], ["d", "e"], ["f", "g"]]


async def test_what_has_come_is_shown_while_the_next_chunk_is_not_there_yet():
    more = asyncio.Event()

    async def chunks() -> AsyncIterator[str]:
        for chunk in "abc":
            yield chunk
        await more.wait()
        yield "d"

    seen: list[str] = []
    async for piece in apieces(chunks(), None, nullcontext()):
        seen += piece
        if seen == ["a", "b", "c"]:
            more.set()

    assert seen == ["a", "b", "c", "d"]


async def test_the_model_is_read_no_further_ahead_of_its_reader_than_a_bound():
    written = 0

    async def chunks() -> AsyncIterator[int]:
        nonlocal written
        while True:
            written += 1
            yield written
            await asyncio.sleep(0)

    stream: Any = apieces(chunks(), None, nullcontext())
    await anext(stream)
    for _ in range(10 * MOST_UNREAD):  # The reader is busy elsewhere.
        await asyncio.sleep(0)
    assert written <= MOST_UNREAD + 1

    await stream.aclose()
    stopped = written
    await asyncio.sleep(0)
    assert written == stopped


async def test_an_error_comes_after_the_words_before_it():
    async def chunks() -> AsyncIterator[str]:
        yield "a"
        raise ConnectionError

    seen: list[str] = []
    try:
        async for piece in apieces(chunks(), None, nullcontext()):
            seen += piece
    except ConnectionError:
        seen.append("error")

    assert seen == ["a", "error"]


@pytest.mark.parametrize("method", ["_generate", "_agenerate", "_stream", "_astream"])
def test_chat_models_are_still_implemented_by_the_same_methods(method):
    assert list(inspect.signature(getattr(BaseChatModel, method)).parameters) == [
        *("self", "messages", "stop", "run_manager", "kwargs")
    ]


def test_chat_models_still_say_what_tells_them_apart_and_what_traces_tell():
    assert isinstance(inspect.getattr_static(BaseChatModel, "_llm_type"), property)
    assert isinstance(inspect.getattr_static(BaseChatModel, "_identifying_params"), property)
    assert list(inspect.signature(BaseChatModel._get_ls_params).parameters) == ["self", "stop", "kwargs"]
