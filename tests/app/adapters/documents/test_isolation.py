"""Hostile files against the real worker process: refused within their limits, and the files after them are read."""

import io
import json
import resource
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from app.adapters.documents import process, worker
from app.adapters.documents.process import LOCAL_BYTES, IsolatedParser, serve
from benchmarks.documents import docx, heading, paragraph, pdf
from chains.errors import IngestionError
from chains.ingestion.chunks import Chunker
from chains.ingestion.parsing import parse_file
from tests import hostile_files
from tests.corpora import write_documents
from tests.shelf import Shelf


def parser(*, timeout_s: float = 60, memory_mb: int = 1024) -> closing[IsolatedParser]:
    return closing(IsolatedParser(Chunker(), timeout_s, memory_mb))


@pytest.fixture
def documents(tmp_path) -> list[Path]:
    contents = {
        "rates.pdf": pdf("First page.", "", "Third page.", metadata={"/Title": "Rates"}),
        "rates.docx": docx(heading("Rate", 1) + paragraph("Nine percent.")),
        "rates.html": "<title>Gebühr</title><h2>Rate</h2><p>Nine percent.".encode(),
        "long.md": b"# Long\n\n## Part\n\n| a | b |\n|---|---|\n" + (b"| one " * 100 + b"|\n") * (LOCAL_BYTES // 600),
    }
    return [write_documents(tmp_path, contents) / name for name in contents]


def test_a_file_is_read_alike_in_this_process_and_in_the_worker(documents):
    with parser() as isolated:
        here = [parse_file(path, worker.LOADERS, Chunker()) for path in documents]
        assert [isolated.parse(path) for path in documents] == here
    assert set(isolated.endings) == worker.LOADERS.keys()


def test_text_of_ordinary_size_needs_no_worker(tmp_path):
    path = tmp_path / "short.md"
    path.write_text("# Short\n\nWords.")
    with parser() as isolated:
        isolated.parse(path)
        assert isolated.worker.process is None


def test_the_worker_imports_neither_the_index_nor_retrieval():
    seen = "import sys; from app.adapters.documents import worker; print(*(name for name in sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", seen], capture_output=True, text=True, check=True).stdout.split()
    assert not {"chains.ingestion.index", "chains.retrieval", "langchain_core"} & set(loaded)


def test_one_worker_reads_many_files_and_ends_with_the_ingestion(documents):
    with parser() as isolated:
        isolated.parse(documents[0])
        process = isolated.worker.process
        for path in documents:
            isolated.parse(path)
        assert isolated.worker.process is process
    assert process is not None
    assert process.returncode is not None


def test_the_memory_of_the_ingestion_itself_does_not_count_as_the_worker_s(documents):
    held = b"x" * (100 * 2**20)
    with parser(memory_mb=500) as isolated:
        isolated.parse(documents[0])
        assert isolated.worker.process is not None
    assert held


BOMBS = {
    "word_bomb_of_blanks.docx": "unpacks to more than 32 MB",
    "sheet_bomb_of_blanks.xlsx": "unpacks to more than 32 MB",
    "many_headings.md": "split it",
    "page_blank_lines.html": "split it",
}


@pytest.mark.parametrize(("bomb", "reason"), BOMBS.items())
def test_a_bomb_is_refused_within_its_limits_and_the_files_after_it_are_read(
    monkeypatch, tmp_path, documents, bomb, reason
):
    monkeypatch.setattr(process, "WALL_TIMES", 60)  # However busy this machine is.
    path = tmp_path / bomb
    path.write_bytes(hostile_files.content(bomb))
    with parser(timeout_s=1, memory_mb=512) as isolated:
        with pytest.raises(IngestionError, match=reason):
            isolated.parse(path)
        assert isolated.parse(documents[0]).chunks


def test_a_worker_that_died_after_a_file_costs_none(documents):
    with parser() as isolated:
        isolated.parse(documents[0])
        assert isolated.worker.process is not None
        isolated.worker.process.kill()
        isolated.worker.process.wait()
        assert isolated.parse(documents[1]).chunks


def test_the_worker_knows_no_secret_of_this_process(documents, monkeypatch):
    monkeypatch.setenv("LLM_API_KEY", "gsk_secret")
    with parser() as isolated:
        isolated.parse(documents[0])
        assert isolated.worker.process is not None
        environment = Path(f"/proc/{isolated.worker.process.pid}/environ")
        if not environment.exists():
            pytest.skip("only Linux shows the environment of a process")
        assert b"gsk_secret" not in environment.read_bytes()


def test_no_outside_file_is_read_by_an_entity(tmp_path):
    names = ["word_entity_file.docx", "word_title_entity_file.docx", "slides_entity_file.pptx", "page_entities.html"]
    with parser() as isolated:
        for name in names:
            (tmp_path / name).write_bytes(hostile_files.content(name))
        parsed = [isolated.parse(tmp_path / name) for name in names]
    assert "words" in parsed[0].chunks[0].text
    assert "root:" not in repr(parsed)


def test_the_worker_answers_a_task_a_line_until_one_has_taken_too_much(documents):
    """In this process: what covers the worker's own lines. The limit of seconds is put back after."""
    limits = resource.getrlimit(resource.RLIMIT_CPU)
    task = {"chunker": {}, "timeout_s": 600}
    tasks = b"".join(
        json.dumps({**task, "path": str(path)}).encode() + b"\n" for path in [*documents, Path("gone.pdf")]
    )
    replies = io.BytesIO()
    try:
        serve(io.BytesIO(tasks), replies, 10**6, worker.answer)
        serve(io.BytesIO(tasks), replies, 1, worker.answer)
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, limits)

    answers = [json.loads(line) for line in replies.getvalue().splitlines()]
    assert [answer["last"] for answer in answers] == [False] * 5 + [True]
    assert answers[4]["problem"] == "the file cannot be read: No such file or directory"


QUICK_PDFS = {f"pdf_{name}.pdf" for name in ("pages_loop", "form_in_itself", "xref_loop", "deep_dictionary")}
# The bombs are tried above, and the other PDF files page by page, in tests/app/http/routes/test_documents.py.
HOSTILE = [name for name in hostile_files.names() if name in QUICK_PDFS or (name[-4:] != ".pdf" and name not in BOMBS)]


def test_every_hostile_file_has_a_document_id_of_its_own():
    assert len({Path(name).stem for name in hostile_files.names()}) == len(hostile_files.names())


@pytest.mark.slow
def test_hostile_files_leave_the_others_alone(tmp_path):
    shelf = Shelf(tmp_path)
    hostile_files.write_hostile_files(shelf.corpus, HOSTILE)
    report = shelf.ingest()

    assert {"good", "01_regulatory_gst"} <= {chunk["doc_id"] for chunk in shelf.metadata()}
    named = {problem.path for problem in [*report.problems, *report.skipped]}
    assert report.files + len(named) == len(HOSTILE) + len(hostile_files.NO_FILES) + 2
    assert named >= hostile_files.NO_FILES
    assert not any(ord(character) < 32 for problem in report.problems for character in problem.reason)
