"""The reports that `python -m benchmarks.filings` writes, and what is asked about them."""

import json

import pytest

from app.adapters.documents.pdf import load_pdf
from benchmarks.filings.__main__ import page_texts
from benchmarks.filings.company import companies
from benchmarks.filings.questions import FILE, rows, words
from benchmarks.filings.reports import write_reports

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    return write_reports(tmp_path_factory.mktemp("reports"))


def test_every_question_has_its_evidence_on_its_page(reports):
    pages = page_texts(reports)
    kept = [json.loads(line) for line in FILE.read_text(encoding="utf-8").splitlines()]

    assert len(kept) >= 60
    assert kept == list(rows(pages))
    for row in kept:
        assert all(words(gold["evidence"]) in words(pages[gold["doc_id"]][gold["page"] - 1]) for gold in row["gold"])


def test_a_report_is_titled_by_company_year_and_form_and_each_statement_is_a_section(reports):
    for company, file in zip(companies(), reports, strict=True):
        source = load_pdf(file)
        sections = {heading.text.upper() for heading in source.headings}
        assert source.metadata["title"].upper() == f"{company.name} {company.year} 10-K".upper()
        assert {"CONSOLIDATED BALANCE SHEETS", "CONSOLIDATED STATEMENTS OF CASH FLOWS"} <= sections
        assert not any("ANNUAL REPORT" in text or "FORM 10-K -" in text for text in sections)
