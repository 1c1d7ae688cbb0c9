import logging

import structlog

from chains.logs import get_logger


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
