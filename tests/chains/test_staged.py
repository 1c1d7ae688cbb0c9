"""Stages that run one after another: the same as LangChain's own sequence of them, and what the callbacks are told."""

from typing import Any
from uuid import UUID, uuid4

import pytest
from langchain_core.callbacks import AsyncCallbackHandler, BaseCallbackHandler
from langchain_core.runnables import Runnable, RunnableGenerator, RunnableLambda, ensure_config
from langchain_core.runnables.config import var_child_runnable_config

from chains.settling import settled
from chains.stage import stage
from chains.staged import Staged
from tests.streams import merged

WAYS = ["invoke", "ainvoke", "stream", "astream", "batch", "abatch"]
QUESTION: Any = {"question": "Rate?"}


def shout(state: Any) -> str:
    return str(state["question"]).upper()


async def words(states: Any) -> Any:
    async for _ in states:
        for word in ("nine ", "per ", "cent"):
            yield word


def written(states: Any) -> Any:
    for _ in states:
        yield from ("nine ", "per ", "cent")


def stages() -> Any:
    return (
        stage("first", shouted=shout)
        | stage("second", answer=RunnableGenerator(written, words))
        | stage("third", spread=True, record=lambda state: {"outcome": "answered", "sources": [state["shouted"]]})
    )


def staged(body: Runnable[Any, Any] | None = None, *handlers: BaseCallbackHandler) -> Staged:
    return Staged(body or stages(), name="whole", handlers=lambda: list(handlers))


async def called(chain: Runnable[Any, Any], way: str, config: Any = None) -> Any:
    match way:
        case "invoke":
            return chain.invoke(QUESTION, config)
        case "ainvoke":
            return await chain.ainvoke(QUESTION, config)
        case "stream":
            return merged(chain.stream(QUESTION, config))
        case "astream":
            return merged([part async for part in chain.astream(QUESTION, config)])
        case "batch":
            return chain.batch([QUESTION], config)[0]
    return (await chain.abatch([QUESTION], config))[0]


@pytest.mark.parametrize("way", WAYS)
async def test_the_answer_is_that_of_langchains_own_sequence(way):
    expected = settled(await called(stages(), way))

    assert await called(staged(), way) == expected
    assert expected == {**QUESTION, "answer": "nine per cent", "outcome": "answered", "sources": ["RATE?"]}


async def test_a_stream_brings_each_field_when_its_stage_has_it():
    expected = [QUESTION, {"answer": "nine "}, {"answer": "per "}, {"answer": "cent"}]
    expected.append({"outcome": "answered", "sources": ["RATE?"]})

    assert list(staged().stream(QUESTION)) == [part async for part in staged().astream(QUESTION)] == expected


class Told:
    """Takes down what it is told, under the names of the runs."""

    def __init__(self) -> None:
        self.names: dict[UUID, str] = {}
        self.lines: list[tuple[str, str, str | None]] = []

    def note(self, event: str, run: UUID, parent: UUID | None, name: str = "") -> None:
        self.names.setdefault(run, name)
        self.lines.append((event, self.names[run], self.names.get(parent) if parent else None))


class Inline(BaseCallbackHandler, Told):
    run_inline = True

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **more: Any
    ) -> None:
        self.note("start", run_id, parent_run_id, more["name"])

    def on_chain_end(self, outputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **more: Any) -> None:
        self.note("end", run_id, parent_run_id)

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **more: Any
    ) -> None:
        self.note(type(error).__name__, run_id, parent_run_id)


class Threaded(Inline):
    run_inline = False


class Awaited(AsyncCallbackHandler, Told):
    async def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **more: Any
    ) -> None:
        self.note("start", run_id, parent_run_id, more["name"])

    async def on_chain_end(self, outputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **more: Any) -> None:
        self.note("end", run_id, parent_run_id)

    async def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **more: Any
    ) -> None:
        self.note(type(error).__name__, run_id, parent_run_id)


def computed() -> Any:
    return stage("first", shouted=shout) | stage("second", answer=shout)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [Inline, Threaded, Awaited])
async def test_every_kind_of_callback_is_told_of_the_call_and_its_stages(kind, way):
    handler = kind()
    await called(staged(computed()), way, {"callbacks": [handler]})

    assert handler.lines == [
        ("start", "whole", None),
        ("start", "first", "whole"),
        ("end", "first", "whole"),
        ("start", "second", "whole"),
        ("end", "second", "whole"),
        ("end", "whole", None),
    ]


def broken(state: Any) -> str:
    msg = "no"
    raise LookupError(msg)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", [Inline, Threaded, Awaited])
async def test_every_kind_of_callback_is_told_what_broke_a_call_off(kind, way):
    handler = kind()
    with pytest.raises(LookupError):
        await called(
            staged(stage("first", shouted=shout) | stage("second", answer=broken)), way, {"callbacks": [handler]}
        )

    assert handler.lines[-2:] == [("LookupError", "second", "whole"), ("LookupError", "whole", None)]


@pytest.mark.parametrize("way", WAYS[:4])
async def test_a_call_has_the_name_and_the_id_that_its_config_gives(way):
    handler, own = Inline(), uuid4()
    await called(staged(computed()), way, {"callbacks": [handler], "run_id": own, "run_name": "mine"})

    assert handler.names[own] == "mine"
    assert list(handler.names.values()) == ["mine", "first", "second"]


@pytest.mark.parametrize("way", WAYS[:4])
async def test_what_is_called_without_a_config_has_that_of_its_stage_and_the_caller_keeps_its_own(way):
    handler = Inline()
    inner: Any = RunnableLambda(shout).with_config(run_name="inner")

    def unaware(states: Any) -> Any:
        for state in states:
            yield inner.invoke(state)

    async def aunaware(states: Any) -> Any:
        async for state in states:
            yield await inner.ainvoke(state)

    chain = staged(stage("only", answer=RunnableGenerator(unaware, aunaware)))
    if way == "stream":
        seen = [var_child_runnable_config.get() for _ in chain.stream(QUESTION, {"callbacks": [handler]})]
    elif way == "astream":
        parts = chain.astream(QUESTION, {"callbacks": [handler]})
        seen = [var_child_runnable_config.get() async for _ in parts]
    else:
        await called(chain, way, {"callbacks": [handler]})
        seen = [var_child_runnable_config.get()]

    assert "inner" in handler.names.values()
    assert ("start", "whole", None) in handler.lines
    assert {str(config) for config in seen} == {"None"}


async def test_astream_events_tells_what_each_stage_adds():
    events = [event async for event in staged().astream_events(QUESTION, version="v2")]
    streamed = [
        (event["name"], event["data"]["chunk"])
        for event in events
        if event["event"] == "on_chain_stream" and event["name"] in {"first", "second", "third"}
    ]

    assert streamed == [
        ("first", {"shouted": "RATE?"}),
        ("second", {"answer": "nine "}),
        ("second", {"answer": "per "}),
        ("second", {"answer": "cent"}),
        ("third", {"outcome": "answered", "sources": ["RATE?"]}),
    ]
    assert (events[0]["name"], events[-1]["name"]) == ("whole", "whole")
    assert events[-1]["data"]["output"] == staged().invoke(QUESTION)


def test_each_call_of_a_batch_has_handlers_of_its_own():
    made: list[Inline] = []

    def handlers() -> list[BaseCallbackHandler]:
        made.append(Inline())
        return [made[-1]]

    Staged(computed(), name="whole", handlers=handlers).batch([QUESTION, QUESTION])

    assert [handler.lines.count(("end", "whole", None)) for handler in made] == [1, 1]


def test_the_metadata_of_a_call_reach_what_computes():
    def told(state: Any, config: Any) -> str:
        return str(ensure_config(config)["metadata"]["request_id"])

    assert staged(stage("only", answer=told)).invoke(QUESTION, {"metadata": {"request_id": "r1"}})["answer"] == "r1"
