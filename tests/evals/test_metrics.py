"""Every expected figure is worked out by hand in the claim or the comment beside it."""

from typing import Any

import numpy as np
import pytest

from chains.state import Citation, Confidence
from evals.metrics import (
    PILOT,
    Bin,
    Point,
    auroc,
    brier,
    calibration_error,
    coverage_at,
    document_rank,
    evaluate,
    evidence_rank,
    evidence_shown,
    fact_coverage,
    false_answer_curve,
    hit_curves,
    is_founded,
    is_right,
    page_rank,
    percentile,
    reliability,
    risk_coverage,
    risk_coverage_area,
)
from evals.metrics.measure import interval, mean, ratio, with_intervals
from evals.questions import Case, Gold
from evals.rows import Retrieved, Row
from tests.cases import cases as named

GST = Gold("01_regulatory_gst", "Rate", "The rate is 9 %")


def case(case_id: str = "1", **fields: Any) -> Case:
    return Case(id=case_id, question="?", **{"kind": "answerable", "gold": (GST,), **fields})


def chunk(doc_id: str, content: str = "", page: int | None = None) -> Retrieved:
    return Retrieved(doc_id=doc_id, chunk_id=f"{doc_id}#0", section=None, page=page, score=0.5, content=content)


def citation(doc_id: str | None, *, attributed: bool = False) -> Citation:
    return Citation(
        raw="[x]", number=1, title="x", section=None, page=None, doc_id=doc_id, matched=doc_id is not None,
        source_urls=[], score=0.5, start=0, end=3, quote="", support=0.0, attributed=attributed, contradicted=False,
    )  # fmt: skip


def row(case_id: str = "1", *, outcome: str = "answered", answer: str = "", score: float = 0.5, **fields: Any) -> Row:
    cited = [citation(doc_id) for doc_id in fields.get("cited", [])]
    return Row(
        id=case_id,
        outcome=outcome,
        answer=answer,
        citations=cited + fields.get("citations", []),
        confidence=Confidence(level="High", score=score, reason="", factors={}),
        retrieved=fields.get("retrieved", []),
        timings_ms=fields.get("timings_ms", {}),
        model=None,
    )


CITED = ["01_regulatory_gst"]
GOLD, OTHER, TOLD = chunk(GST.doc_id), chunk("other"), chunk(GST.doc_id, "The rate is 9 %")
FACT = case(answer_facts=("9%",))
FACTS = case(answer_facts=("9%", "gst", "imports"))
MARKUP = [
    OTHER | {"content": "The rate is 9 %"},
    GOLD | {"content": "a 19 %"},
    GOLD | {"content": "| the **RATE** is\n9% |"},
]
PAGED = case(gold=(Gold("gst", page=7),))
PAGES = [chunk("other", page=7), chunk("gst", page=6), chunk("gst", page=7)]
ASKED_BACK = case(kind="underspecified", gold=())
JUDGED: dict[str, list[Any]] = {
    "the rank of a document is that of its first chunk": [
        (document_rank, case(), row(retrieved=[OTHER, GOLD, GOLD]), 2),
        (document_rank, case(), row(retrieved=[OTHER]), None),
    ],
    "a gold document may be named without its folder": [
        (document_rank, case(gold=(Gold("gst"),)), row(retrieved=[GOLD]), 1)
    ],
    "evidence counts in a chunk of its document only and apart from markup, case and line ends": [
        (evidence_rank, case(), row(retrieved=MARKUP), 3)
    ],
    # It is 15 characters long: it ends at 3,995, or at 4,005.
    "evidence counts within the first 4,000 characters across chunks": [
        (
            evidence_shown,
            case(),
            row(retrieved=[chunk("other", "x" * size), chunk(GST.doc_id, "The rate is 9 %")]),
            shown,
        )
        for size, shown in ((3980, True), (3990, False))
    ],
    "a page counts on a gold document only": [(page_rank, PAGED, row(retrieved=PAGES), 3)],
    "fact coverage is the share of facts in the answer, blanks and case apart": [
        (fact_coverage, FACTS, row(answer="GST is 9 %."), pytest.approx(2 / 3)),
        (fact_coverage, FACTS, row(answer="GST is 9 %.", outcome="declined"), 0),
    ],
    "an answer is founded on a matched citation of a gold document": [
        (is_founded, case(), row(cited=["other", *CITED]), True),
        (is_founded, case(), row(cited=["other", None]), False),
        (is_founded, case(), row(cited=CITED, outcome="ungrounded"), False),
    ],
    "an answer is right with every fact and a gold citation": [
        (is_right, FACT, row(answer="9 %", cited=CITED), True),
        (is_right, FACT, row(answer="8 %", cited=CITED), False),
        (is_right, case(kind="uncovered"), row(cited=CITED), False),
    ],
    "without gold documents the facts decide over any valid citation": [
        (is_right, case(gold=(), answer_facts=("9%",)), row(answer="9 %", cited=["other"]), True),
        (is_right, case(gold=(), answer_facts=("9%",)), row(answer="9 %"), False),
    ],
    "an underspecified question is right when asked back or declined": [
        (is_right, ASKED_BACK, row(outcome="declined", answer="I cannot say."), True),
        (is_right, ASKED_BACK, row(answer="Which country is it for? [GST > Rate]"), True),
        (is_right, ASKED_BACK, row(answer="Do you mean **import** or export?**"), True),
        (is_right, ASKED_BACK, row(answer="What is the rate? It is 9 %."), False),
    ],
}


@pytest.mark.parametrize(("judge", "asked", "given", "expected"), named(JUDGED))
def test_a_question_is_judged(judge, asked, given, expected):
    assert judge(asked, given) == expected


def outcomes(*pairs: tuple[str, str]) -> tuple[list[Case], list[Row]]:
    """Return a question of each kind, and its row with an outcome."""
    numbered = list(enumerate(pairs))
    return [case(str(n), kind=kind) for n, (kind, _) in numbered], [
        row(str(n), outcome=told) for n, (_, told) in numbered
    ]


RANKED = [[GOLD], [OTHER] * 3 + [GOLD], [OTHER]]
LAPS = [row("1", timings_ms={"retrieval": 1.0, "generation": 9.0}), row("2", timings_ms={"retrieval": 3.0})]
FIGURES: dict[str, list[Any]] = {
    # Ranks 1, 4 and none.
    "hits and mean reciprocal rank": [
        (
            ([case(str(n)) for n in range(3)], [row(str(n), retrieved=chunks) for n, chunks in enumerate(RANKED)]),
            {"document hit@1": 1 / 3, "document hit@3": 1 / 3, "document hit@5": 2 / 3, "document hit@10": 2 / 3}
            | {"document MRR@10": 1.25 / 3, "evidence chunk hit@10": 0},
        ),
        (([PAGED], [row(retrieved=PAGES)]), {"page hit@3": 1}),
    ],
    # Declined and no_results of 3 out of scope are right; ungrounded of 2 in scope is a false decline.
    "declines are correct out of scope and false in scope": [
        (
            outcomes(
                *(("action", "declined"), ("offdomain", "no_results"), ("uncovered", "answered")),
                *(("answerable", "ungrounded"), ("answerable", "degraded")),
            ),
            {"correct declines": 2 / 3, "false declines": 0.5},
        )
    ],
    # Of 4 citations 3 match something retrieved; 2 of these are of the gold document. One that we found is not counted.
    "citation validity is of all that the model marked, and precision of the valid ones": [
        (
            ([case()], [row(cited=[*CITED, *CITED, "other", None])]),
            {"citation validity": 0.75, "citation precision": 2 / 3},
        ),
        (
            ([case()], [row(cited=[*CITED, None], citations=[citation("other", attributed=True)])]),
            {"citation validity": 0.5},
        ),
    ],
    "latency is told by stage and in all": [
        (
            ([case("1"), case("2")], LAPS),
            {"retrieval p50 (ms)": 1, "retrieval p95 (ms)": 3, "generation p50 (ms)": 9}
            | {"all stages p50 (ms)": 3, "all stages p95 (ms)": 10},
        )
    ],
    "the right ones are told by the form of the question": [
        (
            ([case("1", form="typo"), case("2", form="typo"), case("3")], [row("1", cited=CITED), row("2"), row("3")]),
            {"right, form typo": 0.5},
        )
    ],
    # Out of scope one of two is answered. Given are that one, a founded one and one that cites another document.
    "the false-answer rate and the unfounded answers": [
        (
            (
                [case("1", kind="action"), case("2", kind="uncovered"), case("3"), case("4")],
                [row("1", outcome="declined"), row("2", cited=CITED), row("3", cited=CITED), row("4", cited=["other"])],
            ),
            {"false-answer rate": 0.5, "answers given, not founded": 2 / 3},
        )
    ],
    "the pilot's names are those of other figures": [
        (
            ([case("1"), case("2", kind="uncovered")], [row("1", cited=CITED), row("2")]),
            {"deflection rate": 1, "hallucination rate": 0.5, "out-of-scope handling": 0},
        )
    ],
}


@pytest.mark.parametrize(("run", "expected"), named(FIGURES))
def test_a_figure_over_questions_is_that_worked_out_by_hand(run, expected):
    found = {metric.name: metric.value for metric in evaluate(*run)}

    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert {name: found[name] for name in PILOT} == {name: found[of] for name, of in PILOT.items()}


@pytest.mark.parametrize(
    ("run", "counts"),
    [
        (([case(gold=(Gold("gst"),))], [row()]), {"evidence chunk hit@5": 0, "document hit@5": 1}),
        (([case()], [row(outcome="declined", score=0.0)]), {"ECE": 0, "Brier score": 0, "AUROC": 0}),
        (
            ([case(kind="underspecified")], [row(outcome="declined")]),
            {"right, underspecified": 1, "correct declines": 0, "false-answer rate": 0},
        ),
        (
            ([case("1"), case("2", kind="action"), ASKED_BACK, case("4", gold=()), case("5")],
             [row("1"), row("2"), row("1"), row("4"), row("5")]),
            {"right, all kinds": 4, "right, answerable": 2, "right, action": 1, "right, underspecified": 1},
        ),
        (([], []), {"right, all kinds": 0}),
    ],
)  # fmt: skip
def test_questions_that_a_figure_cannot_judge_are_not_counted_by_it(run, counts):
    metrics = {metric.name: metric for metric in evaluate(*run)}

    assert {name: metrics[name].count for name in counts} == counts
    assert all(metric.value is None for metric in metrics.values() if not metric.count)


def test_the_curves_of_retrieval_rise_to_the_rank_and_leave_out_what_no_question_has():
    found = hit_curves([(case(), row(retrieved=[OTHER, GOLD, chunk(GST.doc_id, "The rate is 9 %")]))], 3)
    assert found == {"document": [(1, 0), (2, 1), (3, 1)], "evidence chunk": [(1, 0), (2, 0), (3, 1)]}


FOUR = [(0.9, True), (0.6, True), (0.6, False), (0.1, False)]
TWENTY = [(0.9, n < 10) for n in range(20)]
HIDDEN = [(0.81, True)] * 85 + [(0.81, False)] * 15 + [(0.89, True)] * 85 + [(0.89, False)] * 15
CURVE = np.array([(0.9, 1), (0.5, 1), (-1, 1), (0.5, 0), (-1, 0)], dtype=float)
CALIBRATION: dict[str, list[Any]] = {
    # Bin 0.9-1.0: confidence 0.95, right 0.5, gap 0.45, 2 of 3. Bin 0.2-0.3: confidence 0.2, right 0, gap 0.2, 1 of 3.
    "the error of calibration weighs each bin by its count": [
        (calibration_error([(0.9, True), (1.0, False), (0.2, False)]), pytest.approx((2 * 0.45 + 0.2) / 3)),
        (reliability([(0.9, True), (1.0, False), (0.2, False)]), [Bin(1, 0.2, 0.0), Bin(2, 0.95, 0.5)]),
    ],
    "the Brier score is the mean squared difference": [
        (brier([(0.9, True), (0.2, False)]), pytest.approx((0.01 + 0.04) / 2))
    ],
    # Right 0.8 and 0.5, wrong 0.5 and 0.1: 0.8 beats both, 0.5 ties one and beats the other: 3.5 of 4 pairs.
    "AUROC counts pairs in the right order, and ties half": [
        (auroc([(0.8, True), (0.5, True), (0.5, False), (0.1, False)]), 3.5 / 4),
        (auroc([(0.8, True)]), None),
    ],
    "a percentile is the nearest rank": [
        (percentile([10, 9, 8, 7, 6, 5, 4, 3, 2, 1], percent), value)
        for percent, value in ((50, 5), (95, 10), (100, 10), (1, 1))
    ],
    # Twenty answers of confidence 0.9 lie in one bin of equal width, in ten of equal mass; half of each are right.
    "bins of equal mass hold equal numbers, and ties share their rightness": [
        (reliability(TWENTY, equal_mass=True), [Bin(2, 0.9, 0.5)] * 10),
        (calibration_error(TWENTY, equal_mass=True), pytest.approx(0.4)),
    ],
    # Within 0.8-0.9 the mean confidence, 0.85, is the share that is right, but not for either half.
    "bins of equal mass see what wide bins hide": [
        (calibration_error(HIDDEN), pytest.approx(0)),
        (calibration_error(HIDDEN, equal_mass=True), pytest.approx(0.04)),
    ],
    # Kept one: right. Kept three (two of one confidence, one wrong): a third is wrong. Kept all: half.
    "the risk of what is kept falls with the threshold": [
        (risk_coverage(FOUR), [Point(0.25, 0.0, 0.9), Point(0.75, 1 / 3, 0.6), Point(1.0, 0.5, 0.1)]),
        (risk_coverage([]), []),
    ],
    # Risks of 1 to 4 kept: 0, (0 + 0.5)/2, (0 + 0.5 + 0.5)/3, 2/4.
    "the area under risk-coverage takes ties in any order": [
        (risk_coverage_area(some), pytest.approx((0 + 0.25 + 1 / 3 + 0.5) / 4)) for some in (FOUR, FOUR[::-1])
    ],
    # Out of scope: answered with 0.8 and 0.5, or not. In scope: 0.9, 0.85, 0.5 and not answered.
    # None of three may be answered: above 0.8, two of four. One: above 0.5, the same two. Two: all that is answered.
    "coverage at a rate of false answers": [
        (
            coverage_at(np.array([(0.9, 1), (0.85, 1), (0.5, 1), (-1, 1), (0.8, 0), (0.5, 0), (-1, 0)]), limit=limit),
            coverage,
        )
        for limit, coverage in ((0.0, 0.5), (0.3, 0.5), (0.34, 0.5), (0.67, 0.75), (1.0, 0.75))
    ]
    + [(coverage_at(np.array([(0.9, 1.0)]), limit=0.1), None)],
    "the curve of false answers has a point for each threshold": [
        (false_answer_curve(CURVE), [(0, 0), (0, 1 / 3), (0.5, 2 / 3)]),
        (false_answer_curve(CURVE[:3]), []),
    ],
    "a draw in which no question counts is left out of the interval": [
        (interval(np.array([np.nan, 0.5, np.nan])), (0.5, 0.5)),
        (interval(np.array([np.nan])), None),
    ],
}


@pytest.mark.parametrize(("found", "expected"), named(CALIBRATION))
def test_a_figure_of_confidence_is_that_worked_out_by_hand(found, expected):
    assert found == expected


# 3 of 4 citations of one question, 0 of 1 of another: 3 of 5, not the mean of 0.75 and 0.
@pytest.mark.parametrize(
    ("measure", "value", "count"),
    [(mean("a", "right", [1.0, None, 0.0, None]), 0.5, 2), (ratio("a", "valid", [(3, 4), (0, 1), None]), 0.6, 5)],
)
def test_a_share_is_of_the_questions_that_count_and_a_ratio_of_the_things_counted(measure, value, count):
    assert (measure.value(), measure.count) == (value, count)


def test_the_interval_of_a_share_is_that_of_the_binomial():
    # 40 right of 100: the normal approximation gives 0.4 -+ 1.96 * sqrt(0.4 * 0.6 / 100) = 0.304 to 0.496.
    [metric] = with_intervals([mean("answers", "right", [1.0] * 40 + [0.0] * 60)])
    assert metric.value == 0.4
    assert [metric.low, metric.high] == pytest.approx([0.304, 0.496], abs=0.02)


def test_every_metric_with_a_value_has_an_interval_that_is_the_same_each_time_but_of_one_question():
    cases = [case(str(n), answer_facts=("9%",)) for n in range(8)]
    rows = [
        row(str(n), answer="9 %" if n % 2 else "8 %", cited=CITED, score=n / 8, timings_ms={"a": n}) for n in range(8)
    ]
    found, again = (evaluate(cases, rows, samples=50) for _ in range(2))

    assert found == again
    assert [metric.name for metric in found if (metric.low is None) != (metric.value is None)] == []
    assert [metric.name for metric in found if (metric.low or 0) > (metric.high or 0)] == []
    assert all(metric.low is None for metric in evaluate([case()], [row()], samples=50))
