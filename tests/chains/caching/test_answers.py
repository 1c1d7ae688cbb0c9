from uuid import UUID

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, HumanMessage

from chains.caching.answers import BRIEF_TTL_S
from chains.errors import ConfigurationError, LLMTimeoutError, QuestionError
from chains.output import merge
from tests.chains.caching.chain import TTL_S, Desk, answer
from tests.streams import asked

WAYS = ["invoke", "ainvoke", "stream", "astream"]
PUBLIC = {"configurable": {"audience": "public"}}


async def ask(chain, way: str = "invoke", config=None, **options):
    return await asked(chain, way, {"question": "Q?", **options}, config)


@pytest.mark.parametrize("second", WAYS)
@pytest.mark.parametrize("first", WAYS)
async def test_what_was_answered_is_answered_again_without_the_chain_whichever_way_it_is_asked(first, second):
    desk = Desk()
    made = await ask(desk.cached, first)
    told = await ask(desk.cached, second)

    assert made == answer()
    assert desk.chain.calls == 1
    assert told == made | {"metadata": told["metadata"]}
    fresh = {"latency_ms": 0.0, "timings_ms": {}, "cache": "answer", "trace_id": told["metadata"]["trace_id"]}
    assert told["metadata"] == made["metadata"] | fresh
    assert (desk.count("hits"), desk.count("misses")) == (1, 1)


async def test_a_kept_answer_streams_in_the_order_of_the_chain_and_in_pieces():
    desk = Desk(text="It is  nine\npercent of the value [GST]. ")
    await ask(desk.cached)
    told = list(desk.cached.stream({"question": "Q?"}))

    assert told[:-1] == [part async for part in desk.cached.astream({"question": "Q?"})][:-1]
    assert [part["answer"] for part in told if "answer" in part] == ["It is  nine\npercent of the ", "value [GST]. "]
    assert list(dict.fromkeys(name for part in told for name in part)) == [
        *("question", "documents", "answer", "outcome", "citations", "sources", "related_docs", "closest"),
        *("unsupported", "draft", "confidence", "metadata"),
    ]


def test_a_withdrawn_text_is_not_shown_again():
    desk = Desk(outcome="ungrounded", replacement="Not in the documents.")
    first = list(desk.cached.stream({"question": "Q?"}))
    second = list(desk.cached.stream({"question": "Q?"}))

    assert any("replacement" in part for part in first)
    assert not any("replacement" in part for part in second)
    assert merge(second)["answer"] == merge(first)["answer"] == "Not in the documents."


@pytest.mark.parametrize(
    "options",
    [
        {"question": "q?"},
        {"top_k": 3},
        {"threshold": 0.0},
        {"history": [{"role": "user", "content": "before"}]},
        {"history": [HumanMessage("before")]},
        {"history": [AIMessage("before")]},
    ],
    ids=str,
)
async def test_whatever_may_change_the_answer_makes_it_another_one(options):
    desk = Desk()
    await ask(desk.cached)
    await ask(desk.cached, **options)
    await ask(desk.cached, **options)

    assert desk.chain.calls == 2


async def test_blanks_around_and_defaults_make_no_other_answer_and_the_words_are_the_askers():
    desk = Desk()
    await ask(desk.cached)
    told = await ask(desk.cached, question=" Q? ", top_k=10, history=[], threshold=None)

    assert desk.chain.calls == 1
    assert (told["question"], told["metadata"]["query"]) == (" Q? ", " Q? ")


async def test_callers_of_another_audience_or_with_other_filters_never_share_an_answer():
    desk = Desk()
    configs = [None, PUBLIC, *({"configurable": {name: "x"}} for name in ("category", "jurisdiction", "model_id"))]
    for config in configs:
        await ask(desk.cached, config=config)
    await ask(desk.cached, config={"configurable": {"audience": "internal"}})
    await ask(desk.cached, config=PUBLIC)

    assert desk.chain.calls == len(configs)


@pytest.mark.parametrize(("options", "index"), [({"history": [object()]}, "1"), ({"top_k": object()}, "1"), ({}, None)])
async def test_what_cannot_be_named_and_an_index_that_tells_of_no_change_are_asked_anew(options, index):
    desk = Desk()
    desk.index = index
    for way in WAYS:
        await ask(desk.cached, way, **options)

    assert desk.chain.calls == len(WAYS)


@pytest.mark.parametrize(
    ("changes", "lifetime_s"),
    [
        ({}, TTL_S),
        ({"outcome": "declined"}, BRIEF_TTL_S),
        ({"outcome": "no_results", "finish_reason": None}, BRIEF_TTL_S),
        ({"outcome": "ungrounded"}, BRIEF_TTL_S),
        ({"finish_reason": "length"}, BRIEF_TTL_S),
        ({"finish_reason": "error"}, 0),
        ({"outcome": "degraded"}, 0),
        ({"outcome": "blocked"}, 0),
    ],
    ids=str,
)
async def test_a_poor_answer_is_kept_briefly_and_a_makeshift_not_at_all(changes, lifetime_s):
    desk = Desk(**changes)
    await ask(desk.cached)
    desk.clock.sleep(lifetime_s)
    await ask(desk.cached)
    assert desk.chain.calls == (1 if lifetime_s else 2)

    desk.clock.sleep(0.001)
    await ask(desk.cached)
    assert desk.chain.calls == (2 if lifetime_s else 3)


@pytest.mark.parametrize("way", WAYS)
async def test_an_error_is_told_and_not_kept(way):
    desk = Desk()
    desk.chain.error = LLMTimeoutError("late")
    with pytest.raises(LLMTimeoutError):
        await ask(desk.cached, way)

    desk.chain.error = None
    assert (await ask(desk.cached, way))["answer"] == answer()["answer"]


async def test_what_is_wrong_with_a_call_the_chain_itself_says():
    desk = Desk()
    desk.chain.error = ConfigurationError("the chain's own")
    with pytest.raises(ConfigurationError, match="the chain's own"):
        await ask(desk.cached, config={"configurable": {"audience": "Public"}})

    desk.chain.error = QuestionError("the chain's own")
    with pytest.raises(QuestionError, match="the chain's own"):
        await ask(desk.cached, question=" ")


class Runs(BaseCallbackHandler):
    def __init__(self) -> None:
        self.roots: list[UUID] = []
        self.ended: list[UUID] = []

    def on_chain_start(self, serialized, inputs, *, run_id, parent_run_id=None, **kwargs):
        assert kwargs["name"] == "cited_answer"
        assert parent_run_id is None
        self.roots.append(run_id)

    def on_chain_end(self, outputs, *, run_id, **kwargs):
        self.ended.append(run_id)


@pytest.mark.parametrize("way", WAYS)
async def test_a_kept_answer_is_a_run_of_its_own_under_its_trace_id(way):
    desk, runs = Desk(), Runs()
    await ask(desk.cached, way)
    told = await ask(desk.cached, way, config={"callbacks": [runs]})

    assert [str(run) for run in runs.roots] == [told["metadata"]["trace_id"]]
    assert runs.ended == runs.roots


async def test_events_and_batches_come_from_the_cache_too():
    desk = Desk()
    desk.cached.batch([{"question": "Q?"}, {"question": "other"}])
    events = [event async for event in desk.cached.astream_events({"question": "Q?"}, version="v2")]

    assert {event["name"] for event in events} == {"cited_answer"}
    assert [event["event"] for event in events][0 :: len(events) - 1] == ["on_chain_start", "on_chain_end"]
    assert [one["metadata"]["cache"] for one in await desk.cached.abatch([{"question": "other"}] * 2)] == ["answer"] * 2


async def test_what_one_caller_does_to_its_answer_reaches_no_other():
    desk = Desk()
    for way in WAYS:
        told = await ask(desk.cached, way)
        assert told["documents"][0]["metadata"] == {"doc_id": "gst"}
        told["documents"][0]["metadata"]["doc_id"] = "changed"
