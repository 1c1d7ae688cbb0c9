"""Structured log lines on stderr, those of libraries among them. No line holds a secret."""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any, Literal

import structlog
from structlog.types import Processor

from chains.logs import mask_secrets

Format = Literal["auto", "json", "text"]

# Libraries log nothing below INFO: at DEBUG, clients log questions, documents and answers.
# These also log every request at INFO, or an outage again and again; the application logs it once.
QUIETER = {"httpx": "WARNING", "httpcore": "WARNING", "mcp": "WARNING", "urllib3": "ERROR"}
QUIETER |= dict.fromkeys(("aiormq", "azure", "gcsfs", "google", "langsmith", "opentelemetry"), "CRITICAL")

_TRACEBACKS = {"exception", "stack"}


def configure_logs(level: str, form: Format = "auto") -> None:
    """Set up structlog and the standard library's logging; `auto` is text on a terminal and JSON elsewhere."""
    as_text = form == "text" or (form == "auto" and sys.stderr.isatty())
    render: list[Processor] = [structlog.processors.format_exc_info, mask_secrets]
    if as_text:
        plain = structlog.dev.plain_traceback
        console = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty(), exception_formatter=plain)
        render += [escape_controls, console]
    else:
        render.append(structlog.processors.JSONRenderer())
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, *_COMMON, *render],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=lambda *_: structlog.PrintLogger(sys.stderr),
    )
    _configure_libraries(number, render)


_COMMON: list[Processor] = [structlog.processors.add_log_level, structlog.processors.TimeStamper(fmt="iso", utc=True)]


def escape_controls(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Escape in every field what a terminal would obey, and line ends except those of tracebacks."""
    return {
        escaped(name): escaped(value, lines=name in _TRACEBACKS) if isinstance(value, str) else value
        for name, value in event.items()
    }


def first_line(record: logging.LogRecord) -> bool:
    """Cut what is logged without a logger's name to its first line: below it, the MCP SDK repeats what clients sent."""
    if record.name == "root":
        record.msg, record.args = record.getMessage().partition("\n")[0], ()
    return True


class LibraryHandler(logging.StreamHandler[Any]):
    """Writes what libraries log to the current `sys.stderr`."""

    def emit(self, record: logging.LogRecord) -> None:
        self.stream = sys.stderr
        super().emit(record)


def _configure_libraries(level: int, render: list[Processor]) -> None:
    handler = LibraryHandler()
    handler.addFilter(first_line)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.contextvars.merge_contextvars, structlog.stdlib.add_logger_name, *_COMMON],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
        )
    )
    for before in [one for one in logging.root.handlers if isinstance(one, LibraryHandler)]:
        logging.root.removeHandler(before)
    logging.root.addHandler(handler)
    logging.root.setLevel(max(level, logging.INFO))
    handler.setLevel(logging.INFO)
    for name, least in QUIETER.items():
        logging.getLogger(name).setLevel(max(level, logging.getLevelNamesMapping()[least]))


# Control characters but tab and line feed, lone surrogates, and the marks that change the direction of text.
_UNPRINTABLE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_ANY = re.compile(f"[{_UNPRINTABLE}]")
_ANY_OR_LINE_END = re.compile(f"[{_UNPRINTABLE}\n]")


def printable(text: str) -> str:
    """Replace what a terminal would obey; each character by itself, so that pieces of a stream need no memory."""
    return _ANY.sub("\N{REPLACEMENT CHARACTER}", text)


def escaped(text: str, *, lines: bool = False) -> str:
    r"""Write the same characters as escapes like \u001b, which JSON reads back; line ends too unless `lines`."""
    pattern = _ANY if lines else _ANY_OR_LINE_END
    return pattern.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
