"""What `waypoint eval` computes of one answer, as evaluators: for LangSmith's `evaluate` and for tests with pytest.

    langsmith.evaluate(chain.invoke, data="desk", evaluators=[right, founded, citation_precision])

    assert right(chain.invoke({"question": "What is the rate?"}), {"answer_facts": ["9 %"]})["score"] == 1

`outputs` is the answer of the chain. `reference_outputs` say what it is held to, as `waypoint eval --langsmith` writes
them; each may be left out: `answer_facts`, the texts that a right answer contains; `gold`, a list of
`{"doc_id": ..., "section": ..., "evidence": ...}`; `kind`, `answerable` by default, or `uncovered` where declining is
right. The score is None where the reference says nothing about it.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, cast

from chains.state import Answer
from evals.metrics import (
    document_rank,
    evidence_rank,
    gold_of,
    hit,
    is_declined,
    is_founded,
    is_judged,
    is_right,
    valid_of,
)
from evals.metrics import (
    fact_coverage as share_of_facts,
)
from evals.questions import Case, case_of
from evals.rows import Row, row_of, score_of


class Evaluator(Protocol):
    """Scores an answer; the score is None where the reference does not say what it takes."""

    def __call__(
        self, outputs: Mapping[str, Any], reference_outputs: Mapping[str, Any] | None = None
    ) -> dict[str, Any]: ...


Figure = Callable[[Case, Row], float | None]

CUT = 5


def _share(counts: tuple[float, float] | None) -> float | None:
    return counts[0] / counts[1] if counts else None


def _has_gold(case: Case) -> bool:
    return case.in_scope and bool(case.gold)


def _has_evidence(case: Case) -> bool:
    return case.in_scope and any(gold.evidence for gold in case.gold)


FIGURES: dict[str, Figure] = {
    "confidence": lambda _, row: score_of(row),
    "declined": lambda _, row: float(is_declined(row)),
    "right": lambda case, row: float(is_right(case, row)) if is_judged(case) else None,
    "founded": lambda case, row: float(is_founded(case, row)) if _has_gold(case) else None,
    "document_hit_at_5": lambda case, row: float(hit(document_rank(case, row), CUT)) if _has_gold(case) else None,
    "evidence_hit_at_5": lambda case, row: float(hit(evidence_rank(case, row), CUT)) if _has_evidence(case) else None,
    "fact_coverage": lambda case, row: share_of_facts(case, row) if case.in_scope and case.answer_facts else None,
    "citation_validity": lambda _, row: _share(valid_of(row)),
    "citation_precision": lambda case, row: _share(gold_of(case, row)),
}


def _evaluator(name: str) -> Evaluator:
    def evaluate(outputs: Mapping[str, Any], reference_outputs: Mapping[str, Any] | None = None) -> dict[str, Any]:
        reference = reference_outputs or {}
        kind = "answerable" if reference.get("in_scope", True) else "uncovered"
        case, answer = case_of({"kind": kind, **reference, "question": "as asked"}), cast("Answer", outputs)
        return {"key": name, "score": FIGURES[name](case, row_of(case.id, answer))}

    evaluate.__name__ = evaluate.__qualname__ = name
    return evaluate


confidence = _evaluator("confidence")
declined = _evaluator("declined")
right = _evaluator("right")
founded = _evaluator("founded")
document_hit_at_5 = _evaluator("document_hit_at_5")
evidence_hit_at_5 = _evaluator("evidence_hit_at_5")
fact_coverage = _evaluator("fact_coverage")
citation_validity = _evaluator("citation_validity")
citation_precision = _evaluator("citation_precision")

EVALUATORS = (
    *(right, founded, declined, confidence, fact_coverage),
    *(document_hit_at_5, evidence_hit_at_5, citation_validity, citation_precision),
)
