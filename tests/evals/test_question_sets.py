"""The packaged question sets: true to their documents, of every kind and form, and answered above fixed floors."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from app.settings import load_settings
from app.wings.knowledge.testing import read_cases, run
from app.wiring import open_index, open_service, sample_corpus
from evals.metrics.retrieval import words
from evals.questions import KINDS, PACKAGED, Case, find_questions, read_questions

EVALS = Path(__file__).parents[2] / "evals"
FREIGHT_DESK = EVALS.parents[1] / "shared" / "kb" / "waypoint"
SAMPLE = read_questions(PACKAGED["sample"])
SMOKE = read_questions(PACKAGED["smoke"])
FOLLOWUPS, FREIGHT, HARD, TOPICS, FREIGHT_TOPICS, LANGUAGES = (
    read_questions(EVALS / f"{name}.jsonl")
    for name in ("followups", "followups_waypoint", "followups_hard", "topics", "topics_waypoint", "languages")
)
# The least number of questions of each form, where the forms are all that there are.
FORMS: list[tuple[list[Case], set[str], int]] = [
    (SAMPLE, {"plain", "paraphrased", "typo", "abbreviation", "table", "two documents"}, 8),
    ([*FOLLOWUPS, *FREIGHT], {"ellipsis", "pronoun", "correction", "change", "return", "thanks"}, 7),
    (HARD, {"two turns back", "correction", "they", "comparison"}, 10),
    (LANGUAGES, {"id", "ms", "de", "zh"}, 15),
]
SMOKE_FLOORS = {
    "right, all kinds": 0.7,
    "document hit@5": 0.85,
    "evidence chunk hit@10": 0.85,
    "citation validity": 0.95,
    "false-answer rate": 0.34,
    "false declines": 0.3,
}
# What agents with a customer on the phone ask, by class. Of 66; documents in English alone answer no question in
# German or Indonesian.
DESK_FLOORS = {"tracking_number": 6, "small_talk": 7, "short": 6, "rate": 5, "two_in_one": 4, "email": 3}
DESK_LEAST = 40


def unproven(cases: list[Case], corpus: Path) -> list[tuple[str, str | None]]:
    """Return the evidence that does not stand in its document, below its section where one is named."""
    texts = {
        "_".join(path.relative_to(corpus).with_suffix("").parts): path.read_text(encoding="utf-8")
        for path in corpus.rglob("*.md")
    }
    golds = [(case.id, gold) for case in cases for gold in case.gold]
    return [(id_, gold.evidence) for id_, gold in golds if words(gold.evidence or "-") not in words(texts[gold.doc_id])]


def test_evidence_stands_in_its_documents():
    assert unproven([*SAMPLE, *FOLLOWUPS, *HARD, *TOPICS, *LANGUAGES], sample_corpus()) == []
    if FREIGHT_DESK.is_dir():  # The larger corpus is not beside every checkout.
        assert unproven([*FREIGHT, *FREIGHT_TOPICS], FREIGHT_DESK) == []


def test_the_facts_of_an_answer_are_told_by_its_evidence_which_stands_below_its_section():
    for case in SAMPLE:
        told = ["".join((gold.evidence or "").lower().split()) for gold in case.gold]
        assert [fact for fact in case.answer_facts if not any("".join(fact.split()) in one for one in told)] == []
        for gold in case.gold:
            assert gold.section in headings_over(gold.evidence or "", gold.doc_id)


def headings_over(evidence: str, doc_id: str) -> list[str]:
    """Return the last heading above the evidence in its document of the sample."""
    files = {"_".join(path.relative_to(sample_corpus()).with_suffix("").parts): path for path in DOCUMENTS}
    before, found, _ = files[doc_id].read_text(encoding="utf-8").partition(evidence)
    assert found
    return [line.lstrip("#").strip() for line in before.splitlines() if line.startswith("#")][-1:]


DOCUMENTS = sorted(sample_corpus().rglob("*.md"))


@pytest.mark.parametrize(("cases", "forms", "least"), FORMS)
def test_a_set_has_enough_questions_of_every_form(cases, forms, least):
    counts = Counter(case.form for case in cases if case.form)

    assert set(counts) == forms
    assert min(counts.values()) >= least


def test_the_sample_has_every_kind_and_gold_and_facts_where_it_is_in_scope():
    kinds = Counter(case.kind for case in SAMPLE)
    both = [case for case in SAMPLE if case.form == "two documents"]

    assert (set(kinds), len(SAMPLE) >= 120, min(kinds.values()) >= 8) == (set(KINDS), True, True)
    assert all(case.history for case in SAMPLE if case.kind == "followup")
    assert all(case.history for case in [*FOLLOWUPS, *FREIGHT] if case.gold)
    assert sum(bool(case.gold) for case in [*FOLLOWUPS, *FREIGHT]) >= 60
    assert all(bool(case.gold) is bool(case.answer_facts) is case.in_scope for case in SAMPLE)
    assert len({case.question for case in SAMPLE}) == len(SAMPLE)
    assert all(len({gold.doc_id for gold in case.gold}) == 2 for case in both)


def test_the_smoke_set_is_ten_of_the_sample_and_a_file_goes_before_a_packaged_set_of_its_name():
    assert (len(SMOKE), [case for case in SMOKE if case not in SAMPLE]) == (10, [])
    assert find_questions("smoke") == PACKAGED["smoke"]
    Path("smoke").write_text("")
    assert find_questions("smoke") == Path("smoke")


def test_the_smoke_set_stays_above_its_floors(waypoint, tmp_path, monkeypatch):
    open_index(load_settings(_env_file=None, chroma_path=tmp_path / "store")).ingest([sample_corpus()])
    monkeypatch.setenv("CHROMA_PATH", str(tmp_path / "store"))
    floors = [word for name, value in SMOKE_FLOORS.items() for word in ("--fail-under", f"{name}={value}")]
    code, out, err = waypoint("eval", "smoke", *floors)

    assert (code, err) == (0, "")
    assert out.startswith("10 questions: 6 answerable, 1 uncovered, 1 action, 1 offdomain, 1 followup\n")


@pytest.mark.slow
def test_the_questions_of_a_desk_get_what_they_should(tmp_path):
    services = open_service(load_settings(_env_file=None, chroma_path=tmp_path, llm_provider="offline"), serving=False)
    services.index.ingest([sample_corpus()])
    results = list(run(read_cases(EVALS / "desk"), services))
    right = Counter(one.case.file.removesuffix(".tests.yaml") for one in results if not one.differences)

    assert len(results) == 66
    assert {name: right[name] for name, least in DESK_FLOORS.items() if right[name] < least} == {}
    assert right.total() >= DESK_LEAST


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EVALS / "reading" / name).read_text(encoding="utf-8").splitlines()]


READ_KINDS = {"answerable", "yesno", "conditions", "premise", "followup", "uncovered", "offdomain"}
TABLES, TURNS = rows("tables.jsonl"), rows("conversations.jsonl")
CORPORA = EVALS / "reading" / "corpora"
READ = {path.name.partition(".")[0]: rows(f"corpora/{path.name}") for path in sorted(CORPORA.glob("*.jsonl"))}


def lines(text: str) -> list[list[str]]:
    """Return the cells of each line of the table, blank ones left out."""
    if "<table" in text:
        parts = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in re.findall(r"<tr>.*?</tr>", text)]
    else:
        parts = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line if cell.strip()] for line in parts]


@pytest.mark.parametrize("row", TABLES, ids=lambda row: row["id"])
def test_the_answer_is_a_cell_of_its_row_and_the_wrong_cells_are_others(row):
    table = lines(row["text"])
    cells = {cell for line in table for cell in line}
    if row["form"] == "ticks":
        assert {row["answer"], *row["wrong"]} == {"yes", "no"}
        assert row["row"] in {line[0] for line in table}
        return
    assert set(row["wrong"]) <= cells - {row["answer"]} != set()
    assert row["wrong"]
    assert not (row["answer"] and [cell for cell in row["wrong"] if cell in row["answer"]])
    matches = [line for line in table if row["answer"] in line and line[0] == row["row"]]
    assert len(matches) == (0 if row["form"] == "absent" else 1)
    assert (row["answer"] is None) == (row["row"] is None) == (row["form"] == "absent")


def check_facts(row: dict[str, Any], folder: Path) -> None:
    """Hold that evidence stands in its file, below its section where one is named, and tells the facts."""
    for gold in row["gold"]:
        parts = re.split(r"^#+ (.+)$", (folder / gold["file"]).read_text(encoding="utf-8"), flags=re.MULTILINE)
        under = dict(zip(parts[1::2], parts[2::2], strict=True))
        assert gold["evidence"] in (under[gold["section"]] if gold.get("section") else "".join(parts))
    evidence = " ".join(gold["evidence"] for gold in row["gold"]).lower()
    assert [fact for fact in row["facts"] if fact not in evidence] == []
    assert bool(row["gold"]) == bool(row["facts"])


@pytest.mark.parametrize("corpus", READ)
def test_the_evidence_stands_below_its_section_and_tells_the_facts(corpus):
    for row in READ[corpus]:
        check_facts(row, CORPORA / corpus)
        evidence = " ".join(gold["evidence"] for gold in row["gold"]).lower()
        assert [text for text in row["wrong"] if text in evidence] == []
        assert [text for text in row["facts"] + row["wrong"] if text != text.lower()] == []
        assert (not row["gold"]) == (row["kind"] in {"uncovered", "offdomain"})
        assert bool(row["history"]) == (row["kind"] == "followup")
        assert (row.get("polarity") in {"yes", "no"}) == (row["kind"] == "yesno")


def test_the_evidence_of_a_turn_stands_in_the_sample():
    for row in TURNS:
        check_facts(row, sample_corpus())
        assert row["turn"] > 1 or row["stands_alone"]


def test_the_sets_for_reading_have_the_rows_that_they_claim_half_of_them_held():
    conversations = {(row["conversation"], row["split"]) for row in TURNS}
    turns = [(row["conversation"], row["turn"]) for row in TURNS]
    ids = [row["id"] for row in [*TABLES, *(row for some in READ.values() for row in some)]]

    assert Counter(row["split"] for row in TABLES) == {"dev": 30, "held": 30}
    assert (len(READ), len(TURNS)) == (15, 80)
    for questions in READ.values():
        assert Counter(row["split"] for row in questions) == {"dev": 20, "held": 20}
        assert {row["kind"] for row in questions} == READ_KINDS
    assert Counter(split for _, split in conversations) == {"dev": 10, "held": 10}
    assert len(set(ids)) == len(ids)
    assert turns == sorted(set(turns))


def test_each_question_with_labelled_answers_has_a_right_one_and_a_wrong_one():
    kinds: dict[tuple[str, str], list[bool]] = {}
    for row in rows("answers.jsonl"):
        kinds.setdefault((row["corpus"], row["question"]), []).append(row["right"])
    known = {(corpus, row["id"]) for corpus, questions in READ.items() for row in questions}

    assert len(kinds) == 168
    assert kinds.keys() <= known
    assert {tuple(sorted(right)) for right in kinds.values()} == {(False, True)}
