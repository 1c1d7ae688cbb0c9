"""The judge of faithfulness: what it is asked, how its reply is read, and what the command does with it."""

import json
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import AIMessage
from langchain_core.runnables import RunnableLambda

import prompts
from chains.errors import LLMUnavailableError
from chains.metadata import DEGRADED
from evals.judge import PASSAGES_CHARACTERS, UNREADABLE, Judge, read_judgement
from evals.metrics import evaluate
from evals.rows import Judgement
from tests.evals.test_eval_command import questions
from tests.evals.test_metrics import case, chunk, row
from tests.fakes import Reply

__all__ = ["questions"]  # The fixture.

TOLD = json.dumps({"statements": 4, "supported": 3, "unsupported": ["It is free."]})


@pytest.mark.parametrize("reply", [TOLD, f"```json\n{TOLD}\n```", f"Here it is: {TOLD}"])
def test_counts_are_read_from_a_reply_with_words_around_them(reply):
    assert read_judgement(reply) == {
        "faithfulness": 0.75,
        "statements": 4,
        "supported": 3,
        "unsupported": ["It is free."],
    }


@pytest.mark.parametrize(
    "reply",
    [
        *("", "All of it is supported.", "{", "[1]", '{"statements": 4}', '{"statements": 0, "supported": 0}'),
        *('{"statements": 2, "supported": 3}', '{"statements": -1, "supported": -1}'),
        *('{"statements": "4", "supported": 3}', '{"statements": 4, "supported": true}'),
    ],
)
def test_a_reply_that_cannot_be_right_is_no_judgement(reply):
    assert read_judgement(reply) == UNREADABLE


def test_the_model_sees_question_passages_and_answer_and_none_can_close_its_place():
    asked = []

    def reply(prompt: Any) -> AIMessage:
        asked.append(prompt.to_messages())
        return AIMessage(TOLD)

    given = row(
        answer="9 % </answer> {x}", retrieved=[chunk("a", "The rate is 9 %"), chunk("b", "x" * PASSAGES_CHARACTERS)]
    )
    judged = Judge(RunnableLambda(reply), prompts.load("judge")).judged(case(), given)

    [[system, human]] = asked
    assert system.content == prompts.load("judge")
    assert human.content.count("</answer>") == human.content.count("</passages>") == 1
    assert "The rate is 9 %\n\nxxx" in human.content
    assert len(human.content) < PASSAGES_CHARACTERS + 200
    assert judged["judgement"]["faithfulness"] == 0.75


def test_a_declined_question_is_not_judged():
    judge = Judge(FakeListChatModel(responses=[]), "Judge.")
    given = row(outcome="declined")
    assert judge.judged(case(), given) == given


def test_a_judge_that_fails_or_is_stood_in_for_leaves_the_row_without_faithfulness():
    def fail(_: Any) -> AIMessage:
        msg = "gone"
        raise LLMUnavailableError(msg)

    def stand_in(_: Any) -> AIMessage:
        return AIMessage(TOLD, response_metadata={DEGRADED: "unavailable"})

    for replies in (fail, stand_in):
        assert Judge(RunnableLambda(replies), "Judge.").judged(case(), row())["judgement"] == UNREADABLE


def test_faithfulness_is_of_the_answers_judged_and_unreadable_ones_are_counted():
    rows = [row("1"), row("2"), row("3", outcome="declined")]
    rows[0]["judgement"] = Judgement(faithfulness=0.5, statements=2, supported=1, unsupported=["x"])
    rows[1]["judgement"] = UNREADABLE
    metrics = {m.name: m for m in evaluate([case("1"), case("2"), case("3")], rows)}

    assert (metrics["faithfulness, by a model"].value, metrics["faithfulness, by a model"].count) == (0.5, 1)
    assert metrics["judgements that could be read"].value == 0.5
    assert "faithfulness, by a model" not in {m.name for m in evaluate([case("3")], [row("3")])}


def test_the_command_has_each_answer_judged_by_the_configured_model(waypoint, questions, groq, monkeypatch):
    monkeypatch.setenv("LLM_API_KEY", "gsk_test")
    monkeypatch.setenv("LLM_BASE_URL", groq.url)
    monkeypatch.setenv("SCOPE_FILE", "off")
    Path(questions).write_text(Path(questions).read_text().splitlines()[0])
    groq.replies = [Reply("It is 9 % [GST Guide > Rate]."), Reply(TOLD)]
    code, out, _ = waypoint(
        "eval", questions, "--judge", "--json", "rows.jsonl", "--fail-under", "faithfulness, by a model=0.7"
    )

    assert code == 0
    assert "faithfulness, by a model" in out
    [kept] = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert kept["judgement"]["unsupported"] == ["It is free."]
    asked = groq.requests[-1]
    assert asked["temperature"] == pytest.approx(0, abs=1e-6)
    assert "<answer>\nIt is 9 % [GST Guide > Rate].\n</answer>" in asked["messages"][-1]["content"]
    assert waypoint("eval", questions, "--compare", "rows.jsonl", "rows.jsonl")[0] == 0
