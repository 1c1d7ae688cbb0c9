"""Loggers that write where the program around them does: its structlog, or the standard library's logging.

A program that set neither up sees nothing: this project prints no log line of its own accord. No line holds a secret.
"""

import logging
import re
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

MASK = "***"
_SECRETS = (
    re.compile(r"(?P<kept>://[^\s/:@]*:)[^\s/@]+(?=@)"),
    re.compile(r"(?P<kept>\bbearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE),
    re.compile(r"(?P<kept>(?:api[_-]?key|token|password|secret)[\"']?\s*[=:]\s*[\"']?)[^\s\"'&,;)}]+", re.IGNORECASE),
    re.compile(r"(?P<kept>)\b(?:gsk|sk|pk|lsv2)[_-][\w-]{8,}"),
)
_SECRET_NAME = re.compile(r"(?:^|_)(?:api_?key|authorization|cookie|password|secret)$", re.IGNORECASE)


def get_logger(name: str) -> Any:
    """Return the logger of a module; call it with `__name__`."""
    logging.getLogger(name.partition(".")[0]).addHandler(_SILENT)
    return _Logger(name)


class _Logger:
    """Chooses at each call, because a program may set up structlog after this module was imported."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, method: str) -> Any:
        if structlog.is_configured():
            return getattr(structlog.get_logger(self._name), method)  # noqa: TID251 - the one place.
        logger = structlog.wrap_logger(
            logging.getLogger(self._name),
            wrapper_class=structlog.stdlib.BoundLogger,
            processors=[
                structlog.stdlib.filter_by_level,
                structlog.contextvars.merge_contextvars,
                structlog.processors.format_exc_info,
                mask_secrets,
                _as_line,
            ],
        )
        return getattr(logger, method)


def mask_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace keys, bearer tokens and the passwords of addresses, wherever in a log event they stand."""
    return {name: MASK if _SECRET_NAME.search(name) else masked(value) for name, value in event.items()}


def masked(value: Any) -> Any:
    if isinstance(value, str):
        for pattern in _SECRETS:
            value = pattern.sub(rf"\g<kept>{MASK}", value)
        return value
    if isinstance(value, Mapping):
        return mask_secrets(None, "", dict(value))
    if isinstance(value, list | tuple):
        return [masked(inner) for inner in value]
    return value if isinstance(value, int | float | None) else masked(str(value))


def _as_line(_: Any, __: str, event: MutableMapping[str, Any]) -> str:
    traceback = event.pop("exception", None)
    line = " ".join([str(event.pop("event")), *(f"{name}={value!r}" for name, value in event.items())])
    return f"{line}\n{traceback}" if traceback else line


# Without a handler, logging would print warnings to stderr. Adding it twice adds it once.
_SILENT = logging.NullHandler()
