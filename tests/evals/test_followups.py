"""The project's own follow-ups: true to their corpora, of every form."""

from collections import Counter
from pathlib import Path

import pytest

from app.wiring import sample_corpus
from evals.metrics.retrieval import words
from evals.questions import Case, read_questions

EVALS = Path(__file__).parents[2] / "evals"
FREIGHT_DESK = EVALS.parents[1] / "shared" / "kb" / "waypoint"
SAMPLE = read_questions(EVALS / "followups.jsonl")
WAYPOINT = read_questions(EVALS / "followups_waypoint.jsonl")
HARD = read_questions(EVALS / "followups_hard.jsonl")
TOPICS = read_questions(EVALS / "topics.jsonl")
TOPICS_WAYPOINT = read_questions(EVALS / "topics_waypoint.jsonl")
LANGUAGES = read_questions(EVALS / "languages.jsonl")
FORMS = {"ellipsis", "pronoun", "correction", "change", "return", "thanks"}


def unproven(cases: list[Case], corpus: Path) -> list[tuple[str, str | None]]:
    """Return the evidence that does not stand in its document."""
    texts = {
        "_".join(path.relative_to(corpus).with_suffix("").parts): words(path.read_text(encoding="utf-8"))
        for path in corpus.rglob("*.md")
    }
    golds = [(case.id, gold) for case in cases for gold in case.gold]
    return [(id_, gold.evidence) for id_, gold in golds if words(gold.evidence or "-") not in texts[gold.doc_id]]


def test_the_evidence_of_the_sample_corpus_stands_in_its_documents():
    assert unproven([*SAMPLE, *HARD, *TOPICS, *LANGUAGES], sample_corpus()) == []


def test_the_hard_follow_ups_and_the_languages_have_as_many_of_each_form():
    assert Counter(case.form for case in HARD) == dict.fromkeys(
        ("two turns back", "correction", "they", "comparison"), 10
    )
    assert Counter(case.form for case in LANGUAGES) == dict.fromkeys(("id", "ms", "de", "zh"), 15)


@pytest.mark.skipif(not FREIGHT_DESK.is_dir(), reason="the larger corpus is not beside this checkout")
def test_the_evidence_of_the_larger_corpus_stands_in_its_documents():
    assert unproven([*WAYPOINT, *TOPICS_WAYPOINT], FREIGHT_DESK) == []


def test_the_sets_have_every_form_of_follow_up():
    forms = Counter(case.form for case in [*SAMPLE, *WAYPOINT])

    assert set(forms) == FORMS
    assert min(forms.values()) >= 7
    assert sum(bool(case.gold) for case in [*SAMPLE, *WAYPOINT]) >= 60
    assert all(case.history for case in [*SAMPLE, *WAYPOINT] if case.gold)
