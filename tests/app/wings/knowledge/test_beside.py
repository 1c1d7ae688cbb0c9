"""What looks beside an answer or an ingestion takes neither along, whatever stands in the documents."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.settings import load_settings
from app.wings.knowledge import findings, recall
from app.wings.knowledge.answer_log import open_answers
from app.wings.knowledge.findings import Document, find_conflicts, read_and_lint
from app.wiring import Service, open_service
from chains.errors import ConfigurationError
from evals import rows
from evals.questions import Case
from tests.chains.gst import gst_chain
from tests.corpora import write_documents
from tests.ledger.test_answers import answer

RATE = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n"
QUESTION: Any = {"question": "What is the rate of GST on imports into Singapore?"}


def fail(*_: object, **__: object) -> Any:
    raise IndexError


@pytest.fixture
def folder(tmp_path) -> Path:
    return write_documents(tmp_path / "desk", {"gst.md": RATE})


@pytest.mark.parametrize("step", ["open_answers", "check", "count_recalled"])
def test_an_ingestion_stands_though_recall_fails_and_doctor_shows_it(waypoint, monkeypatch, folder, step):
    monkeypatch.setenv("ANSWER_LOG_DAYS", "90")
    with monkeypatch.context() as patch:
        patch.setattr(recall, step, fail)
        code, out, err = waypoint("ingest", str(folder))
    assert (code, "1 added" in out, "Traceback" in out + err) == (0, True, False)
    assert ("side_step_failed" in err, "'count_of_recalled' failed" in out) == (True, step != "check")

    code, out, _ = waypoint("doctor", "--json")
    [finding] = [one for one in json.loads(out)["findings"] if one["part"] == "side steps"]
    assert (code, finding["state"], finding["required"]) == (0, "failed", False)
    assert "failed 1 times: IndexError at test_beside.py" in finding["detail"]
    assert "side_step_failed" in finding["remedy"]


def test_a_step_of_lint_that_fails_on_a_document_names_it_and_goes_on(waypoint, monkeypatch, folder):
    (folder / "memo.md").write_text("# Import tax\n\nGST on imports into Singapore is charged at 8 %.\n")
    (folder / "odd.md").write_text("# Odd\n\n| a | b. C. |\n")

    def conflicts(documents: list[Document]) -> Iterator[Any]:
        if any(document.name.endswith("odd.md") for document in documents):
            raise IndexError
        yield from find_conflicts(documents)

    monkeypatch.setattr(findings, "STEPS", (conflicts, *findings.STEPS[1:]))
    code, out, err = waypoint("lint", str(folder))

    assert (code, "Traceback" in err) == (1, False)
    assert "odd.md: unreadable: the step 'conflicts' failed on it" in out
    assert "conflict: 9 % here, 8 % in" in out


@pytest.mark.parametrize("target", ["a%00b", "x" * 5000, "b.md"])
def test_a_link_that_no_file_can_have_leads_nowhere(waypoint, folder, target):
    (folder / "gst.md").write_text(f"{RATE}\nSee [this]({target}).\n")
    code, out, err = waypoint("lint", str(folder))

    assert (code, "there is no such file" in out, "Traceback" in err) == (1, True, False)


def test_an_ingestion_deletes_what_is_too_old_for_the_log(waypoint, monkeypatch, folder):
    monkeypatch.setenv("ANSWER_LOG_DAYS", "90")
    store = open_answers(load_settings())
    store.add(answer(question="New?", at=store.now()))
    store.add(answer(question="Old?", at=0))

    waypoint("ingest", str(folder))

    assert [one.question for one in store.answers()] == ["New?"]


def test_a_question_of_an_evaluation_that_fails_has_a_row_and_the_others_are_asked(waypoint, monkeypatch, folder):
    questions = folder.parent / "questions.jsonl"
    kinds = {"a": "answerable", "b": "action", "c": "answerable"}
    lines = [json.dumps({"id": id_, "question": f"Rate {id_}?", "kind": kind}) for id_, kind in kinds.items()]
    questions.write_text("\n".join(lines))
    waypoint("ingest", str(folder))
    usual = rows.row_of

    def row_of(case_id: str, answer: Any) -> Any:
        return fail() if case_id == "b" else usual(case_id, answer)

    monkeypatch.setattr(rows, "row_of", row_of)
    code, out, err = waypoint("eval", str(questions), "--json", "rows.jsonl")

    written = [json.loads(line) for line in Path("rows.jsonl").read_text().splitlines()]
    assert (code, [row["id"] for row in written], written[1]["outcome"]) == (0, ["a", "b", "c"], "failed")
    assert "1 questions failed, and count as wrong: b" in err
    assert [line.split()[-3] for line in out.splitlines() if "correct declines" in line] == ["0.000"]

    monkeypatch.setattr(rows, "row_of", fail)
    code, _, err = waypoint("eval", str(questions))
    assert (code, "every question failed: nothing was measured" in err) == (1, True)


def test_a_setting_that_has_to_be_mended_still_ends_an_evaluation():
    class Broken:
        def invoke(self, _: object) -> Any:
            raise ConfigurationError

    chain: Any = Broken()
    with pytest.raises(ConfigurationError):
        rows.ask(chain, Case(id="a", question="Rate?", kind="answerable"))
    assert rows.ask(gst_chain(), Case(id="a", question="Rate?", kind="answerable"))["outcome"] == "answered"


PIECES = st.sampled_from(
    [
        *("|", "| ", " |", "|\n", "\n|---|---|\n", "| a | b |\n", "| 9 % | It is so. And so. |\n", "---\n", "***"),
        *(
            *("# ", "## Rate\n", "- ", "1. ", "> ", "```\n", "~~~\n", "\n", "\n\n", "  ", "\t", "\\", "[", "](", ")"),
            "<!--",
        ),
        *(
            *("GST ", "is ", "9 % ", "not ", "within 3 to 5 days. ", "USD 1,000 ", "2026-01-31 ", "Singapore. "),
            "S.A.R.L. ",
        ),
        *("\u200b", "\u202e", "\ufffe", "\u2028", "\x0b", "é", "運賃", "🚢", "&nbsp;", "a" * 300),
    ]
)
MARKDOWN = st.lists(PIECES, max_size=40).map("".join) | st.text(max_size=200)


@pytest.fixture(scope="module")
def services(tmp_path_factory) -> Service:
    chosen: Any = {"vector_store_type": "memory", "chroma_path": tmp_path_factory.mktemp("any")}
    return open_service(
        load_settings(_env_file=None, llm_provider="offline", min_chunks=0, relevance_threshold=0, **chosen)
    )


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=MARKDOWN, second=MARKDOWN)
def test_no_markdown_breaks_an_ingestion_an_answer_or_lint(services, tmp_path, first, second):
    texts = {"a.md": RATE + first, "b.md": second}
    write_documents(tmp_path, {name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()})

    report = services.index.ingest([tmp_path])
    answer = services.chain.invoke(QUESTION)
    read_and_lint([tmp_path], services.settings)
    list(findings.worth_a_look(services, [str(tmp_path)]))

    assert report.files + len(report.problems) >= 1
    assert answer["outcome"]
