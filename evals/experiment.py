"""Cases and rows as the examples, outputs and scores of an experiment on a service that compares runs."""

from typing import Any

from typing_extensions import TypedDict

from evals.metrics import (
    document_rank,
    evidence_rank,
    fact_coverage,
    hit,
    is_declined,
    is_founded,
    is_judged,
    is_right,
)
from evals.questions import Case
from evals.rows import Row, score_of

CUT = 5


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
        outputs={"answer_facts": list(case.answer_facts), "gold": gold, "in_scope": case.in_scope},
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
    found: dict[str, float] = {"confidence": score_of(row), "declined": float(is_declined(row))}
    if is_judged(case):
        found["right"] = float(is_right(case, row))
    if case.in_scope and case.gold:
        found["founded"] = float(is_founded(case, row))
        found[f"document_hit_at_{CUT}"] = float(hit(document_rank(case, row), CUT))
    if case.in_scope and any(gold.evidence for gold in case.gold):
        found[f"evidence_hit_at_{CUT}"] = float(hit(evidence_rank(case, row), CUT))
    if case.in_scope and case.answer_facts:
        found["fact_coverage"] = fact_coverage(case, row)
    return found
