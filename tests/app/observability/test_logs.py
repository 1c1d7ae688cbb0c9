import asyncio
import json
import logging
from typing import Any

import pytest
import structlog
from structlog.testing import capture_logs

from app.observability.call_log import CallLog
from app.observability.logs import configure_logs
from chains.around import Call
from chains.errors import LLMTimeoutError
from tests.logging_reset import reset_logs


@pytest.fixture(autouse=True)
def _reset():
    yield
    reset_logs()


def test_json_lines_hold_the_event_its_values_and_the_time(capsys):
    configure_logs("info", "json")
    structlog.get_logger().info("answer", citations=3)

    line = json.loads(capsys.readouterr().err)
    assert (line["event"], line["citations"], line["level"]) == ("answer", 3, "info")
    assert line["timestamp"].endswith("Z")


def test_text_is_for_people_and_the_level_filters(capsys):
    configure_logs("warning", "text")
    structlog.get_logger().info("hidden")
    structlog.get_logger().warning("shown")

    told = capsys.readouterr().err
    assert "shown" in told
    assert "hidden" not in told
    assert not told.startswith("{")


def test_without_a_terminal_auto_is_json(capsys):
    configure_logs("debug")
    structlog.get_logger().debug("answer")
    assert json.loads(capsys.readouterr().err)["level"] == "debug"


def test_what_a_library_logs_takes_the_same_form_with_the_request_it_belongs_to(capsys):
    configure_logs("info", "json")
    with structlog.contextvars.bound_contextvars(request_id="r1"):
        logging.getLogger("a.library").info("Started %s", "it")

    line = json.loads(capsys.readouterr().err)
    told = {name: line[name] for name in ("event", "level", "logger", "request_id")}
    assert told == {"event": "Started it", "level": "info", "logger": "a.library", "request_id": "r1"}


def test_libraries_that_tell_every_request_are_kept_quiet(capsys):
    configure_logs("info", "json")
    logging.getLogger("httpx").info("HTTP Request: POST https://api.example")
    logging.getLogger("langsmith.client").warning("Failed to multipart ingest runs")

    assert capsys.readouterr().err == ""


def test_of_what_is_logged_at_the_root_only_the_first_line_is_kept(capsys):
    configure_logs("info", "json")
    logging.warning("Failed to validate request: 2 errors\ninput_value=%r", "What is my salary?")
    logging.getLogger("mcp.server.lowlevel.server").info("Processing request of type CallToolRequest")

    [line] = capsys.readouterr().err.splitlines()
    assert json.loads(line)["event"] == "Failed to validate request: 2 errors"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("key gsk_abcdefgh1234 refused", "key *** refused"),
        ("lsv2_pt_0123456789abcdef", "***"),
        ("Authorization: Bearer abcdefgh.ijkl", "Authorization: Bearer ***"),
        ("cannot reach redis://:s3cret@host:6379/0", "cannot reach redis://:***@host:6379/0"),
        ("amqp://guest:guest@127.0.0.1/", "amqp://guest:***@127.0.0.1/"),
        ("GET /x?api_key=abc&page=2", "GET /x?api_key=***&page=2"),
        ('{"password": "abc"}', '{"password": "***"}'),
        ("12 tokens: 9 citations, basic information", "12 tokens: 9 citations, basic information"),
    ],
)
def test_a_secret_in_a_line_is_masked_and_nothing_else(capsys, text, shown):
    configure_logs("info", "json")
    structlog.get_logger().info("tried", said=text, nested=[{"inner": text}])
    logging.getLogger("library").warning(text)

    ours, theirs = map(json.loads, capsys.readouterr().err.splitlines())
    assert (ours["said"], ours["nested"], theirs["event"]) == (shown, [{"inner": shown}], shown)


@pytest.mark.parametrize("form", ["json", "text"])
def test_a_secret_in_a_traceback_is_masked(capsys, form):
    configure_logs("info", form)
    try:
        int("redis://user:s3cret@host")
    except ValueError:
        structlog.get_logger().exception("failed", api_key="abc")

    told = capsys.readouterr().err
    assert "Traceback" in told
    assert "s3cret" not in told
    assert "abc" not in told


def test_no_field_of_a_text_line_reaches_the_terminal_raw(capsys):
    configure_logs("info", "text")
    hostile = "x\x1b[2J\x9b31m\u202e\r\nforged"
    structlog.get_logger().info(hostile, file=hostile, **{hostile: 1})
    logging.getLogger("library").warning(hostile)

    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert [line for line in lines if set(line) & set("\x1b\x9b\u202e\r")] == []
    assert "\\u001b[2J" in lines[0]


def test_a_traceback_keeps_its_lines_and_loses_its_escapes(capsys):
    configure_logs("info", "text")
    try:
        int("\x1b[2J")
    except ValueError:
        structlog.get_logger().exception("failed")

    told = capsys.readouterr().err
    assert "\nTraceback (most recent call last):\n" in told
    assert "\x1b" not in told


def test_libraries_log_nothing_below_info_at_any_level(capsys):
    configure_logs("debug", "json")
    client = logging.getLogger("groq._base_client")
    client.setLevel(logging.DEBUG)
    client.debug("Request options: the question and all passages")
    assert capsys.readouterr().err == ""


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
