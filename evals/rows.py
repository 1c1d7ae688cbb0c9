"""Run the cases through the chain, one row each: what was retrieved and answered, and how long; or read kept rows."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, NotRequired, cast

from langchain_core.runnables import Runnable
from typing_extensions import TypedDict

from chains.errors import ConfigurationError
from chains.logs import get_logger
from chains.side_steps import count_fault
from chains.state import Answer, Citation, Confidence, Passage, Question
from evals.questions import Case, QuestionSetError, read_lines

FAILED = "failed"

log = get_logger(__name__)


class Retrieved(TypedDict):
    """One retrieved chunk; `chunk_id` is its document and its number there, as `doc_id#3`."""

    doc_id: str | None
    chunk_id: str | None
    section: str | None
    page: int | None
    score: float | None
    content: str


class Judgement(TypedDict):
    """How many statements of an answer a language model called supported; faithfulness None where it said nothing."""

    faithfulness: float | None
    statements: int
    supported: int
    unsupported: list[str]


class Row(TypedDict):
    """What became of one question; CONTRACTS calls the fields by these names. `judgement` is there with a judge."""

    id: str
    outcome: str
    answer: str
    citations: list[Citation]
    confidence: Confidence | None
    retrieved: list[Retrieved]
    timings_ms: dict[str, float]
    model: str | None
    judgement: NotRequired[Judgement]


def score_of(row: Row) -> float:
    """Return the confidence in an answer, 0-1; 0 where there is none to have."""
    return row["confidence"]["score"] if row["confidence"] else 0.0


Pair = tuple[Case, Row]


def pairs_of(cases: Sequence[Case], rows: Sequence[Row]) -> list[Pair]:
    """Return each case with its row, matched by id; a case without one is left out."""
    by_id = {row["id"]: row for row in rows}
    return [(case, by_id[case.id]) for case in cases if case.id in by_id]


def ask(chain: Runnable[Question, Answer], case: Case) -> Row:
    """Ask one question, and return its row; that of a question which failed has the outcome `failed`.

    Raises:
        ConfigurationError: no question can be answered before it is mended.
    """
    try:
        return row_of(case.id, chain.invoke(Question(question=case.question, history=list(case.history))))
    except ConfigurationError:
        raise
    except Exception as error:  # The other questions are still asked.
        log.warning("question_failed", id=case.id, reason=count_fault("question", error))
        return Row(
            id=case.id,
            outcome=FAILED,
            answer="",
            citations=[],
            confidence=None,
            retrieved=[],
            timings_ms={},
            model=None,
        )


def ask_all(
    chain: Runnable[Question, Answer],
    cases: Sequence[Case],
    *,
    progress: Callable[[int, int, str], None] | None = None,
) -> Iterator[Row]:
    """Ask the questions one after the other, and yield each row as it is done."""
    for number, case in enumerate(cases, start=1):
        yield ask(chain, case)
        if progress:
            progress(number, len(cases), case.id)


def row_of(case_id: str, answer: Answer) -> Row:
    """Return the row of an answer."""
    return Row(
        id=case_id,
        outcome=answer["outcome"],
        answer=answer["answer"],
        citations=answer["citations"],
        confidence=answer["confidence"],
        retrieved=retrieved_of(answer["documents"]),
        timings_ms=answer["metadata"]["timings_ms"],
        model=answer["metadata"]["model"],
    )


def retrieved_of(documents: Iterable[Passage]) -> list[Retrieved]:
    """Return the retrieved chunks in rank order, without what no metric reads."""
    return [
        Retrieved(
            doc_id=_text(document["metadata"].get("doc_id")),
            chunk_id=_chunk_id(document["metadata"]),
            section=_text(document["metadata"].get("section")),
            page=document["metadata"].get("page"),
            score=document["score"],
            content=document["content"],
        )
        for document in documents
    ]


def _chunk_id(metadata: Mapping[str, Any]) -> str | None:
    doc_id, number = metadata.get("doc_id"), metadata.get("chunk_index")
    return f"{doc_id}#{number}" if doc_id and number is not None else None


def _text(value: Any) -> str | None:
    return str(value) if value else None


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
            raise RowsError(f"{str(path)!r}, line {number}: {reason}") from error
        rows[row["id"]] = row
    if not rows:
        raise RowsError(f"{str(path)!r} holds no row; `waypoint eval QUESTIONS --json {path}` writes them")
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
