from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from benchmarks.soak.claims import Soak, claims
from benchmarks.soak.clients import Told, ask_all, asked
from benchmarks.soak.service import PROBE, probed
from tests.served import served
from tests.service.desk import QUESTION, Desk, open_desk, without_breaker

HELD = {"tasks": 4, "connections": 1, "memory": 400}
ANSWERED = Told("Why? (ref zqaaaa)", "ref zqaaaa", "whole", 200, ["answered"], "Your ref zqaaaa.", "Why? (ref zqaaaa)")
FAILED = Told("Why? (ref zqaaab)", "ref zqaaab", "streamed", 200, problem="Bad Gateway")
LEFT = Told("Why? (ref zqaaac)", "ref zqaaac", "left streamed", 200)
GOOD = Soak(
    told=[ANSWERED, FAILED, LEFT],
    calls=[(ANSWERED.question, "503"), (ANSWERED.question, "answer"), (FAILED.question, "400")],
    before=HELD,
    after=HELD,
    seconds=1,
)


@pytest.fixture
def desk(tmp_path) -> Iterator[Desk]:
    with without_breaker(), open_desk(tmp_path) as desk:
        yield desk


def broken(soak: Soak) -> list[str]:
    return [claim.sentence for claim in claims(soak) if not claim.held]


def test_a_soak_in_which_all_went_well_breaks_no_claim():
    assert broken(GOOD) == []


@pytest.mark.parametrize(
    ("told", "sentence"),
    [
        (replace(FAILED, problem=""), "every client that stays gets an answer or a clear error"),
        (replace(ANSWERED, lost="ReadError"), "every client that stays gets an answer or a clear error"),
        (replace(ANSWERED, outcomes=["answered", "answered"]), "nobody is answered twice"),
        (replace(ANSWERED, answer="Your ref zqaaaa. Your ref zqaaaa."), "nobody is answered twice"),
        (replace(ANSWERED, echoed=FAILED.question), "everybody gets the answer to their own question"),
        (replace(ANSWERED, answer="Something else."), "`answered` means that the model answered"),
        (replace(FAILED, outcomes=["answered"], echoed=FAILED.question), "`answered` means that the model answered"),
    ],
)
def test_what_a_client_was_told_can_break_a_claim(told, sentence):
    others = [one for one in GOOD.told if one.token != told.token]
    assert broken(replace(GOOD, told=[*others, told])) == [sentence]


@pytest.mark.parametrize(
    ("deeds", "sentence"),
    [
        (["500", "500", "500", "500", "answer"], "a question makes at most 4 calls"),
        (["answer", "answer"], "no question that was answered is asked again"),
    ],
)
def test_a_call_too_many_breaks_a_claim(deeds, sentence):
    calls = [(ANSWERED.question, deed) for deed in deeds]
    assert broken(replace(GOOD, calls=calls)) == [sentence]


def test_without_a_call_that_was_seen_no_claim_about_calls_holds():
    nobody_answered = replace(GOOD, told=[FAILED, LEFT], calls=[])
    assert broken(nobody_answered) == [
        "every call is about the question of a client",
        "a question makes at most 4 calls",
        "no question that was answered is asked again",
    ]


def test_answers_that_nobody_saw_do_not_prove_that_none_was_asked_for_again():
    assert broken(replace(GOOD, told=[FAILED, LEFT], calls=[(FAILED.question, "400")])) == [
        "no question that was answered is asked again"
    ]


def test_a_call_about_another_question_breaks_a_claim():
    calls = [*GOOD.calls, (f"{FAILED.question}\n\nAnswer from the documents.", "400")]
    assert broken(replace(GOOD, calls=calls)) == ["every call is about the question of a client"]


@pytest.mark.parametrize(
    ("name", "held", "sentence"),
    [
        ("tasks", 5, "no task is left"),
        ("connections", 3, "no connection is left but the two in use"),
        ("memory", 430, "memory grows by less than 5%"),
    ],
)
def test_what_the_service_still_holds_can_break_a_claim(name, held, sentence):
    assert broken(replace(GOOD, after=HELD | {name: held})) == [sentence]


def test_no_two_questions_are_alike():
    questions = [told.question for told in asked(["Why?", "How?"], 0, 2_500)]
    assert len(set(questions)) == 2_500


async def test_every_client_of_a_failing_provider_is_told_something_once(desk):
    desk.groq.script[:] = ["503", "400", "cut in the middle", "no choices", "reset before headers", "401"] * 5
    with served(probed(desk.services)) as url:
        told = await ask_all(url, asked([QUESTION], 0, 40), at_once=10)
        async with httpx.AsyncClient(base_url=url) as client:
            held = (await client.get(PROBE)).json()

    calls = [(question, deed) for question, deed in desk.groq.report()["calls"]]
    assert broken(Soak(told, calls, HELD, HELD, seconds=1)) == []
    assert {told.way for told in told} == {"whole", "streamed", "left whole", "left streamed"}
    assert {outcome for one in told for outcome in one.outcomes} >= {"answered", "degraded"}
    assert any(one.problem for one in told)
    assert held["tasks"] > 0 < held["connections"]
