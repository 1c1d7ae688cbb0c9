"""A stage beside LangChain's own `assign`, and what it refuses."""

from functools import partial
from typing import Any

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.runnables import Runnable, RunnableGenerator, RunnablePassthrough, RunnableSequence, ensure_config
from langchain_core.runnables.config import var_child_runnable_config
from langchain_core.tracers.run_collector import RunCollectorCallbackHandler

from chains.stage import stage

WAYS = ["invoke", "ainvoke", "stream", "astream"]
QUESTION: Any = {"question": "Rate?"}
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


async def called(chain: Runnable[Any, Any], way: str, config: Any = None) -> Any:
    match way:
        case "invoke":
            return chain.invoke(QUESTION, config)
        case "ainvoke":
            return await chain.ainvoke(QUESTION, config)
        case "stream":
            return list(chain.stream(QUESTION, config))
    return [part async for part in chain.astream(QUESTION, config)]


@pytest.mark.parametrize("way", WAYS)
async def test_stages_give_what_assign_gives_part_by_part(way):
    assert await called(ours(), way) == await called(plain(), way)


@pytest.mark.parametrize("way", WAYS)
async def test_a_field_may_be_an_async_function(way):
    chain = stage("only", answer=ashout)
    if way in {"invoke", "stream"}:
        with pytest.raises(TypeError, match="a coroutine function synchronously"):
            await called(chain, way)
    else:
        answered = await called(chain, way)
        assert (answered if way == "ainvoke" else answered[-1])["answer"] == "RATE?"


@pytest.mark.parametrize(
    "field", [shout, partial(shout), WORDS, words], ids=["function", "partial", "runnable", "generator"]
)
def test_a_field_may_be_whatever_langchain_takes_for_a_runnable(field):
    assert stage("only", answer=field).invoke(QUESTION)["answer"] in {"RATE?", "".join(PARTS)}


@pytest.mark.parametrize("way", WAYS)
async def test_the_fields_of_a_record_become_the_states(way):
    answered = await called(stage("only", unpack=True, record=lambda _: {"outcome": "answered", "sources": []}), way)

    expected = {**QUESTION, "outcome": "answered", "sources": []}
    assert answered == expected if way.endswith("invoke") else [QUESTION, {"outcome": "answered", "sources": []}]


@pytest.mark.parametrize("way", WAYS)
async def test_what_is_to_be_unpacked_and_is_no_record_is_one_clear_error(way):
    with pytest.raises(TypeError, match="stage 'only' unpacks 'record', which must be a mapping, not str"):
        await called(stage("only", unpack=True, record=shout), way)


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
async def test_the_run_of_a_stage_begins_when_that_of_the_one_before_has_ended(kind, way):
    handler = kind()
    chain: Any = RunnableSequence(stage("first", shouted=shout), stage("second", answer=WORDS), name="whole")
    await called(chain, way, {"callbacks": [handler]})

    told = [line for line in handler.lines if line[1] != "words"]
    assert told == [
        ("start", "whole"),
        ("start", "first"),
        ("end", "first"),
        ("start", "second"),
        ("end", "second"),
        ("end", "whole"),
    ]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [Inline, Threaded, Awaited])
async def test_every_kind_of_callback_is_told_what_broke_a_stage_off(kind, way):
    def broken(state: Any) -> str:
        raise LookupError

    handler = kind()
    chain: Any = RunnableSequence(stage("first", shouted=shout), stage("second", answer=broken), name="whole")
    with pytest.raises(LookupError):
        await called(chain, way, {"callbacks": [handler]})

    assert handler.lines[-2:] == [("LookupError", "second"), ("LookupError", "whole")]


@pytest.mark.parametrize("way", WAYS)
async def test_a_field_sees_the_config_of_the_call_and_the_caller_keeps_its_own(way):
    def told(state: Any, config: Any) -> str:
        return str(ensure_config(config)["metadata"]["request_id"])

    def unaware(state: Any) -> str:
        return str(ensure_config()["metadata"]["request_id"])

    chain = stage("first", told=told) | stage("second", unaware=unaware)
    answered = await called(chain, way, {"metadata": {"request_id": "r1"}})

    fields = answered if isinstance(answered, dict) else {name: part[name] for part in answered for name in part}
    assert (fields["told"], fields["unaware"]) == ("r1", "r1")
    assert var_child_runnable_config.get() is None


async def test_the_events_of_a_stage_are_what_it_adds():
    events = [event async for event in ours().astream_events(QUESTION, version="v2")]
    streamed = [
        (event["name"], event["data"]["chunk"])
        for event in events
        if event["event"] == "on_chain_stream" and event["name"] in {"first", "second", "third"}
    ]

    assert streamed == [
        ("first", {"shouted": "RATE?"}),
        *(("second", {"answer": word}) for word in PARTS),
        ("third", {"question": "nine per cent"}),
    ]
    assert events[-1]["data"]["output"]["question"] == "nine per cent"


@pytest.mark.parametrize("way", WAYS)
async def test_a_trace_holds_of_each_stage_what_it_adds(way):
    collector = RunCollectorCallbackHandler()
    await called(ours(), way, {"callbacks": [collector]})

    [root] = collector.traced_runs
    recorded = {run.name: (set(run.inputs), set(run.outputs or {})) for run in root.child_runs}
    assert recorded["first"] == ({"question"}, {"shouted"})
    assert recorded["second"] == ({"question"}, {"answer"})
    assert recorded["third"] == ({"question"}, {"question"})
