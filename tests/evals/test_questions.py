"""Lines of question sets and of earlier runs, read again."""

import json

import pytest

from evals.output import rows_file
from evals.questions import Case, Gold, QuestionSetError, read_questions
from evals.rows import RowsError, read_rows
from tests.evals.test_metrics import chunk, row

GOOD = {"id": "Q-1", "question": "What is the rate of GST?", "kind": "answerable"}


def write(path, *lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_a_question_is_read_with_its_gold_facts_and_history(tmp_path):
    line = {
        **GOOD,
        "gold": [{"doc_id": "gst", "section": "Rate", "evidence": "9 %"}],
        "answer_facts": ["9%"],
        "history": [{"role": "user", "content": "hello"}],
        "category": "customs",
    }
    expected = Case(
        "Q-1",
        "What is the rate of GST?",
        "answerable",
        (Gold("gst", "Rate", "9 %"),),
        ("9%",),
        ({"role": "user", "content": "hello"},),
    )
    assert read_questions(write(tmp_path / "q.jsonl", line)) == [expected]


def test_a_gold_file_becomes_the_document_id_of_its_path(tmp_path):
    line = {**GOOD, "gold": [{"file": "01_regulatory/gst_guide.md"}]}
    assert read_questions(write(tmp_path / "q.jsonl", line))[0].gold == (Gold("01_regulatory_gst_guide"),)


def test_blank_lines_and_a_byte_order_mark_are_passed_over(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text("\ufeff" + json.dumps(GOOD) + "\n\n  \n", encoding="utf-8")
    assert [case.id for case in read_questions(path)] == ["Q-1"]


def test_a_line_separator_inside_a_text_does_not_end_the_line(tmp_path):
    line = json.dumps({**GOOD, "answer_facts": ["a\u2028b"]}, ensure_ascii=False)
    assert read_questions(write(tmp_path / "q.jsonl", line))[0].answer_facts == ("a\u2028b",)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "no JSON"),
        ([1], "a question is a JSON object"),
        ({**GOOD, "kind": "hard"}, "kind is 'hard'; allowed are answerable, uncovered, action, offdomain, followup"),
        ({**GOOD, "question": " "}, "cannot be empty"),
        ({**GOOD, "question": 7}, "must be a string"),
        ({**GOOD, "answer_facts": "9%"}, "answer_facts must be a list"),
        ({**GOOD, "history": "hello"}, "history must be a list"),
        ({**GOOD, "gold": {}}, None),
        ({**GOOD, "gold": "gst"}, "gold must be a list"),
        ({**GOOD, "gold": ["gst"]}, "an entry of gold is a JSON object"),
        ({**GOOD, "gold": [{"section": "Rate"}]}, "needs doc_id or file"),
        ({**GOOD, "gold": [{"doc_id": "gst", "evidence": 9}]}, "evidence of gold must be text"),
        ({**GOOD, "id": "first"}, "the id 'first' was used before"),
    ],
)
def test_a_bad_line_is_named_by_its_number_and_the_reason(tmp_path, line, told):
    path = write(tmp_path / "q.jsonl", {**GOOD, "id": "first"}, "", line)
    if told is None:
        assert len(read_questions(path)) == 2
        return
    with pytest.raises(QuestionSetError, match=r"q\.jsonl', line 3: ") as caught:
        read_questions(path)
    assert told in str(caught.value)


@pytest.mark.parametrize(("content", "told"), [(b"", "holds no question"), (b"\xff\xfe", "not UTF-8")])
def test_a_file_without_questions_is_a_clear_error(tmp_path, content, told):
    (tmp_path / "q.jsonl").write_bytes(content)
    with pytest.raises(QuestionSetError, match=told):
        read_questions(tmp_path / "q.jsonl")


def test_a_file_that_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(QuestionSetError, match="cannot be read"):
        read_questions(tmp_path / "none.jsonl")


ROW = row("1", cited=["gst"], retrieved=[chunk("gst", "9 %")])


def test_rows_are_read_as_they_were_written(tmp_path):
    with rows_file(tmp_path / "rows.jsonl") as keep:
        keep(ROW)
    assert read_rows(tmp_path / "rows.jsonl", {"1"}) == [ROW]


def test_rows_of_earlier_versions_name_neither_chunk_nor_page(tmp_path):
    old = {**ROW, "retrieved": [{"doc_id": "gst", "section": None, "score": 0.5, "content": "9 %"}]}
    [read] = read_rows(write(tmp_path / "rows.jsonl", old), {"1"})
    assert (read["retrieved"][0]["chunk_id"], read["retrieved"][0]["page"]) == (None, None)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "no JSON"),
        ([1], "a row is a JSON object"),
        ({"id": "2"}, "outcome is missing, or no text"),
        ({**ROW, "id": "2", "retrieved": None}, "retrieved is missing, or no list"),
        ({**ROW, "id": "2", "confidence": {}}, "confidence has no score"),
        ({**ROW, "id": "2", "retrieved": ["gst"]}, "an entry of retrieved is a JSON object"),
        ({**ROW, "id": "2", "citations": [{}]}, "an entry of citations is a JSON object with doc_id"),
        ({**ROW, "id": "1"}, "the id '1' was used before"),
        ({**ROW, "id": "9"}, "the id '9' is none of the questions"),
        ({"id": "2", "question": "Rate?"}, "no row of `waypoint eval --json`"),
    ],
)
def test_a_bad_row_is_named_by_its_number_and_the_reason(tmp_path, line, told):
    path = write(tmp_path / "rows.jsonl", ROW, "", line)
    with pytest.raises(RowsError, match=r"rows\.jsonl', line 3: ") as caught:
        read_rows(path, {"1", "2"})
    assert told in str(caught.value)
