"""Run the cases through the chain: one row each, with what was retrieved and answered, and how long it took."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from langchain_core.runnables import Runnable
from typing_extensions import TypedDict

from chains.state import Answer, Citation, Confidence, Passage, Question
from evals.questions import Case


class Retrieved(TypedDict):
    """One retrieved chunk."""

    doc_id: str | None
    section: str | None
    score: float | None
    content: str


class Row(TypedDict):
    """What became of one question; CONTRACTS calls the fields by these names."""

    id: str
    outcome: str
    answer: str
    citations: list[Citation]
    confidence: Confidence
    retrieved: list[Retrieved]
    timings_ms: dict[str, float]
    model: str | None


def ask_all(
    chain: Runnable[Question, Answer],
    cases: Sequence[Case],
    *,
    progress: Callable[[int, int, str], None] | None = None,
) -> Iterator[Row]:
    """Ask the questions one after the other, and yield each row as it is done."""
    for number, case in enumerate(cases, start=1):
        yield row_of(case.id, chain.invoke(Question(question=case.question, history=list(case.history))))
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
            section=_text(document["metadata"].get("section")),
            score=document["score"],
            content=document["content"],
        )
        for document in documents
    ]


def _text(value: Any) -> str | None:
    return str(value) if value else None
