"""Write rows and pages to files, row by row, so that an interrupted run is not lost."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from chains.errors import ConfigurationError, WaypointError


@contextmanager
def rows_file(path: Path | None) -> Iterator[Callable[[Mapping[str, Any]], None]]:
    """Give the body a function that appends a row to the file as a line of JSON; without a path it does nothing.

    Raises:
        ConfigurationError: the file cannot be made.
        WaypointError: the file cannot be written on.
    """
    if path is None:
        yield lambda _: None
        return
    with _opened(path) as file:

        def write(row: Mapping[str, Any]) -> None:
            _write(file, json.dumps(row, ensure_ascii=False) + "\n")

        yield write


def write_page(path: Path, page: str) -> None:
    """Write a page, and the folders above it.

    Raises:
        ConfigurationError: the file cannot be made.
        WaypointError: the file cannot be written on.
    """
    with _opened(path) as file:
        _write(file, page)


def _opened(path: Path) -> TextIO:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("w", encoding="utf-8")
    except OSError as error:
        msg = f"{str(path)!r} cannot be written: {error.strerror}"
        raise ConfigurationError(msg) from error


def _write(file: TextIO, text: str) -> None:
    try:
        file.write(text)
        file.flush()
    except OSError as error:
        msg = f"{file.name!r} cannot be written on: {error.strerror}; what was written before is kept"
        raise WaypointError(msg) from error
