"""Parts of one's own in the chain: a stage, a prompt, a retriever of any kind, a confidence strategy."""

import asyncio
import threading
from functools import partial
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel, FakeListLLM
from langchain_core.output_parsers import JsonOutputParser, StrOutputParser
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.runnables import (
    Runnable,
    RunnableGenerator,
    RunnableLambda,
    RunnablePassthrough,
    RunnableSequence,
    ensure_config,
)
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, SecretStr

import chains
from chains.errors import ConfigurationError, QuestionError
from chains.stage import stage
from tests.chains.gst import ANSWER, DOCUMENT, QUESTION, gst_chain, writing
from tests.streams import asked, every_way, streamed
from tests.waiting import PATIENCE_S

WAYS = ["invoke", "ainvoke", "stream", "astream"]
PARTS = ["nine ", "per ", "cent"]


def shout(state: Any) -> str:
    return str(state["question"]).upper()


async def ashout(state: Any) -> str:
    return shout(state)


def words(states: Any) -> Any:
    list(states)  # The state comes in parts too.
    yield from PARTS


async def awords(states: Any) -> Any:
    [state async for state in states]
    for word in PARTS:
        yield word


WORDS: Any = RunnableGenerator(words, awords)


def ours() -> Any:
    return (
        stage("first", shouted=shout) | stage("second", answer=WORDS) | stage("third", question=lambda s: s["answer"])
    )


def plain() -> Any:
    assign = RunnablePassthrough.assign
    return assign(shouted=shout) | assign(answer=WORDS) | assign(question=lambda state: state["answer"])


async def parts_of(chain: Runnable[Any, Any], way: str, config: Any = None) -> Any:
    """Return the answer, or the parts of a stream as they come."""
    if way.endswith("invoke"):
        return await asked(chain, way, config=config)
    return [part async for part in streamed(chain, way, config=config)]


@pytest.mark.parametrize("way", WAYS)
async def test_stages_give_what_assign_gives_part_by_part(way):
    assert await parts_of(ours(), way) == await parts_of(plain(), way)


@pytest.mark.parametrize("way", WAYS)
async def test_a_field_may_be_an_async_function(way):
    chain = stage("only", answer=ashout)
    if way in {"invoke", "stream"}:
        with pytest.raises(TypeError, match="a coroutine function synchronously"):
            await parts_of(chain, way)
    else:
        answered = await parts_of(chain, way)
        assert (answered if way == "ainvoke" else answered[-1])["answer"] == "RATE?"


@pytest.mark.parametrize(
    "field", [shout, partial(shout), WORDS, words], ids=["function", "partial", "runnable", "generator"]
)
def test_a_field_may_be_whatever_langchain_takes_for_a_runnable(field):
    assert stage("only", answer=field).invoke(QUESTION)["answer"] in {"RATE?", "".join(PARTS)}


@pytest.mark.parametrize("way", WAYS)
async def test_the_fields_of_a_record_become_the_states(way):
    answered = await parts_of(stage("only", unpack=True, record=lambda _: {"outcome": "answered", "sources": []}), way)

    expected = {**QUESTION, "outcome": "answered", "sources": []}
    assert answered == expected if way.endswith("invoke") else [QUESTION, {"outcome": "answered", "sources": []}]


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_to_be_unpacked_and_is_no_record_is_one_clear_error(way):
    with pytest.raises(TypeError, match="stage 'only' unpacks 'record', which must be a mapping, not str"):
        await parts_of(stage("only", unpack=True, record=shout), way)


def test_several_records_cannot_be_unpacked():
    with pytest.raises(TypeError, match="stage 'only' can unpack one field, not 2: one, other"):
        stage("only", unpack=True, one=shout, other=shout)


class Inline(BaseCallbackHandler):
    run_inline = True

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.names: dict[Any, str] = {}

    def on_chain_start(self, serialized: Any, inputs: Any, *, run_id: Any, **more: Any) -> None:
        self.names[run_id] = more["name"]
        self.lines.append(("start", more["name"]))

    def on_chain_end(self, outputs: Any, *, run_id: Any, **more: Any) -> None:
        self.lines.append(("end", self.names[run_id]))

    def on_chain_error(self, error: BaseException, *, run_id: Any, **more: Any) -> None:
        self.lines.append((type(error).__name__, self.names[run_id]))


class Threaded(Inline):
    run_inline = False


class Awaited(AsyncCallbackHandler):
    def __init__(self) -> None:
        self.told = Inline()
        self.lines = self.told.lines

    async def on_chain_start(self, *args: Any, **more: Any) -> None:
        self.told.on_chain_start(*args, **more)

    async def on_chain_end(self, *args: Any, **more: Any) -> None:
        self.told.on_chain_end(*args, **more)

    async def on_chain_error(self, *args: Any, **more: Any) -> None:
        self.told.on_chain_error(*args, **more)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [Inline, Threaded, Awaited])
async def test_the_run_of_a_stage_begins_when_that_of_the_one_before_has_ended_and_tells_what_broke_it_off(kind, way):
    def broken(state: Any) -> str:
        raise LookupError

    handler = kind()
    first = stage("first", shouted=shout)
    chain: Any = RunnableSequence(first, stage("second", answer=WORDS), name="whole")
    await parts_of(chain, way, {"callbacks": [handler]})
    begin = [("start", "whole"), ("start", "first"), ("end", "first"), ("start", "second")]
    assert [line for line in handler.lines if line[1] != "words"] == [*begin, ("end", "second"), ("end", "whole")]

    chain = RunnableSequence(first, stage("second", answer=broken), name="whole")
    with pytest.raises(LookupError):
        await parts_of(chain, way, {"callbacks": [handler]})
    assert handler.lines[-2:] == [("LookupError", "second"), ("LookupError", "whole")]


@pytest.mark.parametrize("way", WAYS)
async def test_a_field_sees_the_config_of_the_call_and_the_caller_keeps_its_own(way):
    def told(state: Any, config: Any) -> str:
        return str(ensure_config(config)["metadata"]["request_id"])

    def unaware(state: Any) -> str:
        return str(ensure_config()["metadata"]["request_id"])

    chain = stage("first", told=told) | stage("second", unaware=unaware)
    answered = await parts_of(chain, way, {"metadata": {"request_id": "r1"}})

    fields = answered if isinstance(answered, dict) else {name: part[name] for part in answered for name in part}
    assert (fields["told"], fields["unaware"]) == ("r1", "r1")
    assert var_child_runnable_config.get() is None


@pytest.mark.parametrize("way", WAYS)
async def test_a_trace_holds_of_each_stage_what_it_adds(way):
    collector = RunCollectorCallbackHandler()
    await parts_of(ours(), way, {"callbacks": [collector]})

    [root] = collector.traced_runs
    recorded = {run.name: (set(run.inputs), set(run.outputs or {})) for run in root.child_runs}
    assert recorded["first"] == ({"question"}, {"shouted"})
    assert recorded["second"] == ({"question"}, {"answer"})
    assert recorded["third"] == ({"question"}, {"question"})


OPENAI = ChatOpenAI(api_key=SecretStr("none"), base_url="http://127.0.0.1:1", model="m")


class Shape(BaseModel):
    """What a structured answer has."""

    rate: str


OTHER = Document("Elephants.", metadata={"title": "Zoo", "score": 0.9})


def count(state: Any) -> int:
    return len(state["documents"])


def only_the_first(state: Any) -> Any:
    return state["documents"][:1]


@every_way
async def test_a_stage_of_ones_own_stands_where_it_is_put_and_its_field_reaches_the_answer(way):
    chain = gst_chain(stages={"retrieval": stage("counting", found=count)})
    answer = await asked(chain, way)

    assert answer["found"] == 1
    assert answer["answer"] == ANSWER
    assert list(answer["metadata"]["timings_ms"]) == ["reformulation", "retrieval", "counting", *chains.STAGES[2:]]


@every_way
async def test_a_stage_may_replace_what_a_stage_before_it_found(way):
    def both(_: str) -> list[Document]:
        return [DOCUMENT, OTHER]

    chain = gst_chain(retriever=both, stages={"retrieval": stage("reranking", documents=only_the_first)})
    answer = await asked(chain, way)

    assert [passage["content"] for passage in answer["documents"]] == [DOCUMENT.page_content]


async def test_functions_of_ones_own_leave_the_event_loop_free():
    loop, entered = asyncio.get_running_loop(), asyncio.Event()
    released = threading.Event()

    def slow(_: Any) -> str:
        loop.call_soon_threadsafe(entered.set)
        assert released.wait(PATIENCE_S), "the event loop was blocked"
        return "done"

    def rate(state: Any) -> Any:
        return {"level": slow(state), "score": 1.0, "reason": "", "factors": {}}

    for part in ({"stages": {"retrieval": stage("reranking", reranked=slow)}}, {"confidence": rate}):
        entered.clear()
        released.clear()
        asking = asyncio.create_task(gst_chain(**part).ainvoke(QUESTION))
        await entered.wait()
        released.set()
        assert (await asking)["outcome"] == "answered"


def search(_: str) -> list[Document]:
    return [DOCUMENT]


async def asearch(_: str) -> list[Document]:
    return [DOCUMENT]


@pytest.mark.parametrize("retriever", [search, RunnableLambda(search), RunnableLambda(search, asearch)])
@every_way
async def test_any_runnable_or_function_from_a_question_to_documents_is_a_retriever(retriever, way):
    assert (await asked(gst_chain(retriever=retriever), way))["citations"][0]["doc_id"] == "gst"


# As `rlm/rag-prompt` of LangChain's hub is written: one message, with both variables in it.
ONE_MESSAGE = ChatPromptTemplate([("human", "Use the context.\nQuestion: {question}\nContext: {context}\nAnswer:")])


@every_way
async def test_a_whole_prompt_is_taken(way):
    prompts: list[Any] = []

    class Listening(FakeListChatModel):
        def _call(self, messages: Any, *args: Any, **kwargs: Any) -> str:
            prompts.append(messages)
            return super()._call(messages, *args, **kwargs)

    answer = await asked(gst_chain(model=Listening(responses=[ANSWER]), system=ONE_MESSAGE), way)

    assert answer["outcome"] == "answered"
    if prompts:  # A fake that streams does not ask `_call`.
        [[message]] = prompts
        assert message.content.startswith("Use the context.\nQuestion: Rate?\nContext: [1] GST Guide > Rate\nThe rate")


def test_a_prompt_may_hold_the_history_and_what_is_filled_in_already():
    prompt = ChatPromptTemplate(
        [("system", "You are {who}. {context}"), MessagesPlaceholder("history", optional=True), ("human", "{question}")]
    ).partial(who="a clerk")

    assert gst_chain(system=prompt).invoke(QUESTION)["answer"] == ANSWER


def test_the_variables_of_another_prompt_are_mapped():
    prompt = ChatPromptTemplate([("system", "{context}"), ("placeholder", "{chat_history}"), ("human", "{input}")])
    names = {"input": "question", "chat_history": "history"}

    assert gst_chain(system=prompt, variables=names).invoke(QUESTION)["answer"] == ANSWER
    with pytest.raises(ConfigurationError, match=r"names none of context, history, question"):
        gst_chain(system=prompt, variables={"input": "query"})


@pytest.mark.parametrize(
    ("part", "advice"),
    [
        ({"model": "llama-3.1-8b-instant"}, "is a name; pass a chat model"),
        ({"model": None}, "model must be a chat model of LangChain, not None"),
        ({"model": writing() | StrOutputParser()}, "pass the chat model itself, without an output parser"),
        ({"model": FakeListLLM(responses=["a"])}, "model gives text instead of messages"),
        ({"model": writing() | JsonOutputParser()}, "model gives parsed values instead of messages"),
        ({"model": OPENAI.with_structured_output(Shape)}, "or with_structured_output behind it"),
        ({"model": OPENAI.with_structured_output(Shape, method="function_calling")}, "parsed values"),
        ({"model": OPENAI.with_structured_output(Shape, include_raw=True)}, "parsed values"),
        ({"system": PromptTemplate.from_template("{context}")}, "not a PromptTemplate; pass its template"),
        ({"retriever": InMemoryVectorStore(DeterministicFakeEmbedding(size=4))}, r"pass its as_retriever\(\)"),
        ({"retriever": None}, "not None"),
        ({"stages": {"generation": stage("shouting", answer=count)}}, "replace that AIMessage"),
        ({"stages": {"confidence": stage("shouting", answer=count)}}, "replace that AIMessage"),
        ({"stages": {"retrival": stage("counting", found=count)}}, "Unknown stage 'retrival'; choose one of reform"),
        ({"stages": {"retrieval": count}}, r"stages\['retrieval'\] is a function; wrap what computes a field"),
    ],
)
def test_a_part_that_cannot_work_is_refused_when_the_chain_is_built(part, advice):
    with pytest.raises(ConfigurationError, match=advice):
        gst_chain(**part)


@every_way
@pytest.mark.parametrize("history", [None, [{"role": "user", "content": "Hello"}]])
async def test_a_reformulation_that_gives_text_gives_the_query(way, history):
    queries: list[str] = []

    def search(query: str) -> list[Document]:
        queries.append(query)
        return [DOCUMENT]

    prompt = ChatPromptTemplate([MessagesPlaceholder("history"), ("human", "{question}")])
    rewriting = prompt | FakeListChatModel(responses=["the rate of GST"] * 9) | StrOutputParser()
    chain = gst_chain(reformulation=rewriting, retriever=RunnableLambda(search))
    answer = await asked(chain, way, QUESTION | ({"history": history} if history else {}))

    assert (answer["outcome"], answer["metadata"]["search_query"]) == ("answered", "the rate of GST")
    assert set(queries) == {"the rate of GST"}


def test_plain_texts_are_passages_of_a_context():
    assert "The rate of GST is 9%." in chains.format_context(["The rate of GST is 9%.", DOCUMENT])["text"]


@pytest.mark.parametrize("model", [writing().with_retry(), writing().bind(stop=["."]), writing().with_fallbacks([])])
def test_a_chat_model_with_something_around_it_is_taken(model):
    assert gst_chain(model=model).invoke(QUESTION)["outcome"] == "answered"


@pytest.mark.parametrize("found", ["The rate of GST is 9%.", (DOCUMENT, 0.3)])
def test_a_retriever_of_anything_but_documents_is_refused(found):
    with pytest.raises(ConfigurationError, match=f"must return Documents, not {type(found).__name__}"):
        gst_chain(retriever=lambda _: [found]).invoke(QUESTION)


@every_way
async def test_a_question_under_another_name_is_refused_by_the_right_one(way):
    with pytest.raises(QuestionError, match=r"pass \{'question': '...'\}, not \{'input'\}"):
        await asked(gst_chain(), way, {"input": "Rate?"})
