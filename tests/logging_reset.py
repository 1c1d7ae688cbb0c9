"""Undo what `configure_logs` has set up."""

import logging

import structlog

from app.observability.logs import QUIETER, LibraryHandler


def reset_logs() -> None:
    structlog.reset_defaults()
    logging.root.handlers[:] = [one for one in logging.root.handlers if not isinstance(one, LibraryHandler)]
    logging.root.setLevel(logging.WARNING)
    for name in QUIETER:
        logging.getLogger(name).setLevel(logging.NOTSET)
