"""Run the cases through the chain: one row each, with what was retrieved and answered, and how long it took."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NotRequired

from langchain_core.runnables import Runnable
from typing_extensions import TypedDict

from chains.state import Answer, Citation, Confidence, Passage, Question
from evals.questions import Case


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
    """Ask one question, and return its row."""
    return row_of(case.id, chain.invoke(Question(question=case.question, history=list(case.history))))


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
