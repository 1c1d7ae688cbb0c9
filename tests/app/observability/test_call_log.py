import asyncio
from typing import Any

import pytest
from structlog.testing import capture_logs

from app.observability.call_log import CallLog
from chains.around import Call
from chains.errors import LLMTimeoutError

ANSWER: Any = {
    "answer": "It is 9 % [GST Guide > Rate].",
    "outcome": "answered",
    "citations": [{"matched": True}, {"matched": False}],
    "confidence": {"level": "High"},
    "metadata": {
        "query": "What is the GST rate?",
        "timings_ms": {"retrieval": 4.2},
        "usage": {"total_tokens": 20},
        "model": "llama",
        "cache": None,
        "finish_reason": "stop",
        "trace_id": "t1",
    },
}


def logged(call: Call, **options: Any) -> dict[str, Any]:
    with capture_logs() as lines:
        CallLog(**options).started(call)
        CallLog(**options).ended(call)
    [line] = lines
    return dict(line)


def call(**values: Any) -> Call:
    return Call({"question": "What is the GST rate?"}, {"request_id": "r1"}, seconds=0.5, **values)


def test_an_answer_is_one_line_without_a_word_of_question_or_answer():
    assert logged(call(answer=ANSWER, streamed=True)) == {
        "event": "answer",
        "log_level": "info",
        "request_id": "r1",
        "trace_id": "t1",
        "question": "2ffa2115bef4",
        "streamed": True,
        "seconds": 0.5,
        "outcome": "answered",
        "confidence": "High",
        "citations": 1,
        "laps_ms": {"retrieval": 4.2},
        "tokens": {"total_tokens": 20},
        "model": "llama",
        "cache": None,
        "finish_reason": "stop",
    }


def test_the_words_of_a_question_are_logged_where_that_is_asked_for():
    assert logged(call(answer=ANSWER), questions=True)["question"] == "What is the GST rate?"


def test_a_failure_names_its_kind_and_stage_and_not_its_message():
    line = logged(call(error=LLMTimeoutError("gsk_secret")))
    told = {name: line[name] for name in ("outcome", "error", "stage", "log_level")}
    assert told == {"outcome": "failed", "error": "LLMTimeoutError", "stage": "generation", "log_level": "warning"}
    assert "gsk_secret" not in str(line)


@pytest.mark.parametrize("error", [GeneratorExit(), asyncio.CancelledError()])
def test_a_client_that_leaves_is_no_failure(error):
    line = logged(call(error=error))
    assert (line["outcome"], line["log_level"]) == ("left", "info")
