"""The chain as a whole: what it answers, what it refuses, and what it logs."""

import logging
from pathlib import Path
from typing import Any, Literal

import pytest
import structlog
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

import chains
from chains.callbacks import CallRecord
from chains.citations import CiteSources
from chains.errors import LLMUnavailableError, QuestionError
from chains.logs import get_logger
from chains.output import merge, split
from chains.state import Answer
from tests.chains.gst import ANSWER, DOCUMENT, QUESTION, Shelf, gst_chain, lasting
from tests.clocks import StoppedClock
from tests.streams import asked, every_way, merged

STYLES: tuple[Literal["title", "numbered"], ...] = ("title", "numbered")
ROOT = Path(chains.__file__).parents[1]


def build(answer: str | AIMessage = ANSWER, documents: list[Document] | None = None, **options: Any) -> Any:
    shelf = Shelf(documents=[DOCUMENT] if documents is None else documents)
    return gst_chain(answer, retriever=shelf, **options)


def test_the_answer_object_has_exactly_the_contract_fields():
    required = [field for field in Answer.__annotations__ if field in Answer.__required_keys__]
    assert list(build().invoke({"question": "Rate?"})) == required


@every_way
async def test_every_way_to_call_gives_the_same_answer(way):
    assert lasting(await asked(build(), way)) == lasting(build().invoke(QUESTION))


async def test_the_last_event_holds_the_answer():
    events = [event async for event in build().astream_events(QUESTION, version="v2")]

    assert lasting(events[-1]["data"]["output"]) == lasting(build().invoke(QUESTION))


def test_fields_stream_in_the_order_of_the_stages():
    parts = [name for part in build().stream({"question": "Rate?"}) for name in part]

    first_seen = list(dict.fromkeys(parts))
    assert first_seen[:3] == ["question", "documents", "answer"]
    assert set(first_seen[3:-2]) == {
        *("citations", "sources", "related_docs", "closest", "outcome", "unsupported", "draft")
    }
    assert first_seen[-2:] == ["confidence", "metadata"]


@pytest.mark.parametrize("question", ["", " \n\t", "x" * 4001, 7, None])
def test_a_question_that_cannot_be_asked_is_refused_and_the_longest_passes(question):
    with pytest.raises(QuestionError):
        build().invoke({"question": question})
    assert build().invoke({"question": "x" * 4000})["question"] == "x" * 4000


@pytest.mark.parametrize("way", ["invoke", "ainvoke", "stream", "astream"])
async def test_each_stage_is_timed_once_and_the_laps_add_up(way):
    answer = await asked(build(), way, {"question": "Rate?"})

    metadata = answer["metadata"]

    assert tuple(metadata["timings_ms"]) == chains.STAGES
    assert sum(metadata["timings_ms"].values()) <= metadata["latency_ms"]


def test_laps_run_from_the_end_of_one_stage_to_the_end_of_the_next():
    from uuid import uuid4

    ticks = iter([0.0, 1.0, 1.5, 1.75])
    laps = CallRecord(["first", "second"], clock=lambda: next(ticks))
    root, first, within, second, again = (uuid4() for _ in range(5))
    runs = [(root, None, "chain"), (first, root, "first"), (within, first, "second"), (second, root, "second")]
    for run, parent, name in [*runs, (again, root, "second")]:
        laps.on_chain_start({}, {}, run_id=run, parent_run_id=parent, name=name)
    for run in (within, first, second, again):
        laps.on_chain_end({}, run_id=run)

    assert laps.laps_ms == {"first": 1000.0, "second": 750.0}


@pytest.mark.parametrize("way", ["invoke", "stream"])
async def test_the_time_of_a_chain_that_is_the_retriever_of_another_is_its_retrieval(way):
    inner, answers = build(), list[Any]()

    def search(question: str) -> list[Document]:
        answers.append(inner.invoke({"question": question}))
        return [Document("The rate of GST is 9%.", metadata={"title": "GST Guide", "score": 0.8})]

    answer = await asked(gst_chain(retriever=RunnableLambda(search)), way)

    assert tuple(answer["metadata"]["timings_ms"]) == chains.STAGES
    assert answer["metadata"]["timings_ms"]["retrieval"] >= answers[0]["metadata"]["latency_ms"]


async def test_the_lists_of_stages_agree():
    documented = [line.split()[0] for line in (chains.__doc__ or "").splitlines() if "->" in line]
    page = (ROOT / "docs" / "chain.md").read_text(encoding="utf-8")
    rows = [line.split("`")[1] for line in page.splitlines() if line.startswith("| `") and "->" in line]
    events = [event async for event in build().astream_events({"question": "Rate?"}, version="v2")]
    root = events[0]["run_id"]
    steps = [
        event["name"]
        for event in events
        if event["event"] == "on_chain_start" and event["parent_ids"] == [root] and event["name"] in chains.STAGES
    ]
    modules = {path.stem for path in (ROOT / "chains").iterdir()}

    assert documented == rows == steps == list(chains.STAGES)
    assert set(chains.STAGES) <= modules


def test_a_stream_cannot_take_words_back_and_ends_with_the_replacement():
    chain, question = build("Elephants fly.", citations=CiteSources(checked=False)), {"question": "Rate?"}
    streamed = merged(list(chain.stream(question)))
    whole = chain.invoke(question)

    assert streamed["answer"] == "Elephants fly."
    assert streamed["outcome"] == whole["outcome"] == "ungrounded"
    assert streamed["replacement"] == whole["answer"] != "Elephants fly."
    assert "replacement" not in whole
    assert "replacement" not in merged(list(build().stream(question)))


def test_a_checked_stream_shows_whole_sentences_and_says_which_nothing_supports():
    text = "Elephants may fly to the moon. The rate of GST is 9% [1]. The moon is made of cheese. "
    chain = build(text, clock=StoppedClock())  # How a stream is cut into pieces depends on the time.
    parts = list(chain.stream({"question": "What is the rate of GST?"}))
    shown = [(part["answer"], part.get("unsupported")) for part in parts if part.get("answer")]
    supported = "Elephants may fly to the moon. The rate of GST is 9% [GST Guide > Rate]. "

    assert shown == [(supported, [(0, 30)]), ("The moon is made of cheese. ", [(0, 30), (73, 100)])]
    assert merge(parts)["unsupported"] == [(0, 30), (73, 100)]


@pytest.mark.parametrize("style", STYLES)
def test_each_sentence_of_a_checked_stream_comes_with_its_citations(style):
    text = "The rate of GST is 9% [1]. It is so: the rate of GST is 9%. The moon is made of cheese [1]. "
    chain = build(text, clock=StoppedClock(), citations=CiteSources(style=style))
    parts = list(chain.stream({"question": "What is the rate of GST?"}))
    whole = merge(parts)

    for streamed in (parts, list(split(whole))):  # As it comes, and as a cache replays it.
        words, known = "", list[Any]()
        for part in streamed:
            words += part.get("answer", "")
            known = part.get("citations", known)
            assert known == [one for one in whole["citations"] if one["end"] <= len(words)]
        assert len(known) == 3


@pytest.mark.untraced
@settings(max_examples=40)
@given(st.text("[1] ,`\n.ab>GST Guide Rate", max_size=40))
def test_stream_and_invoke_agree_whatever_the_model_writes(text):
    for style in STYLES:
        chain = build(text or " ", citations=CiteSources(style=style))
        streamed = merge(chain.stream({"question": "Rate?"}))
        assert lasting(streamed) == lasting(chain.invoke({"question": "Rate?"}))


@every_way
async def test_an_error_of_the_model_arrives_as_it_was_raised(way):
    class Broken(GenericFakeChatModel):
        def _stream(self, *args: Any, **kwargs: Any) -> Any:
            raise LLMUnavailableError

        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise LLMUnavailableError

    for _ in range(25 if way == "stream" else 1):  # The parallel readers of a stream race for the error.
        with pytest.raises(LLMUnavailableError):
            await asked(gst_chain(model=Broken(messages=iter([]))), way)


GST = "The relief limit is S$400 for goods by air or post."


FOUND = [
    Document(GST, metadata={"title": "GST Guide", "section": "Reliefs"}),
    Document("A Form D proves ASEAN origin.", metadata={"title": "Certificates of Origin"}),
]


def test_the_chunks_used_are_the_sources_that_a_marker_names_each_counted_once():
    answer = f"{GST} A Form D proves ASEAN origin [Certificates of Origin]. So it is [Certificates of Origin]."
    found = build(answer, FOUND).invoke({"question": "Q?"})

    assert [citation["attributed"] for citation in found["citations"]] == [True, False, False]
    assert found["metadata"]["chunks_used"] == 1


def test_tokens_that_the_provider_had_in_its_cache_are_told():
    usage: Any = {
        "input_tokens": 900,
        "output_tokens": 9,
        "total_tokens": 909,
        "input_token_details": {"cache_read": 640},
    }
    found = build(AIMessage(f"{GST} [GST Guide].", usage_metadata=usage), FOUND).invoke({"question": "Q?"})

    told = {"input_tokens": 900, "output_tokens": 9, "total_tokens": 909, "cached_tokens": 640}
    assert found["metadata"]["usage"] == told


def test_nothing_is_printed_where_the_program_has_set_up_no_logging(capfd):
    structlog.reset_defaults()

    get_logger("waypoint_test.module").warning("away", error="Timeout")

    assert capfd.readouterr() == ("", "")


def test_lines_go_to_the_programs_logging_with_their_fields_and_without_secrets(caplog):
    structlog.reset_defaults()

    with structlog.contextvars.bound_contextvars(request_id="r1"):
        get_logger("waypoint_test.module").warning("away", url="redis://me:hunter2@cache", api_key="gsk_12345678")

    [record] = caplog.records
    assert (record.name, record.levelno) == ("waypoint_test.module", logging.WARNING)
    assert record.getMessage() == "away url='redis://me:***@cache' api_key='***' request_id='r1'"


def test_an_error_brings_its_traceback_and_a_percent_sign_is_only_that(caplog):
    structlog.reset_defaults()
    try:
        raise ValueError("100 %s")
    except ValueError:
        get_logger("waypoint_test.module").exception("failed")

    line, *traceback = caplog.records[0].getMessage().splitlines()
    assert line == "failed"
    assert traceback[-1] == "ValueError: 100 %s"


def test_a_program_that_configures_structlog_later_gets_the_lines_there(capfd):
    log = get_logger("waypoint_test.module")
    structlog.configure(processors=[structlog.processors.JSONRenderer()])
    try:
        log.info("answered", citations=2)
    finally:
        structlog.reset_defaults()

    assert capfd.readouterr().out == '{"citations": 2, "event": "answered"}\n'
