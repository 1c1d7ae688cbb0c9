"""A level and a format -> structured log lines on stderr: JSON for collectors, text for people."""

import logging
import sys
from typing import Literal

import structlog

Format = Literal["auto", "json", "text"]


def configure_logs(level: str, form: Format = "auto") -> None:
    """Set up structlog; `auto` is text on a terminal and JSON elsewhere."""
    as_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.dev.ConsoleRenderer() if as_text else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
