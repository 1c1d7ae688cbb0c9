"""Cases and rows as the examples, outputs and scores of an experiment on a service that compares runs."""

from typing import Any

from typing_extensions import TypedDict

from evals.evaluators import FIGURES
from evals.questions import Case
from evals.rows import Row, score_of


class Example(TypedDict):
    """What is asked, what an answer is held to, and the case's id, kind and form."""

    inputs: dict[str, Any]
    outputs: dict[str, Any]
    metadata: dict[str, Any]


def example_of(case: Case) -> Example:
    """Return the case as an example."""
    gold = [{"doc_id": one.doc_id, "section": one.section, "evidence": one.evidence} for one in case.gold]
    return Example(
        inputs={"question": case.question, "history": list(case.history)},
        outputs={
            "answer_facts": list(case.answer_facts),
            "gold": gold,
            "in_scope": case.in_scope,
            "kind": case.kind,
        },
        metadata={"id": case.id, "kind": case.kind, "form": case.form},
    )


def outputs_of(row: Row) -> dict[str, Any]:
    """Return what the run of a question shows: the answer and what it rests on, without the text retrieved."""
    cited = [
        {name: citation[name] for name in ("doc_id", "section", "page", "quote", "support")}
        for citation in row["citations"]
        if citation["matched"]
    ]
    return {
        "answer": row["answer"],
        "outcome": row["outcome"],
        "confidence": score_of(row),
        "citations": cited,
        "retrieved": [chunk["chunk_id"] for chunk in row["retrieved"]],
        "model": row["model"],
    }


def scores_of(case: Case, row: Row) -> dict[str, float]:
    """Return the figures that the question counts for, by their names."""
    found = {name: figure(case, row) for name, figure in FIGURES.items()}
    return {name: score for name, score in found.items() if score is not None}
