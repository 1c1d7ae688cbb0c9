"""Write rows and pages to files, row by row, so that an interrupted run is not lost, and metrics as tables."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TextIO

from chains.errors import ConfigurationError, WaypointError
from evals.metrics import Metric, is_judged
from evals.questions import KINDS, Case
from evals.rows import Row


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
        raise ConfigurationError(f"{str(path)!r} cannot be written: {error.strerror}") from error


def _write(file: TextIO, text: str) -> None:
    try:
        file.write(text)
        file.flush()
    except OSError as error:
        msg = f"{file.name!r} cannot be written on: {error.strerror}; what was written before is kept"
        raise WaypointError(msg) from error


INTERVALS = "From low to high: the 95 % interval, by bootstrap over the questions."


def counts_text(cases: Sequence[Case], rows: Sequence[Row]) -> str:
    """Return how many questions there are of each kind, and which of them no figure of `right` counts."""
    kinds = Counter(case.kind for case in cases)
    counted = ", ".join(f"{kinds[kind]} {kind}" for kind in KINDS if kinds[kind])
    asked = {row["id"] for row in rows}
    without = sum(case.id not in asked for case in cases)
    unjudged = sum(case.id in asked and not is_judged(case) for case in cases)
    return (
        f"{len(cases)} questions: {counted or 'none'}\n"
        f"{without} without an answer in the rows, {unjudged} in scope without gold or facts: "
        "never counted as right or wrong"
    )


def table_text(metrics: Sequence[Metric]) -> str:
    """Return the metrics as a plain table, one group below the other."""
    width = max((len(metric.name) for metric in metrics), default=0)
    lines = under_headings((metric.group, _line(metric, width)) for metric in metrics)
    return "\n".join([*lines, "", INTERVALS] if any(metric.low is not None for metric in metrics) else lines)


def under_headings(lines: Iterable[tuple[str, str]]) -> list[str]:
    """Return the lines, each with its group, below the names of their groups, with a blank line between groups."""
    found: list[str] = []
    for group, grouped in groupby(lines, key=itemgetter(0)):
        found += ["", group] if found else [group]
        found += [line for _, line in grouped]
    return found


def _line(metric: Metric, width: int) -> str:
    value = f"{shown(metric.value, metric.group):>8}"
    return f"  {metric.name:<{width}}  {value}  of {metric.count}{_range(metric)}"


def _range(metric: Metric) -> str:
    if metric.low is None or metric.high is None:
        return ""
    return f"  {shown(metric.low, metric.group)} to {shown(metric.high, metric.group)}"


def shown(value: float | None, group: str) -> str:
    """Return a figure with three decimals, milliseconds with one; `-` for none."""
    if value is None:
        return "-"
    return f"{value:.1f}" if group == "latency" else f"{value:.3f}"
