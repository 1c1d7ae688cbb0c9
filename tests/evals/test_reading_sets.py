"""The sets for reading passages: true to their documents."""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

from app.wiring import sample_corpus

READING = Path("evals/reading").resolve()
KINDS = {"answerable", "yesno", "conditions", "premise", "followup", "uncovered", "offdomain"}
UNANSWERED = {"uncovered", "offdomain"}


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


TABLES = rows(READING / "tables.jsonl")
CORPORA = {path.name.partition(".")[0]: rows(path) for path in sorted((READING / "corpora").glob("*.jsonl"))}
QUESTIONS = [(corpus, row) for corpus, questions in CORPORA.items() for row in questions]
TURNS = rows(READING / "conversations.jsonl")


def lines(text: str) -> list[list[str]]:
    """Return the cells of each line of the table, blank ones left out."""
    if "<table" in text:
        parts = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in re.findall(r"<tr>.*?</tr>", text)]
    else:
        parts = [line.strip().strip("|").split("|") for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line if cell.strip()] for line in parts]


def sections(text: str) -> dict[str, str]:
    parts = re.split(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def check_table(row: dict[str, Any]) -> None:
    table = lines(row["text"])
    cells = {cell for line in table for cell in line}
    if row["form"] == "ticks":
        assert {row["answer"], *row["wrong"]} == {"yes", "no"}
        assert row["row"] in {line[0] for line in table}
        return
    assert row["wrong"]
    assert set(row["wrong"]) <= cells - {row["answer"]}
    assert not (row["answer"] and [cell for cell in row["wrong"] if cell in row["answer"]])
    matches = [line for line in table if row["answer"] in line and line[0] == row["row"]]
    assert len(matches) == (0 if row["form"] == "absent" else 1)
    assert (row["answer"] is None) == (row["row"] is None) == (row["form"] == "absent")


def test_the_answer_is_a_cell_of_its_row_and_the_wrong_cells_are_others():
    for row in TABLES:
        check_table(row)


def check_question(corpus: str, row: dict[str, Any]) -> None:
    for gold in row["gold"]:
        text = (READING / "corpora" / corpus / gold["file"]).read_text(encoding="utf-8")
        assert gold["evidence"] in sections(text)[gold["section"]]
    evidence = " ".join(gold["evidence"] for gold in row["gold"]).lower()
    assert [fact for fact in row["facts"] if fact not in evidence] == []
    assert [text for text in row["wrong"] if text in evidence] == []
    assert [text for text in row["facts"] + row["wrong"] if text != text.lower()] == []
    assert (not row["gold"]) == (not row["facts"]) == (row["kind"] in UNANSWERED)
    assert bool(row["history"]) == (row["kind"] == "followup")
    assert (row.get("polarity") in {"yes", "no"}) == (row["kind"] == "yesno")


def test_the_evidence_stands_below_its_section_and_tells_the_facts():
    for corpus, row in QUESTIONS:
        check_question(corpus, row)


def check_turn(row: dict[str, Any]) -> None:
    for gold in row["gold"]:
        assert gold["evidence"] in (sample_corpus() / gold["file"]).read_text(encoding="utf-8")
    evidence = " ".join(gold["evidence"] for gold in row["gold"]).lower()
    assert [fact for fact in row["facts"] if fact not in evidence] == []
    assert bool(row["gold"]) == bool(row["facts"])
    assert row["turn"] > 1 or row["stands_alone"]


def test_the_evidence_of_a_turn_stands_in_the_sample():
    for row in TURNS:
        check_turn(row)


def test_the_sets_have_the_rows_that_they_claim_half_of_them_held():
    assert Counter(row["split"] for row in TABLES) == {"dev": 30, "held": 30}
    assert len(CORPORA) == 7
    for questions in CORPORA.values():
        assert Counter(row["split"] for row in questions) == {"dev": 20, "held": 20}
        assert {row["kind"] for row in questions} == KINDS
    assert len(TURNS) == 80
    assert Counter(split for _, split in {(row["conversation"], row["split"]) for row in TURNS}) == {
        "dev": 10,
        "held": 10,
    }


def test_ids_and_turns_are_unique():
    ids = [row["id"] for row in TABLES] + [row["id"] for _, row in QUESTIONS]
    assert len(set(ids)) == len(ids)
    turns = [(row["conversation"], row["turn"]) for row in TURNS]
    assert len(set(turns)) == len(turns)
    assert turns == sorted(turns)
