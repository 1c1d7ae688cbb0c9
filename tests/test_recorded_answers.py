"""Citations in answers that llama-3.1-8b-instant wrote, each judged by hand."""

import re

import numpy as np
import pytest

from app.adapters.embeddings.onnx.weights import find_weights
from app.adapters.embeddings.onnx.words import WordVectors
from benchmarks.claims import aurocs, read_claims
from benchmarks.recorded import cite, passages, read
from benchmarks.wice import measure

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
    return read(shared / "eval" / "waypoint" / "recorded_answers.jsonl")


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
    """Every third claim of the set; `python -m benchmarks.wice` measures all, by weights that did not see them."""
    claims = read_claims(shared / "eval" / "wice" / "claim_dev.jsonl")[::3]
    results, _ = measure(claims, WordVectors(find_weights()))
    supported, partially = aurocs([claim.grade for claim in claims], np.array([result.score for result in results]))
    assert supported >= 0.78
    assert partially >= 0.85
