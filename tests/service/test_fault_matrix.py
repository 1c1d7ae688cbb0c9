"""What the co-pilot does about every fault of its provider: real sockets, the real client, the real wiring."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any, cast

import pytest

from chains.output import merge
from chains.state import Question
from tests.faulty import faulty_groq
from tests.service.desk import QUESTION, Desk, Result, open_desk
from tests.service.fault_table import BEGIN, END, PAGE, run, table
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def desk_of_all(tmp_path_factory) -> Iterator[Desk]:
    with open_desk(tmp_path_factory.mktemp("desk")) as desk:
        yield desk


@pytest.fixture
def desk(desk_of_all) -> Desk:
    """A service that falls back, with the default breaker, on a new day and after the good answers that close it."""
    desk_of_all.rest()
    for _ in range(2):
        desk_of_all.ask("answer", "whole")
    return desk_of_all


def test_the_table_in_the_docs_is_what_a_run_gives(tmp_path):
    shown = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0].strip()
    assert shown == table(run(tmp_path)), "run `python -m tests.service.fault_table`"


@pytest.mark.parametrize("way", ["whole", "streamed"])
def test_a_provider_that_recovers_in_time_leaves_no_trace(desk, way):
    desk.groq.script[:] = ["503", "reset before headers"]
    assert desk.ask("answer", way).told == "answered"
    assert len(desk.groq.received) == 3


async def test_the_text_before_a_break_is_kept_and_the_confidence_is_lowered(desk):
    desk.groq.script[:] = ["cut in the middle"]
    broken = merge([part async for part in desk.services.chain.astream({"question": QUESTION})])
    whole = merge([part async for part in desk.services.chain.astream({"question": QUESTION})])

    assert broken["answer"]
    assert whole["answer"].startswith(broken["answer"])
    assert broken["confidence"]
    assert whole["confidence"]
    assert broken["confidence"]["score"] < whole["confidence"]["score"]
    assert "broke off" in broken["confidence"]["reason"]
    assert (broken["metadata"]["usage"] or {})["output_tokens"] > 0


def test_a_degraded_answer_is_cited_and_says_why_it_is_degraded(desk):
    desk.groq.script[:] = ["500"] * 4
    answer = desk.services.chain.invoke({"question": QUESTION})

    assert answer["outcome"] == "degraded"
    assert [citation["matched"] for citation in answer["citations"]] == [True]
    assert answer["confidence"]["level"] in {"low", "very_low"}
    assert answer["confidence"]["reason"].startswith("The language model could not be reached")


def test_five_failed_calls_open_the_breaker_and_then_nothing_is_asked_for_a_minute(desk):
    assert [desk.ask("500", "whole") for _ in range(3)][1:] == [Result(1, (), "degraded"), Result(0, (), "degraded")]
    desk.clock.time += 61
    assert [desk.ask("answer", way).told for way in ("whole", "streamed")] == ["answered", "answered"]


@pytest.mark.parametrize("way", ["invoke", "stream"])
def test_a_second_provider_answers_in_place_of_the_first_and_nothing_is_degraded(tmp_path, way):
    settings: dict[str, Any] = {"llm_fallback_api_key": "sk-test"}
    with faulty_groq() as second, open_desk(tmp_path, llm_fallback=f"{second.url}/v1 second", **settings) as desk:
        desk.groq.always = "500"
        chain, question = desk.services.chain, Question(question=QUESTION)
        answer: Any = chain.invoke(question) if way == "invoke" else merge(chain.stream(question))

    assert (answer["outcome"], answer["metadata"]["model"]) == ("answered", "second")
    assert answer["metadata"]["usage"]["total_tokens"] > 0
    assert (len(desk.groq.received), len(second.received)) == (4, 1)


def test_a_client_that_leaves_a_stream_ends_the_call_of_the_provider(desk):
    desk.groq.always = "endless answer"
    with closing(cast("Any", desk.services.chain.stream({"question": QUESTION}))) as stream:
        next(part for part in stream if part.get("answer"))

    wait_until(lambda: desk.groq.connections == 0)
