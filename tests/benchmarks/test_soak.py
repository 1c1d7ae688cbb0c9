from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest

from benchmarks.soak import PROBE, Soak, Told, ask_all, asked, claims, probed
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


def told(one: Told) -> Soak:
    """Return the good soak, in which one client was told something else."""
    return replace(GOOD, told=[*(other for other in GOOD.told if other.token != one.token), one])


def called(*deeds: str) -> Soak:
    return replace(GOOD, calls=[(ANSWERED.question, deed) for deed in deeds])


AGAIN = "no question that was answered is asked again"
BROKEN: dict[str, list[Soak]] = {
    "every client that stays gets an answer or a clear error": [
        told(replace(FAILED, problem="")),
        told(replace(ANSWERED, lost="ReadError")),
    ],
    "nobody is answered twice": [
        told(replace(ANSWERED, outcomes=["answered", "answered"])),
        told(replace(ANSWERED, answer="Your ref zqaaaa. Your ref zqaaaa.")),
    ],
    "everybody gets the answer to their own question": [told(replace(ANSWERED, echoed=FAILED.question))],
    "`answered` means that the model answered": [
        told(replace(ANSWERED, answer="Something else.")),
        told(replace(FAILED, outcomes=["answered"], echoed=FAILED.question)),
    ],
    "a question makes at most 4 calls": [called("500", "500", "500", "500", "answer")],
    # Answers that nobody saw prove nothing.
    AGAIN: [
        called("answer", "answer"),
        replace(GOOD, told=[FAILED, LEFT], calls=[(FAILED.question, "400")]),
    ],
    "every call is about the question of a client": [
        replace(GOOD, calls=[*GOOD.calls, (f"{FAILED.question}\n\nAnswer from the documents.", "400")])
    ],
    "no task is left": [replace(GOOD, after=HELD | {"tasks": 5})],
    "no connection is left but the two in use": [replace(GOOD, after=HELD | {"connections": 3})],
    "memory grows by less than 5%": [replace(GOOD, after=HELD | {"memory": 430})],
}


@pytest.mark.parametrize(("soak", "claim"), [(soak, claim) for claim, soaks in BROKEN.items() for soak in soaks])
def test_what_went_wrong_breaks_its_claim_and_no_other(soak, claim):
    assert broken(soak) == [claim]


def test_without_a_call_that_was_seen_no_claim_about_calls_holds():
    nobody_answered = replace(GOOD, told=[FAILED, LEFT], calls=[])
    assert broken(nobody_answered) == [
        *("every call is about the question of a client", "a question makes at most 4 calls", AGAIN),
    ]


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
