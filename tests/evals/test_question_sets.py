"""The packaged question sets on the sample corpus: true to the documents, and the smoke set above its floors."""

from collections import Counter
from pathlib import Path

import pytest

from app.settings import load_settings
from app.wiring import open_index, sample_corpus
from evals.questions import KINDS, PACKAGED, Case, find_questions, read_questions

SAMPLE = read_questions(PACKAGED["sample"])
SMOKE = read_questions(PACKAGED["smoke"])
FORMS = {"plain", "paraphrased", "typo", "abbreviation", "table", "two documents"}
FLOORS = {
    "right, all kinds": 0.7,
    "document hit@5": 0.85,
    "evidence chunk hit@10": 0.85,
    "citation validity": 0.95,
    "false-answer rate": 0.34,
    "false declines": 0.3,
}


def document(doc_id: str) -> str:
    [path] = [
        path
        for path in sample_corpus().rglob("*.md")
        if "_".join(path.relative_to(sample_corpus()).with_suffix("").parts) == doc_id
    ]
    return path.read_text(encoding="utf-8")


def test_the_evidence_stands_in_its_document_word_for_word_below_its_section():
    for gold in [gold for case in SAMPLE for gold in case.gold]:
        text = document(gold.doc_id)
        assert gold.evidence
        before, found, _ = text.partition(gold.evidence)
        headings = [line.lstrip("#").strip() for line in before.splitlines() if line.startswith("#")]
        assert found
        assert headings[-1] == gold.section


def test_the_facts_of_an_answer_are_told_by_its_evidence():
    assert [(case.id, fact) for case in SAMPLE for fact in case.answer_facts if not is_told(fact, case)] == []


def is_told(fact: str, case: Case) -> bool:
    return any("".join(fact.split()) in "".join((gold.evidence or "").lower().split()) for gold in case.gold)


def test_the_set_has_every_kind_and_form_of_question():
    kinds, forms = Counter(case.kind for case in SAMPLE), Counter(case.form for case in SAMPLE if case.form)

    assert len(SAMPLE) >= 120
    assert set(kinds) == set(KINDS)
    assert set(forms) == FORMS
    assert min(*kinds.values(), *forms.values()) >= 8
    assert all(case.history for case in SAMPLE if case.kind == "followup")


def test_questions_in_scope_have_gold_and_facts_and_the_others_have_neither():
    assert all(case.gold and case.answer_facts for case in SAMPLE if case.in_scope)
    assert not any(case.gold or case.answer_facts for case in SAMPLE if not case.in_scope)
    assert len({case.question for case in SAMPLE}) == len(SAMPLE)


def test_questions_about_two_documents_name_them_both():
    asked = [case for case in SAMPLE if case.form == "two documents"]
    assert all(len({gold.doc_id for gold in case.gold}) == 2 for case in asked)


def test_the_smoke_set_is_ten_of_the_sample():
    assert len(SMOKE) == 10
    assert [case for case in SMOKE if case not in SAMPLE] == []


def test_a_file_goes_before_a_packaged_set_of_its_name():
    assert find_questions("smoke") == PACKAGED["smoke"]
    Path("smoke").write_text("")
    assert find_questions("smoke") == Path("smoke")


@pytest.fixture(scope="module")
def index(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("sample") / "store"
    open_index(load_settings(_env_file=None, chroma_path=folder)).ingest([sample_corpus()])
    return folder


def test_the_smoke_set_stays_above_its_floors(waypoint, index, monkeypatch):
    monkeypatch.setenv("CHROMA_PATH", str(index))
    floors = [word for name, value in FLOORS.items() for word in ("--fail-under", f"{name}={value}")]
    code, out, err = waypoint("eval", "smoke", *floors)

    assert (code, err) == (0, "")
    assert out.startswith("10 questions: 6 answerable, 1 uncovered, 1 action, 1 offdomain, 1 followup\n")
