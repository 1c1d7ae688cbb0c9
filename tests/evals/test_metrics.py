"""Every expected figure is worked out by hand in the comment or the name beside it."""

from typing import Any

import pytest

from chains.state import Citation, Confidence
from evals.metrics import (
    PILOT,
    document_rank,
    evaluate,
    evidence_rank,
    evidence_shown,
    fact_coverage,
    hit_curves,
    is_founded,
    is_right,
    page_rank,
)
from evals.questions import Case, Gold
from evals.rows import Retrieved, Row

GST = Gold("01_regulatory_gst", "Rate", "The rate is 9 %")


def case(case_id: str = "1", **fields: Any) -> Case:
    return Case(id=case_id, question="?", **{"kind": "answerable", "gold": (GST,), **fields})


def chunk(doc_id: str, content: str = "", page: int | None = None) -> Retrieved:
    return Retrieved(doc_id=doc_id, chunk_id=f"{doc_id}#0", section=None, page=page, score=0.5, content=content)


def citation(doc_id: str | None) -> Citation:
    return Citation(
        raw="[x]", number=1, title="x", section=None, page=None, doc_id=doc_id, matched=doc_id is not None,
        source_urls=[], score=0.5, start=0, end=3, quote="", support=0.0, attributed=False, contradicted=False,
    )  # fmt: skip


def row(case_id: str = "1", *, outcome: str = "answered", answer: str = "", score: float = 0.5, **fields: Any) -> Row:
    cited = [citation(doc_id) for doc_id in fields.get("cited", [])]
    return Row(
        id=case_id,
        outcome=outcome,
        answer=answer,
        citations=cited,
        confidence=Confidence(level="High", score=score, reason="", factors={}),
        retrieved=fields.get("retrieved", []),
        timings_ms=fields.get("timings_ms", {}),
        model=None,
    )


def figures(cases: list[Case], rows: list[Row]) -> dict[str, float | None]:
    return {metric.name: metric.value for metric in evaluate(cases, rows)}


def test_the_rank_of_a_document_is_that_of_its_first_chunk():
    found = row(retrieved=[chunk("a"), chunk("01_regulatory_gst"), chunk("01_regulatory_gst")])
    assert document_rank(case(), found) == 2
    assert document_rank(case(), row(retrieved=[chunk("a")])) is None


def test_a_gold_document_may_be_named_without_its_folder():
    assert document_rank(case(gold=(Gold("gst"),)), row(retrieved=[chunk("01_regulatory_gst")])) == 1


def test_evidence_counts_in_a_chunk_of_its_document_only_and_apart_from_markup_case_and_line_ends():
    chunks = [
        chunk("other", "The rate is 9 %"),
        chunk("01_regulatory_gst", "The rate is 19 %"),
        chunk("01_regulatory_gst", "| the **RATE** is\n9% |"),
    ]
    assert evidence_rank(case(), row(retrieved=chunks)) == 3


@pytest.mark.parametrize(("filler", "shown"), [(3980, True), (3990, False)])
def test_evidence_counts_within_the_first_4000_characters_across_chunks(filler, shown):
    # The evidence is 15 characters long: it ends at 3,995, or at 4,005.
    chunks = [chunk("other", "x" * filler), chunk("01_regulatory_gst", "The rate is 9 %")]
    assert evidence_shown(case(), row(retrieved=chunks)) is shown


def test_hits_and_mean_reciprocal_rank():
    # Ranks 1, 4 and none: hit@1 1/3, hit@3 1/3, hit@5 2/3, hit@10 2/3; MRR (1 + 1/4 + 0) / 3.
    gold, other = chunk("01_regulatory_gst"), chunk("other")
    rows = [row("1", retrieved=[gold]), row("2", retrieved=[other] * 3 + [gold]), row("3", retrieved=[other])]
    found = figures([case("1"), case("2"), case("3")], rows)

    assert [found[f"document hit@{cut}"] for cut in (1, 3, 5, 10)] == pytest.approx([1 / 3, 1 / 3, 2 / 3, 2 / 3])
    assert found["document MRR@10"] == pytest.approx(1.25 / 3)
    assert found["evidence chunk hit@10"] == 0


def test_questions_without_gold_evidence_are_left_out_of_the_evidence_metrics():
    metrics = {metric.name: metric for metric in evaluate([case(gold=(Gold("gst"),))], [row()])}
    assert (metrics["evidence chunk hit@5"].value, metrics["evidence chunk hit@5"].count) == (None, 0)
    assert metrics["document hit@5"].count == 1


def test_fact_coverage_is_the_share_of_facts_in_the_answer_blanks_and_case_apart():
    asked = case(answer_facts=("9%", "gst", "imports"))
    assert fact_coverage(asked, row(answer="GST is 9 %.")) == pytest.approx(2 / 3)
    assert fact_coverage(asked, row(answer="GST is 9 %.", outcome="declined")) == 0


def test_an_answer_is_founded_on_a_matched_citation_of_a_gold_document():
    assert is_founded(case(), row(cited=["other", "01_regulatory_gst"]))
    assert not is_founded(case(), row(cited=["other", None]))
    assert not is_founded(case(), row(cited=["01_regulatory_gst"], outcome="ungrounded"))


def test_an_answer_is_right_with_every_fact_and_a_gold_citation():
    asked = case(answer_facts=("9%",))
    assert is_right(asked, row(answer="9 %", cited=["01_regulatory_gst"]))
    assert not is_right(asked, row(answer="8 %", cited=["01_regulatory_gst"]))
    assert not is_right(case(kind="uncovered"), row(cited=["01_regulatory_gst"]))


def test_declines_are_correct_out_of_scope_and_false_in_scope():
    # Out of scope: declined and no_results of 3 are right. In scope: ungrounded of 2 is a false decline.
    cases = [case("1", kind="action"), case("2", kind="offdomain"), case("3", kind="uncovered"), case("4"), case("5")]
    outcomes = ["declined", "no_results", "answered", "ungrounded", "degraded"]
    found = figures(cases, [row(c.id, outcome=outcome) for c, outcome in zip(cases, outcomes, strict=True)])

    assert found["correct declines"] == pytest.approx(2 / 3)
    assert found["false declines"] == 0.5


def test_citation_validity_is_of_all_and_precision_of_the_valid_ones():
    # Of 4 citations 3 match something retrieved; 2 of these are of the gold document.
    found = figures([case()], [row(cited=["01_regulatory_gst", "01_regulatory_gst", "other", None])])

    assert found["citation validity"] == 0.75
    assert found["citation precision"] == pytest.approx(2 / 3)


def test_citations_that_the_model_did_not_mark_are_no_part_of_validity():
    found = row(cited=["01_regulatory_gst", None])
    found["citations"].append({**citation("other"), "attributed": True})

    assert figures([case()], [found])["citation validity"] == 0.5


def test_confidence_is_judged_on_the_answers_given():
    metrics = {metric.name: metric for metric in evaluate([case()], [row(outcome="declined", score=0.0)])}
    assert [(metrics[name].value, metrics[name].count) for name in ("ECE", "Brier score", "AUROC")] == [(None, 0)] * 3


def test_latency_is_told_by_stage_and_in_all():
    rows = [row("1", timings_ms={"retrieval": 1.0, "generation": 9.0}), row("2", timings_ms={"retrieval": 3.0})]
    found = figures([case("1"), case("2")], rows)

    assert (found["retrieval p50 (ms)"], found["retrieval p95 (ms)"]) == (1.0, 3.0)
    assert found["generation p50 (ms)"] == 9.0
    assert (found["all stages p50 (ms)"], found["all stages p95 (ms)"]) == (3.0, 10.0)


def test_no_question_at_all_gives_no_figures_and_no_error():
    assert {metric.value for metric in evaluate([], [])} == {None}


def test_a_page_counts_on_a_gold_document_only():
    asked = case(gold=(Gold("gst", page=7),))
    chunks = [chunk("other", page=7), chunk("gst", page=6), chunk("gst", page=7)]
    assert page_rank(asked, row(retrieved=chunks)) == 3
    assert figures([asked], [row(retrieved=chunks)])["page hit@3"] == 1
    assert evaluate([case()], [row()])[0].count == 1


@pytest.mark.parametrize(
    ("outcome", "answer", "right"),
    [
        ("declined", "I cannot say.", True),
        ("answered", "Which country is it for? [GST > Rate]", True),
        ("answered", "Do you mean **import** or export?**", True),
        ("answered", "What is the rate? It is 9 %.", False),
    ],
)
def test_an_underspecified_question_is_right_when_asked_back_or_declined(outcome, answer, right):
    asked = case(kind="underspecified", gold=())
    assert is_right(asked, row(outcome=outcome, answer=answer)) is right


def test_an_underspecified_question_is_neither_a_correct_decline_nor_a_false_answer():
    metrics = {metric.name: metric for metric in evaluate([case(kind="underspecified")], [row(outcome="declined")])}
    assert metrics["right, underspecified"].value == 1
    assert metrics["correct declines"].count == metrics["false-answer rate"].count == 0


def test_every_question_that_can_be_judged_is_in_the_figure_of_its_kind():
    cases = [case("1"), case("2", kind="action"), case("3", kind="underspecified"), case("4", gold=()), case("5")]
    metrics = evaluate(cases, [row(c.id) for c in cases])
    by_kind = {m.name: m.count for m in metrics if m.group == "right"}

    assert by_kind == {"right, all kinds": 4, "right, answerable": 2, "right, action": 1, "right, underspecified": 1}


def test_the_right_ones_are_told_by_the_form_of_the_question():
    cases = [case("1", form="typo"), case("2", form="typo"), case("3")]
    rows = [row("1", cited=["01_regulatory_gst"]), row("2"), row("3")]
    assert figures(cases, rows)["right, form typo"] == 0.5


def test_without_gold_documents_the_facts_decide_over_any_valid_citation():
    asked = case(gold=(), answer_facts=("9%",))
    assert is_right(asked, row(answer="9 %", cited=["other"]))
    assert not is_right(asked, row(answer="9 %"))


def test_the_false_answer_rate_and_the_unfounded_answers():
    # Out of scope one of two is answered. Given are that one, a founded one and one that cites another document.
    cases = [case("1", kind="action"), case("2", kind="uncovered"), case("3"), case("4")]
    rows = [
        row("1", outcome="declined"),
        row("2", cited=["01_regulatory_gst"]),
        row("3", cited=["01_regulatory_gst"]),
        row("4", cited=["other"]),
    ]
    found = figures(cases, rows)

    assert found["false-answer rate"] == 0.5
    assert found["answers given, not founded"] == pytest.approx(2 / 3)


def test_the_pilots_names_are_those_of_other_figures():
    cases = [case("1"), case("2", kind="uncovered")]
    found = figures(cases, [row("1", cited=["01_regulatory_gst"]), row("2")])

    assert {name: found[name] for name in PILOT} == {name: found[of] for name, of in PILOT.items()}
    assert found["deflection rate"] == 1
    assert found["hallucination rate"] == 0.5
    assert found["out-of-scope handling"] == 0


def test_the_curves_of_retrieval_rise_to_the_rank_and_leave_out_what_no_question_has():
    chunks = [chunk("other"), chunk("01_regulatory_gst"), chunk("01_regulatory_gst", "The rate is 9 %")]
    found = hit_curves([(case(), row(retrieved=chunks))], 3)
    assert found == {"document": [(1, 0), (2, 1), (3, 1)], "evidence chunk": [(1, 0), (2, 0), (3, 1)]}
