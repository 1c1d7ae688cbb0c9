"""Rows of earlier runs, read again."""

import json

import pytest

from evals.output import rows_file
from evals.rows import RowsError, read_rows
from tests.evals.test_metrics import chunk, row

GOOD = row("1", cited=["gst"], retrieved=[chunk("gst", "9 %")])


def write(path, *lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines), encoding="utf-8")
    return path


def test_rows_are_read_as_they_were_written(tmp_path):
    with rows_file(tmp_path / "rows.jsonl") as keep:
        keep(GOOD)
    assert read_rows(tmp_path / "rows.jsonl", {"1"}) == [GOOD]


def test_rows_of_earlier_versions_name_neither_chunk_nor_page(tmp_path):
    old = {**GOOD, "retrieved": [{"doc_id": "gst", "section": None, "score": 0.5, "content": "9 %"}]}
    [read] = read_rows(write(tmp_path / "rows.jsonl", old), {"1"})
    assert (read["retrieved"][0]["chunk_id"], read["retrieved"][0]["page"]) == (None, None)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "no JSON"),
        ([1], "a row is a JSON object"),
        ({"id": "2"}, "outcome is missing, or no text"),
        ({**GOOD, "id": "2", "retrieved": None}, "retrieved is missing, or no list"),
        ({**GOOD, "id": "2", "confidence": {}}, "confidence has no score"),
        ({**GOOD, "id": "2", "retrieved": ["gst"]}, "an entry of retrieved is a JSON object"),
        ({**GOOD, "id": "2", "citations": [{}]}, "an entry of citations is a JSON object with doc_id"),
        ({**GOOD, "id": "1"}, "the id '1' was used before"),
        ({**GOOD, "id": "9"}, "the id '9' is none of the questions"),
        ({"id": "2", "question": "Rate?"}, "no row of `waypoint eval --json`"),
    ],
)
def test_a_bad_line_is_named_by_its_number_and_the_reason(tmp_path, line, told):
    path = write(tmp_path / "rows.jsonl", GOOD, "", line)
    with pytest.raises(RowsError, match=r"rows\.jsonl', line 3: ") as caught:
        read_rows(path, {"1", "2"})
    assert told in str(caught.value)


def test_a_file_that_is_not_there_or_empty_is_a_clear_error(tmp_path):
    with pytest.raises(RowsError, match="cannot be read"):
        read_rows(tmp_path / "none.jsonl", set())
    with pytest.raises(RowsError, match="holds no row"):
        read_rows(write(tmp_path / "rows.jsonl", ""), set())
