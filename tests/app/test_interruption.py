"""Ingestions that are killed, that meet, or that run out of room: real processes on real stores."""

import json
import multiprocessing
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app.adapters.stores.chroma import open_chroma
from app.adapters.stores.records import open_records
from chains.errors import VectorStoreError
from chains.ingestion.index import indexed_text
from tests.fakes import WordEmbeddings
from tests.ingest_and_stop import ingest, ingest_and_stop

ROOT = Path(__file__).parents[2]
MODEL = "sentence-transformers/all-MiniLM-L6-v2"


@pytest.fixture(scope="module", autouse=True)
def _processes_that_start_fast() -> Iterator[None]:
    """Fork the processes from one that has imported everything and opened nothing."""
    multiprocessing.get_context("forkserver").set_forkserver_preload(["tests.ingest_and_stop"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        yield


def start(function: Any, *arguments: Any, **options: Any) -> ForkServerProcess:
    process = multiprocessing.get_context("forkserver").Process(target=function, args=arguments, kwargs=options)
    process.start()
    return process


@contextmanager
def stopped(folder: Path, corpus: Path, point: str, times: int, *, reset: bool = False) -> Iterator[None]:
    """Ingest until the process hangs; kill it after the body."""
    process = start(ingest_and_stop, folder, corpus, reset=reset, point=point, times=times)
    try:
        while not (folder / "stopped").exists():
            assert process.is_alive(), f"the process never came to {point!r} for the {times}. time"
            time.sleep(0.01)
        yield
    finally:
        process.kill()
        process.join()


def contents(folder: Path) -> dict[str, Any]:
    """Return what an index holds: chunks with their vectors, records, sources; all chunks are found by searching."""
    path = folder / "store"
    store = open_chroma(path, "waypoint_kb", WordEmbeddings(), embedding_model=MODEL, indexed_text=indexed_text)
    found = store.get(include=["documents", "metadatas", "embeddings"])
    rows = zip(found["ids"], found["documents"], found["metadatas"], np.array(found["embeddings"]), strict=True)
    chunks = {key: (text, metadata, vector.tobytes()) for key, text, metadata, vector in rows}
    assert {document.id for document in store.similarity_search("words", k=10 * len(chunks))} == set(chunks)
    return {
        "chunks": chunks,
        "records": sorted(open_records(path, "waypoint_kb").list_keys()),
        "sources": sorted(json.loads(key)[0] for key in open_records(path, "waypoint_kb/sources").list_keys()),
    }


def write_corpus(corpus: Path, word: str, documents: int) -> None:
    shutil.rmtree(corpus, ignore_errors=True)
    (corpus / "desk").mkdir(parents=True)
    for number in range(documents):
        words = [f"Words on {word if part % 2 else 'all'}. " * 50 for part in range(5)]
        parts = [f"## Part {part}\n\n{text}" for part, text in enumerate(words)]
        (corpus / "desk" / f"doc{number}.md").write_text("\n\n".join([f"# Document {number}", *parts]))


BEFORE, AFTER = ("rates", 6), ("fees", 5)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[tuple[str, int], Any]:
    """The index of each corpus, made at once."""
    return {corpus: _made_at_once(tmp_path_factory.mktemp("undisturbed"), *corpus) for corpus in (BEFORE, AFTER)}


def _made_at_once(folder: Path, word: str, documents: int) -> Any:
    write_corpus(folder / "corpus", word, documents)
    ingest(folder, folder / "corpus")
    return contents(folder)


STEPS = ("embedding", "chunks added", "chunks recorded", "chunks deleted", "records deleted")
CASES = [
    *((None, AFTER, False, step, times) for step in STEPS[:3] for times in (1, 3)),
    *((BEFORE, AFTER, False, step, times) for step in STEPS for times in (1, 2)),
    *((BEFORE, BEFORE, False, step, 2) for step in STEPS),
    *((BEFORE, AFTER, True, step, 1) for step in ("collection deleted", "records deleted", *STEPS[:2])),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_run_after_a_killed_one_ends_with_the_index_of_an_undisturbed_one(undisturbed, tmp_path, case):
    first, last, reset, step, times = case
    corpus = tmp_path / "corpus"
    if first:
        write_corpus(corpus, *first)
        start(ingest, tmp_path, corpus).join()
    write_corpus(corpus, *AFTER)
    with stopped(tmp_path, corpus, step, times, reset=reset):
        pass
    write_corpus(corpus, *last)
    ingest(tmp_path, corpus)

    assert contents(tmp_path) == undisturbed[last]
    again = ingest(tmp_path, corpus)
    assert (again.added, again.updated, again.deleted) == (0, 0, 0)


def test_the_second_of_two_runs_at_once_refuses_and_changes_nothing(undisturbed, tmp_path):
    corpus = tmp_path / "corpus"
    write_corpus(corpus, *AFTER)
    with stopped(tmp_path, corpus, "chunks added", 1):
        with pytest.raises(VectorStoreError, match="another ingestion into the same store is at work"):
            ingest(tmp_path, corpus)
        second = start(ingest, tmp_path, corpus)
        second.join()
        assert second.exitcode == 1
    ingest(tmp_path, corpus)
    assert contents(tmp_path) == undisturbed[AFTER]


@pytest.fixture
def small_disk(tmp_path) -> Iterator[Path]:
    """A file system of one megabyte, where this user may mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("only root may mount a small disk")
    try:
        yield disk
    finally:
        subprocess.run(["umount", "--lazy", disk], check=True)


def waypoint_ingest(corpus: Path, store: Path) -> subprocess.CompletedProcess[str]:
    program = "from app.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", program, "ingest", str(corpus)],
        env={"PYTHONPATH": str(ROOT), "CHROMA_PATH": str(store), "HOME": str(Path.home())},
        cwd=corpus,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_full_disk_is_a_clear_error_and_the_next_run_mends_what_it_left(small_disk, tmp_path):
    write_corpus(tmp_path / "corpus", "fees", documents=20)
    done = waypoint_ingest(tmp_path / "corpus", small_disk / "store")

    assert done.returncode == 1, done.stderr
    assert "disk" in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr

    subprocess.run(["mount", "-o", "remount,size=200m", small_disk], check=True)
    write_corpus(tmp_path / "corpus", "fees", documents=1)
    assert waypoint_ingest(tmp_path / "corpus", small_disk / "store").returncode == 0


def test_a_folder_that_can_only_be_read_is_a_clear_error(small_disk, tmp_path):
    write_corpus(tmp_path / "corpus", "fees", documents=1)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    done = waypoint_ingest(tmp_path / "corpus", small_disk / "store")

    assert done.returncode == 1, done.stderr
    assert "Read-only file system" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_store_that_can_only_be_read_is_a_clear_error(small_disk, tmp_path):
    subprocess.run(["mount", "-o", "remount,size=200m", small_disk], check=True)
    write_corpus(tmp_path / "corpus", "fees", documents=1)
    assert waypoint_ingest(tmp_path / "corpus", small_disk / "store").returncode == 0
    write_corpus(tmp_path / "corpus", "rates", documents=1)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    done = waypoint_ingest(tmp_path / "corpus", small_disk / "store")

    assert done.returncode == 1, done.stderr
    assert "cannot be" in done.stderr
    assert "Traceback" not in done.stderr
