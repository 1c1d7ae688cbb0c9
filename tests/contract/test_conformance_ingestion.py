"""The cases of ../shared/conformance on ingestion; where this project differs on purpose, the reason is beside it."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from app.adapters.documents.pdf import day, load_pdf
from benchmarks.documents import pdf
from chains.ingestion.chunks import Chunker
from tests.contract.recorded import recorded
from tests.shelf import Shelf

DEVIATIONS = {
    "marp-117": "a document without a date has none; the current year would be made up",
    "marp-118": "a document whose date cannot be read has none; the current year would be made up",
}
NOT_HERE = {"lcel-217": "the text of the case is not in the file, only its length"}


def offsets(case: dict[str, Any]) -> Any:
    given = case["input"]
    if "n_tokens" in given:
        # Its chunks are windows of tokens, ours of characters: a word without separators is cut the same way.
        chunks = Chunker(given["max_tokens"], given["overlap"]).split_text("x" * given["n_tokens"])
        return [[chunk.start_char, chunk.end_char] for chunk in chunks]
    chunker = Chunker(given["chunkSize"], given["chunkOverlap"], separator_stays="start", fill=False)
    keys = case["expected"][0].keys() if case["expected"] else ()
    rows = [
        {
            "start": chunk.start_char,
            "end": chunk.end_char,
            "text": chunk.text,
            "verbatim": given["text"][chunk.start_char : chunk.end_char] == chunk.text,
        }
        for chunk in chunker.split_text(given["text"])
    ]
    return [{key: row[key] for key in keys} for row in rows]


def loaded(case: dict[str, Any], folder: Path) -> Any:
    shelf = Shelf(folder)
    (shelf.corpus / "01_regulatory" / "gst.md").unlink()
    texts = dict(zip(case["input"]["files"], ["alpha", "# beta\n\nwords", "no PDF"], strict=True))
    for name, text in texts.items():
        shelf.write(name, text)
    report = shelf.ingest()
    assert [problem.path for problem in report.problems] == ["c.pdf"]  # Named, where theirs is passed over in silence.
    return [chunk["file_path"] for chunk in shelf.metadata()]


def page_records(folder: Path, count: int) -> list[int]:
    path = folder / "description.pdf"
    path.write_bytes(pdf(*(f"Words of page {number}." for number in range(1, count + 1)), metadata={"/Title": ""}))
    source = load_pdf(path)
    assert source.metadata["title"] == "Description"  # Theirs is empty, and such chunks could never be cited.
    return [page.number for page in source.pages]


def chunk_ids_of_two_processes() -> list[str]:
    program = (
        "from langchain_core.documents import Document; from chains.ingestion.index import chunk_id; "
        "print(chunk_id(Document('words', metadata={'doc_id': 'doc', 'chunk_index': 0})))"
    )
    root = str(Path(__file__).parents[2])
    runs = [
        subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": root},
            capture_output=True,
            text=True,
            check=True,
        )
        for seed in ("1", "2")
    ]
    return [done.stdout for done in runs]


@pytest.mark.parametrize("case", recorded("chunk_offsets", "loader", "extraction", "indexing"))
def test_a_case_of_the_existing_systems(case, tmp_path):
    if case["id"] in NOT_HERE:
        pytest.skip(NOT_HERE[case["id"]])
    if case["id"] in DEVIATIONS:
        assert day(case["input"]["creation_date"]) == "", DEVIATIONS[case["id"]]
    elif case["area"] == "chunk_offsets":
        assert offsets(case) == case["expected"]
    elif case["area"] == "loader":
        assert loaded(case, tmp_path) == [Path(where["sourceId"]).name for _, where in case["expected"]]
    elif case["area"] == "indexing":
        first, second = chunk_ids_of_two_processes()
        assert (first == second) == case["expected"]["two_runs_equal"]
    elif "pdf" in case["input"]:
        assert page_records(tmp_path, case["expected"]["page_count"]) == case["expected"]["page_numbers"]
    else:
        assert day(case["input"]["creation_date"])[:4] == str(case["expected"])
