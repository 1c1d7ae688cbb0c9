"""`waypoint eval --langsmith`: the questions as a dataset and the run as an experiment, on a server on loopback."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.evals.test_eval_command import QUESTIONS, questions
from tests.fakes import Reply
from tests.langsmith_stub import Backend, backend

__all__ = ["questions"]  # The fixture.


@pytest.fixture
def langsmith(monkeypatch) -> Iterator[Backend]:
    with backend() as stub:
        monkeypatch.setenv("LANGSMITH_ENDPOINT", stub.url)
        monkeypatch.setenv("LANGSMITH_API_KEY", "lsv2_key")
        yield stub


def test_the_questions_are_a_dataset_and_the_run_an_experiment_with_scores(waypoint, questions, langsmith):
    code, out, err = waypoint("eval", questions, "--langsmith", "desk", "--json", "rows.jsonl")
    store = langsmith.store

    assert code == 0
    assert out.startswith("2 questions: 1 answerable, 1 action\n")
    [experiment] = store.experiments.values()
    assert f"LangSmith: the run is the experiment {experiment['name']!r} of the dataset 'desk'." in err
    assert experiment["reference_dataset_id"] == store.datasets["desk"]["id"]
    assert experiment["extra"]["metadata"]["retriever_type"] == "hybrid"
    assert langsmith.keys == {"lsv2_key"}
    examples = {one["metadata"]["id"]: one for one in store.examples.values()}
    assert examples["rate"]["inputs"] == {"question": QUESTIONS[0]["question"], "history": []}
    assert examples["rate"]["outputs"]["answer_facts"] == ["9%"]
    assert store.scores(examples["rate"]["id"], langsmith.runs) == {
        **dict.fromkeys(["right", "founded", "document_hit_at_5", "evidence_hit_at_5", "fact_coverage"], 1),
        **dict.fromkeys(["citation_validity", "citation_precision"], 1),
        "declined": 0,
        "confidence": pytest.approx(kept("rate")["confidence"]["score"]),
    }
    assert store.scores(examples["book"]["id"], langsmith.runs) == {"right": 1, "declined": 1, "confidence": 0}


def kept(case_id: str) -> dict:
    rows = [json.loads(line) for line in Path("rows.jsonl").read_text(encoding="utf-8").splitlines()]
    return next(row for row in rows if row["id"] == case_id)


def test_the_stages_are_traced_below_the_run_of_their_question(waypoint, questions, langsmith):
    waypoint("eval", questions, "--langsmith", "desk", "--json", "rows.jsonl")
    asked = [run for run in langsmith.runs.values() if run.get("reference_example_id") and run.get("outputs")]

    assert len(asked) == 2
    [answered] = [run for run in asked if run["outputs"]["outcome"] == "answered"]
    assert answered["outputs"]["answer"] == kept("rate")["answer"]
    below = [child["name"] for run in langsmith.children(answered) for child in langsmith.children(run)]
    assert {"retrieval", "generation", "citations", "confidence"} <= set(below)


def test_a_second_run_adds_an_experiment_and_changes_only_what_changed(waypoint, questions, langsmith):
    waypoint("eval", questions, "--langsmith", "desk")
    changed = [QUESTIONS[0] | {"answer_facts": ["9 %", "gst"]}, *QUESTIONS[1:]]
    Path(questions).write_text("\n".join(json.dumps(question) for question in changed))
    waypoint("eval", questions, "--langsmith", "desk")

    assert langsmith.store.uploads == [("POST", 2), ("PATCH", 1)]
    assert len(langsmith.store.examples) == len(langsmith.store.experiments) == 2
    facts = [one["outputs"]["answer_facts"] for one in langsmith.store.examples.values()]
    assert ["9 %", "gst"] in facts


def test_what_the_settings_forbid_is_bad_usage_and_nothing_is_asked(waypoint):
    Path("q.jsonl").write_text('{"question": "Rate?"}')
    forbidden = {"LANGSMITH_API_KEY": "lsv2_key", "LANGSMITH_HIDE_INPUTS": "true"}
    code, out, err = waypoint("eval", "q.jsonl", "--langsmith", "desk", **forbidden)

    assert (code, out, "LANGSMITH_HIDE_INPUTS" in err) == (2, "", True), err
    assert not Path("storage").exists()


def test_a_server_that_refuses_is_a_sentence(waypoint, questions, langsmith):
    langsmith.status = 401
    code, out, err = waypoint("eval", questions, "--langsmith", "desk")

    assert (code, out) == (1, "")
    assert "waypoint: LangSmith did not take the experiment: " in err
    assert "check LANGSMITH_API_KEY" in err
    assert "Traceback" not in err
    assert "lsv2_key" not in err


def test_a_question_that_fails_is_a_row_of_the_experiment_and_the_run_goes_on(
    waypoint, questions, langsmith, monkeypatch, groq
):
    monkeypatch.setenv("LLM_API_KEY", "gsk_test")
    monkeypatch.setenv("LLM_BASE_URL", groq.url)
    monkeypatch.setenv("LLM_FALLBACK", "false")
    monkeypatch.setenv("LLM_MAX_RETRIES", "0")
    groq.replies = [Reply(status=500), Reply(status=500)]
    code, out, err = waypoint("eval", questions, "--langsmith", "desk")

    assert (code, "2 questions" in out) == (0, True)
    assert "LangSmith did not take" not in err
    assert "1 questions failed, and count as wrong: rate" in err
    assert len(groq.requests) == 1
