"""Metrics of an evaluation: what is right, retrieval, answers, declines, citations, confidence, latency."""

from collections.abc import Sequence
from dataclasses import replace

from chains.state import Confidence
from evals.metrics.answers import (
    CORRECT_DECLINES,
    FOUNDED,
    UNFOUNDED,
    answers,
    asks_back,
    citations,
    fact_coverage,
    gold_of,
    is_declined,
    is_founded,
    is_judged,
    is_right,
    judged,
    rightness,
    valid_of,
)
from evals.metrics.confidence import (
    Bin,
    Judged,
    Point,
    auroc,
    brier,
    calibration_error,
    confidence,
    coverage_at,
    false_answer_curve,
    judgements,
    reliability,
    risk_coverage,
    risk_coverage_area,
    scores,
)
from evals.metrics.measure import SAMPLES, Measure, Metric, latency, percentile, with_intervals
from evals.metrics.retrieval import (
    document_rank,
    evidence_rank,
    evidence_shown,
    hit,
    hit_curves,
    is_gold,
    page_rank,
    reciprocal,
    retrieval,
    words,
)
from evals.questions import Case
from evals.rows import Judgement, Pair, Row, pairs_of

__all__ = [
    "PILOT",
    "SAMPLES",
    "Bin",
    "Judged",
    "Measure",
    "Metric",
    "Pair",
    "Point",
    "asks_back",
    "auroc",
    "brier",
    "calibration_error",
    "coverage_at",
    "document_rank",
    "evaluate",
    "evidence_rank",
    "evidence_shown",
    "fact_coverage",
    "false_answer_curve",
    "gold_of",
    "hit",
    "hit_curves",
    "is_declined",
    "is_founded",
    "is_gold",
    "is_judged",
    "is_right",
    "judgements",
    "measures",
    "names_for",
    "page_rank",
    "pairs_of",
    "percentile",
    "reciprocal",
    "reliability",
    "risk_coverage",
    "risk_coverage_area",
    "scores",
    "valid_of",
    "words",
]

PILOT = {
    "deflection rate": FOUNDED,
    "hallucination rate": UNFOUNDED,
    "out-of-scope handling": CORRECT_DECLINES,
}
"""The names that the pilot gave to three of the figures."""


def evaluate(cases: Sequence[Case], rows: Sequence[Row], *, samples: int = 0) -> list[Metric]:
    """Return every metric, in the order of the report; with `samples` each has its 95 % interval by bootstrap."""
    every = measures(pairs_of(cases, rows))
    return with_intervals(every, samples=samples) if samples else [measure.metric() for measure in every]


def measures(pairs: Sequence[Pair]) -> list[Measure]:
    """Return every measure, in the order of the report."""
    found = [
        *rightness(pairs),
        *retrieval(pairs),
        *answers(pairs),
        *citations(pairs),
        *confidence(pairs),
        *latency(pairs),
        *judged(pairs),
    ]
    by_name = {measure.name: measure for measure in found}
    aliases = [replace(by_name[name], group="the pilot's names", name=alias) for alias, name in PILOT.items()]
    return [*found, *aliases]


def names_for(cases: Sequence[Case], stages: Sequence[str], *, with_judge: bool = False) -> list[str]:
    """Return the names of the metrics that a run of these cases has, through a chain with these stages."""
    unanswered = [(case, _unanswered(case.id, stages)) for case in cases]
    for _, row in unanswered:
        if with_judge:
            row["judgement"] = Judgement(faithfulness=None, statements=0, supported=0, unsupported=[])
    return [measure.name for measure in measures(unanswered)]


def _unanswered(case_id: str, stages: Sequence[str]) -> Row:
    return Row(
        id=case_id,
        outcome="no_results",
        answer="",
        citations=[],
        confidence=Confidence(level="", score=0.0, reason="", factors={}),
        retrieved=[],
        timings_ms=dict.fromkeys(stages, 0.0),
        model=None,
    )
