"""Read the rows that an earlier run wrote; a bad line is named by its number and the reason."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, NoReturn, cast

from evals.questions import QuestionSetError, read_lines
from evals.rows import Row

NEEDED: dict[str, type[Any]] = {
    "id": str,
    "outcome": str,
    "answer": str,
    "citations": list,
    "retrieved": list,
    "timings_ms": dict,
}
NAMES: dict[type[Any], str] = {str: "text", list: "list", dict: "object"}
CHUNK: dict[str, Any] = {"doc_id": None, "chunk_id": None, "section": None, "page": None, "score": None, "content": ""}


class RowsError(QuestionSetError):
    """A file of rows cannot be read, or one of its lines is no row of an evaluation."""


def read_rows(path: Path, known: Collection[str]) -> list[Row]:
    """Return the rows of a file that `waypoint eval --json` wrote.

    Args:
        path: The file.
        known: The ids of the questions that it may be about.

    Raises:
        RowsError: it cannot be read, holds no row, a line is no row, or one is of another question set.
    """
    rows: dict[str, Row] = {}
    for number, line in read_lines(path, RowsError):
        try:
            row = _row(json.loads(line))
            if row["id"] in rows:
                _refuse(f"the id {row['id']!r} was used before")
            if row["id"] not in known:
                _refuse(f"the id {row['id']!r} is none of the questions")
        except (ValueError, TypeError) as error:
            reason = f"no JSON ({error.msg})" if isinstance(error, json.JSONDecodeError) else str(error)
            msg = f"{str(path)!r}, line {number}: {reason}"
            raise RowsError(msg) from error
        rows[row["id"]] = row
    if not rows:
        msg = f"{str(path)!r} holds no row; `waypoint eval QUESTIONS --json {path}` writes them"
        raise RowsError(msg)
    return list(rows.values())


def _row(values: Any) -> Row:
    if not isinstance(values, Mapping):
        _refuse("a row is a JSON object")
    for name, kind in NEEDED.items():
        if not isinstance(values.get(name), kind):
            _refuse(f"no row of `waypoint eval --json`: {name} is missing, or no {NAMES[kind]}")
    confidence = values.get("confidence", {})
    if confidence is not None and not _is_score(confidence):
        _refuse("no row of `waypoint eval --json`: confidence has no score")
    if "judgement" in values and not isinstance(values["judgement"], Mapping | None):
        _refuse("judgement is no object")
    retrieved = [_chunk(chunk) for chunk in values["retrieved"]]
    citations = [_citation(citation) for citation in values["citations"]]
    return cast(Row, {"model": None, **values, "retrieved": retrieved, "citations": citations})


def _is_score(confidence: Any) -> bool:
    return isinstance(confidence, Mapping) and isinstance(confidence.get("score"), int | float)


def _chunk(values: Any) -> dict[str, Any]:
    if not isinstance(values, Mapping) or not isinstance(values.get("content", ""), str):
        _refuse("an entry of retrieved is a JSON object with content")
    return CHUNK | dict(values)  # Rows of earlier versions name neither chunk nor page.


def _citation(values: Any) -> dict[str, Any]:
    if not isinstance(values, Mapping) or not {"doc_id", "matched"} <= values.keys():
        _refuse("an entry of citations is a JSON object with doc_id and matched")
    return dict(values)


def _refuse(reason: str) -> NoReturn:
    raise ValueError(reason)
