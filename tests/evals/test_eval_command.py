import json
import shutil
from pathlib import Path
from typing import Any

import pytest

DOCUMENT = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n"
QUESTIONS: list[dict[str, Any]] = [
    {
        "id": "rate",
        "question": "What is the rate of GST on imports into Singapore?",
        "kind": "answerable",
        "gold": [{"file": "01_regulatory/gst.md", "evidence": "imports into Singapore is 9 %"}],
        "answer_facts": ["9%"],
    },
    {"id": "book", "question": "Please place a booking for one reefer to Dubai", "kind": "action"},
]


@pytest.fixture
def questions(waypoint, tmp_path) -> str:
    folder = tmp_path / "desk" / "01_regulatory"
    folder.mkdir(parents=True)
    (folder / "gst.md").write_text(DOCUMENT)
    waypoint("ingest", str(folder.parent))
    path = tmp_path / "questions.jsonl"
    path.write_text("\n".join(json.dumps(question) for question in QUESTIONS))
    return str(path)


def test_the_metrics_are_printed(waypoint, questions):
    code, out, err = waypoint("eval", questions)
    shown = dict(line.strip().rsplit("  of ", 1)[0].rsplit(maxsplit=1) for line in out.splitlines() if "  of " in line)
    shown = {name.strip(): value for name, value in shown.items()}

    assert (code, err) == (0, "")
    assert shown["document hit@1"] == shown["evidence chunk hit@1"] == "1.000"
    assert shown["answer-fact coverage"] == shown["correct declines"] == "1.000"
    assert shown["in scope, answered with a citation of a gold document"] == "1.000"
    assert shown["false declines"] == "0.000"


def test_the_rows_have_exactly_the_contract_fields(waypoint, questions):
    waypoint("eval", questions, "--json", "out/rows.jsonl")
    rows = [json.loads(line) for line in Path("out/rows.jsonl").read_text(encoding="utf-8").splitlines()]

    fields = ["id", "outcome", "answer", "citations", "confidence", "retrieved", "timings_ms", "model"]
    assert [list(row) for row in rows] == [fields] * 2
    assert [(row["id"], row["outcome"], row["model"]) for row in rows] == [
        ("rate", "answered", "offline-extractive"),
        ("book", "no_results", None),
    ]
    assert list(rows[0]["retrieved"][0]) == ["doc_id", "chunk_id", "section", "page", "score", "content"]
    assert rows[0]["retrieved"][0]["chunk_id"] == "01_regulatory_gst#0"


def test_the_report_is_one_page_with_the_settings_and_no_secret(waypoint, questions, monkeypatch):
    monkeypatch.setenv("LLM_API_KEY", "gsk_secret")
    monkeypatch.setenv("LLM_PROVIDER", "offline")
    waypoint("eval", questions, "--report", "report")
    page = Path("report/report.html").read_text(encoding="utf-8")

    assert [path.name for path in Path("report").iterdir()] == ["report.html"]
    assert "<svg" in page
    assert "similarity" in page or "hybrid" in page
    assert "gsk_secret" not in page
    assert "<td>model that answered</td><td>offline-extractive (1), none (1)</td>" in page


def test_a_confidence_that_cannot_be_fitted_is_said_and_nothing_is_written(waypoint, questions):
    code, _, err = waypoint("eval", questions, "--fit", "own.json")

    assert code == 1
    assert "of the 1 questions that were answered 1 are right" in err
    assert not Path("own.json").exists()


def test_the_confidence_is_fitted_to_the_questions_and_used_by_its_setting(waypoint, questions, monkeypatch):
    rate = json.loads(Path(questions).read_text().splitlines()[0])
    right = [rate | {"id": f"right{n}"} for n in range(15)]
    wrong = [
        rate | {"id": f"wrong{n}", "answer_facts": ["11 %"], "question": "What is the rate of GST" + " now" * n + "?"}
        for n in range(15)
    ]
    Path(questions).write_text("\n".join(json.dumps(row) for row in right + wrong))

    code, out, _ = waypoint("eval", questions, "--fit", "own.json")
    assert code == 0
    assert "confidence, fitted to 30 answers, 15 of them right" in out
    assert json.loads(Path("own.json").read_text())["fitted_on"] == "questions.jsonl"
    monkeypatch.setenv("CONFIDENCE_MODEL", "own.json")
    monkeypatch.setenv("CONFIDENCE_STRATEGY", "calibrated")
    code, out, _ = waypoint("ask", rate["question"], "--json")
    assert json.loads(out)["confidence"]["level"] in {"high", "medium", "low", "very_low"}


def test_two_runs_are_compared_without_asking_anything(waypoint, questions, tmp_path):
    waypoint("eval", questions, "--json", "a.jsonl")
    rows = [json.loads(line) for line in Path("a.jsonl").read_text().splitlines()]
    Path("b.jsonl").write_text("\n".join(json.dumps(row | {"outcome": "declined"}) for row in rows))
    shutil.rmtree("storage")
    code, out, err = waypoint("eval", questions, "--compare", "a.jsonl", "b.jsonl")

    assert (code, err) == (0, "")
    assert out.startswith("a.jsonl -> b.jsonl: 2 questions that both have rows of")
    assert "Got worse: right before, wrong now: 1\n  rate (answerable: answered -> declined)" in out
    assert not Path("storage").exists()


def test_a_run_that_is_worse_than_its_floor_fails_and_says_by_how_much(waypoint, questions):
    floors = ["--fail-under", "false declines=0", "--fail-under", "document hit@1=1"]
    assert waypoint("eval", questions, *floors)[0] == 0
    code, out, err = waypoint("eval", questions, *floors, "--fail-under", "right-action=1.5", "--json", "rows.jsonl")

    assert code == 1
    assert "correct declines" in out
    assert err == "waypoint: right, action is 1.000, less than the 1.5 that is asked for\n"
    assert len(Path("rows.jsonl").read_text().splitlines()) == 2


def test_a_file_that_cannot_be_written_is_bad_usage(waypoint, questions):
    code, _, err = waypoint("eval", questions, "--json", f"{questions}/rows.jsonl")
    assert (code, "cannot be written" in err) == (2, True), err


GOOD_LINE = '{"question": "Rate?"}'
BAD_USAGE: dict[str, tuple[str, list[str]]] = {
    "there is no metric 'recall'; there are: ": (GOOD_LINE, ["--fail-under", "recall=0.9"]),
    "write metric=value": (GOOD_LINE, ["--fail-under", "hit"]),
    "line 2: Query cannot be empty": (f'{GOOD_LINE}\n{{"question": ""}}\n', ["--fail-under", "document hit@1=0"]),
    "leave out --json": (GOOD_LINE, ["--compare", "a.jsonl", "b.jsonl", "--json", "c.jsonl"]),
    "cannot be read": (GOOD_LINE, ["--compare", "none.jsonl", "q.jsonl"]),
    "line 1: no row of `waypoint eval --json`": (GOOD_LINE, ["--compare", "q.jsonl", "q.jsonl"]),
    "--judge needs a language model: set LLM_API_KEY": (GOOD_LINE, ["--judge"]),
    "set LANGSMITH_API_KEY": (GOOD_LINE, ["--langsmith", "desk"]),
}


@pytest.mark.parametrize("told", BAD_USAGE)
def test_bad_usage_is_told_and_nothing_is_asked(waypoint, told):
    lines, options = BAD_USAGE[told]
    Path("q.jsonl").write_text(lines)
    code, out, err = waypoint("eval", "q.jsonl", *options)

    assert (code, out, told in err) == (2, "", True), err
    assert not Path("storage").exists()


@pytest.mark.parametrize("option", [["--fail-under", "AUROC=0.9"], ["--judge"], ["--report", "out"]])
def test_the_measurement_of_safety_ignores_no_option_in_silence(waypoint, option):
    code, _, err = waypoint("eval", "safety", "--injection", "texts.json", *option)

    assert (code, f"leave out {option[0]}" in err) == (2, True), err
