import json

import pytest
import structlog

from app.logs import configure_logs


@pytest.fixture(autouse=True)
def _reset():
    yield
    structlog.reset_defaults()


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
