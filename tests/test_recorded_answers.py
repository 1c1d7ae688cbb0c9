"""Citations in answers that llama-3.1-8b-instant wrote, each judged by hand."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.messages import AIMessage

from app.adapters.embeddings.onnx import WordVectors, find_weights
from chains.citations import CiteSources
from chains.citations.evidence import prepare
from chains.citations.support import support
from chains.state import CitationResult, Context, Generated, Passage
from evals.metrics import auroc

pytestmark = pytest.mark.corpus

BOOKING = "04_internal_synthetic_booking_procedure"
TERMS = "04_internal_synthetic_service_terms_conditions"
THAILAND = "01_regulatory_thailand_import_requirements"

# Answer, title as the model wrote it -> document it stands for, section that exists there. None: no such document
# was shown, or no such section.
BY_HAND = {
    ("Q-01", "Indonesia Import Requirements > Required Import Documentation"): (
        "01_regulatory_indonesia_import_requirements",
        "Required Import Documentation",
    ),
    ("Q-03", "Sea Freight Booking Procedure > Container Options"): (BOOKING, None),
    ("Q-05", "Sea Freight Booking Procedure > Special Cases: Samples and No-Value Goods"): (
        BOOKING,
        "Special Cases: Samples and No-Value Goods",
    ),
    ("Q-07", "Sea Freight Booking Procedure > Packing List Requirements"): (BOOKING, None),
    ("Q-07", "Frequently Asked Questions > Packing List Requirements"): ("04_internal_synthetic_customer_faq", None),
    ("Q-09", "Service Terms and Conditions > Cancellation Policy"): (TERMS, None),
    ("Q-09", "Service Terms and Conditions > Amendments"): (TERMS, None),
    ("Q-11", "Singapore GST Guide for Imports > Overview"): ("01_regulatory_sg_gst_guide", "Overview"),
    ("Q-13", "Thailand Import Requirements > Certificate of Origin"): (THAILAND, None),
    ("Q-13", "Thailand Import Requirements > Required Documents"): (THAILAND, None),
    ("Q-15", "ASEAN Trade in Goods Agreement (ATIGA) Overview > ATIGA Preferential Duty Rate"): (
        "01_regulatory_atiga_overview",
        "ATIGA Preferential Duty Rate",
    ),
    ("Q-19", "Singapore Customs > Fees and Charges"): None,
    ("Q-19", "Singapore Customs > Customs Classification Ruling"): None,
    ("Q-23", "PIL (Pacific International Lines) Service Summary > Container Types"): (
        "02_carriers_pil_service_summary",
        None,
    ),
    ("Q-29", "Maersk Service Summary > Additional Services"): (
        "02_carriers_maersk_service_summary",
        "Additional Services",
    ),
    ("Q-29", "ONE Service Overview > Key Features"): None,
    ("Q-31", "Service Level Agreement (SLA) Policy > 5.1 Standard Delivery Commitments"): (
        "04_internal_synthetic_sla_policy",
        "5.1 Standard Delivery Commitments",
    ),
    ("Q-33", "Service Terms and Conditions > 6.3 Cargo Insurance"): (TERMS, "6.3 Cargo Insurance"),
    ("Q-37", "Service Terms and Conditions > 2.4 Import Permit Services"): (TERMS, "2.4 Import Permit Services"),
}


@pytest.fixture(scope="module")
def rows(shared):
    return [row for row in read(shared / "eval" / "waypoint" / "recorded_answers.jsonl") if row["llm_called"]]


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def passages(row: dict[str, Any]) -> list[Passage]:
    """Return the chunks that the model was shown; a chunk's section is the heading it begins with, if it does."""
    return [_passage(chunk) for chunk in row["retrieved_chunks_reconstructed_exact"]]


def _passage(chunk: dict[str, Any]) -> Passage:
    first = chunk["text"].splitlines()[0]
    recorded = chunk["subsection_header"] or chunk["section_header"]
    section = first.lstrip("# ").strip() if first.startswith("#") else recorded
    metadata = {"title": chunk["title"], "section": section, "doc_id": chunk["doc_id"]}
    return Passage(content=chunk["text"], metadata=metadata, score=chunk["score"])


def cite(row: dict[str, Any]) -> CitationResult:
    """Return what stage 4 makes of a recorded answer."""
    shown, answer = passages(row), row["answer"]
    context = Context(text="", passages=shown)
    state = Generated(question=row["query"], documents=shown, context=context, message=AIMessage(answer), answer=answer)
    return CiteSources(markers_suffice=True, similarity=WordVectors(find_weights()))(state)


def test_every_bracket_is_read_as_a_person_reads_it(rows):
    found = {
        (row["id"], re.sub(r"^\[(?:Cite: )?|\]$", "", citation["raw"])): (
            (citation["doc_id"], citation["section"]) if citation["matched"] else None
        )
        for row in rows
        for citation in cite(row)["citations"]
        if not citation["attributed"]
    }
    assert found == BY_HAND


def test_nothing_else_is_taken_for_a_citation(rows):
    brackets = [span for row in rows for span in re.findall(r"\[[^\]]*\]", row["answer"])]
    assert len(brackets) == len(BY_HAND)


def test_every_quote_stands_in_the_cited_chunk(rows):
    for row in rows:
        texts = [passage["content"] for passage in passages(row)]
        assert all(any(citation["quote"] in text for text in texts) for citation in cite(row)["citations"])


def test_the_one_refusal_is_recognised(rows):
    assert [row["id"] for row in rows if cite(row)["outcome"] == "declined"] == ["Q-41"]


def test_support_ranks_claims_as_people_do(shared):
    """Every third claim of WiCE's development set."""
    claims, vectors = read(shared / "eval" / "wice" / "claim_dev.jsonl")[::3], WordVectors(find_weights())
    scores = [support(one["claim"], prepare("\n\n".join(one["evidence"])), similarity=vectors).score for one in claims]
    wholly = np.array([one["label"] == "supported" for one in claims])
    partially = np.array([one["label"] != "not_supported" for one in claims])
    assert (auroc(np.column_stack([scores, wholly])) or 0) >= 0.78
    assert (auroc(np.column_stack([scores, partially])) or 0) >= 0.85
