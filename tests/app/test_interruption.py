"""Ingestions that are killed, that meet, or that run out of room: real processes on real stores."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest

from chains.errors import VectorStoreError
from tests.fakes import WordEmbeddings
from tests.ingest_and_stop import ingest, ingest_and_stop, make_services, waypoint
from tests.processes import start


@contextmanager
def stopped(
    folder: Path, corpus: Path, point: str, times: int, *, reset: bool = False, **settings: Any
) -> Iterator[None]:
    """Ingest until the process hangs; kill it after the body."""
    process = start(ingest_and_stop, folder, corpus, reset=reset, point=point, times=times, **settings)
    try:
        while not (folder / "stopped").exists():
            assert process.is_alive(), f"the process never came to {point!r} for the {times}. time"
            time.sleep(0.01)
        yield
    finally:
        process.kill()
        process.join()


def contents(folder: Path, **settings: Any) -> dict[str, Any]:
    """Return what an index holds: chunks with their vectors, words, records, sources; a search finds all chunks."""
    services = make_services(folder, **settings)
    index, database = services.index.current(), services.index.stored.database
    ids = [id_ for (id_,) in database.rows("SELECT id FROM passages")]
    chunks = {chunk.id: (chunk.page_content, chunk.metadata) for chunk in index.get_by_ids(ids)}
    vectors = {key: vector.tobytes() for key, vector in index.vectors(ids).items()}
    assert set(index.nearest(WordEmbeddings().embed_query("words"), 10 * len(chunks) + 1, {})) == set(chunks)
    assert set(index.places(ids)) == set(chunks)
    if ids:
        held = index.search("words", 10 * len(ids), {})
        assert set(held) == {id_ for id_ in ids if "words" in chunks[id_][0].lower()}
    if database.dialect == "sqlite":
        assert database.rows("PRAGMA integrity_check") == [("ok",)]
    return {"chunks": chunks, "vectors": vectors, "sources": sorted(source.doc_id for source in index.sources())}


def write_corpus(corpus: Path, word: str, documents: int) -> None:
    shutil.rmtree(corpus, ignore_errors=True)
    (corpus / "desk").mkdir(parents=True)
    for number in range(documents):
        words = [f"Words on {word if part % 2 else 'all'}. " * 50 for part in range(5)]
        parts = [f"## Part {part}\n\n{text}" for part, text in enumerate(words)]
        (corpus / "desk" / f"doc{number}.md").write_text("\n\n".join([f"# Document {number}", *parts]))


KILLS = 4  # Of each dialect; it held for 100 of each, as docs/resilience.md says.
BEFORE, AFTER = ("rates", 6), ("fees", 5)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> dict[tuple[str, int], Any]:
    """The index of each corpus, made at once."""
    return {corpus: _made_at_once(tmp_path_factory.mktemp("undisturbed"), *corpus) for corpus in (BEFORE, AFTER)}


def _made_at_once(folder: Path, word: str, documents: int) -> Any:
    write_corpus(folder / "corpus", word, documents)
    ingest(folder, folder / "corpus")
    return contents(folder)


@pytest.fixture(scope="module")
def before(tmp_path_factory) -> Path:
    """The folder of the first corpus and of its index; tests change the one and copy the other."""
    folder: Path = tmp_path_factory.mktemp("before")
    write_corpus(folder / "corpus", *BEFORE)
    start(ingest, folder, folder / "corpus").join()
    return folder


@pytest.fixture(scope="module")
def before_in_postgres(before, postgres_server) -> Iterator[str]:
    write_corpus(before / "corpus", *BEFORE)
    with postgres_server.database() as url:
        start(ingest, before, before / "corpus", **in_postgres(url)).join()
        yield url


def in_postgres(url: str) -> dict[str, Any]:
    return {"vector_store_type": "postgres", "database_url": url}


@pytest.fixture
def settings(request, dialect, before, tmp_path) -> Iterator[dict[str, Any]]:
    """Settings of a copy of the first index, in a database or below `tmp_path`."""
    if dialect == "sqlite":
        shutil.copytree(before / "store", tmp_path / "store")
        yield {}
        return
    made = request.getfixturevalue("before_in_postgres")
    with request.getfixturevalue("postgres_server").database(like=made) as url:
        yield in_postgres(url)


# Each write of a change, and whether it is seen when the process is killed there.
STEPS = [
    *(("embedding", 1, False), ("embedding", 3, False), ("staged", 1, False), ("staged", 3, False)),
    *(("deleted", 1, False), ("added", 1, False), ("sources written", 1, False)),
    *(("version stated", 1, False), ("version stated", 4, False)),
    *(("committed", 1, True), ("follower copied", 1, True), ("follower aligned", 1, True), ("followed", 1, True)),
]
KILLED = [
    *(("sqlite", *step, reset) for step in STEPS for reset in (False, True)),
    # PostgreSQL searches its own vectors. A reset is the same statements in both dialects: every other step has one.
    *(
        pytest.param("postgresql", *step, number % 2 == 1, marks=pytest.mark.service)
        for number, step in enumerate(step for step in STEPS if "follower" not in step[0])
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("dialect", "step", "times", "seen", "reset"), KILLED)
def test_a_killed_run_leaves_the_old_index_or_the_new_one_whole(
    undisturbed, before, settings, tmp_path, dialect, reset, step, times, seen
):
    corpus = before / "corpus"
    write_corpus(corpus, *AFTER)
    with stopped(tmp_path, corpus, step, times, reset=reset, **settings):
        pass

    assert contents(tmp_path, **settings) == undisturbed[AFTER if seen else BEFORE]
    ingest(tmp_path, corpus, reset=reset, **settings)
    assert contents(tmp_path, **settings) == undisturbed[AFTER]
    again = ingest(tmp_path, corpus, **settings)
    assert (again.added, again.updated, again.deleted) == (0, 0, 0)


def _await_quiet(url: str) -> None:
    """Wait until the server has ended what a killed client asked for: a commit may come after the client's end.

    Then clean up as autovacuum does, which is off in the tests: an index of many dead copies finds fewer of the living.
    """
    busy = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'"
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute(f"{busy} AND pid <> pg_backend_pid()").fetchone() != (0,):
            time.sleep(0.01)
        connection.execute("VACUUM")


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["sqlite", pytest.param("postgresql", marks=pytest.mark.service)])
def test_a_run_killed_at_any_moment_leaves_the_old_index_or_the_new_one_whole(
    undisturbed, before, settings, tmp_path, dialect
):
    corpus, old, new = before / "corpus", AFTER, BEFORE
    write_corpus(corpus, *AFTER)
    began = time.monotonic()
    start(ingest, tmp_path, corpus, **settings).join()
    lasts, chance = time.monotonic() - began, np.random.default_rng(7)
    for _ in range(KILLS):
        write_corpus(corpus, *new)
        process = start(ingest, tmp_path, corpus, reset=chance.random() < 0.5, **settings)
        time.sleep(chance.uniform(0, 1.2 * lasts))
        process.kill()
        process.join()
        if settings:
            _await_quiet(settings["database_url"])
        assert contents(tmp_path, **settings) in (undisturbed[old], undisturbed[new])
        ingest(tmp_path, corpus, **settings)
        assert contents(tmp_path, **settings) == undisturbed[new]
        old, new = new, old


def test_a_run_of_which_nothing_is_new_changes_nothing(tmp_path):
    corpus = tmp_path / "corpus"
    write_corpus(corpus, *AFTER)
    ingest(tmp_path, corpus)
    before = make_services(tmp_path).index.stored.version()
    ingest(tmp_path, corpus)

    assert make_services(tmp_path).index.stored.version() == before


def test_a_killed_run_is_gone_on_with_and_nothing_is_embedded_twice(tmp_path):
    corpus = tmp_path / "corpus"
    write_corpus(corpus, *AFTER)
    with stopped(tmp_path, corpus, "staged", 2):
        pass
    services = make_services(tmp_path)
    services.index.ingest([corpus])

    embeddings: Any = services.index.embeddings
    assert 0 < embeddings.embedded < services.index.current().count()


def test_the_second_of_two_runs_at_once_refuses_and_changes_nothing(undisturbed, tmp_path):
    corpus = tmp_path / "corpus"
    write_corpus(corpus, *AFTER)
    with stopped(tmp_path, corpus, "staged", 1):
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


def waypoint_ingest(corpus: Path, store: Path) -> tuple[int | None, str]:
    """Run `waypoint ingest` in a process of its own; return its exit code and its messages."""
    messages = corpus.parent / "messages.txt"
    process = start(waypoint, corpus, messages, "ingest", str(corpus), CHROMA_PATH=str(store))
    process.join()
    return process.exitcode, messages.read_text()


def test_a_full_disk_is_a_clear_error_and_the_next_run_mends_what_it_left(small_disk, tmp_path):
    for documents in (8, 12):  # The first are written, and the disk is full when the log is put into the file.
        write_corpus(tmp_path / "corpus", "fees", documents=documents)
        code, messages = waypoint_ingest(tmp_path / "corpus", small_disk / "store")
        assert "Traceback" not in messages

    assert code == 1, messages
    assert "disk" in messages.splitlines()[-1]

    subprocess.run(["mount", "-o", "remount,size=200m", small_disk], check=True)
    write_corpus(tmp_path / "corpus", "fees", documents=1)
    code, messages = waypoint_ingest(tmp_path / "corpus", small_disk / "store")
    assert code == 0, messages


@pytest.mark.parametrize(("is_there", "told"), [(False, "Read-only file system"), (True, "cannot be")])
def test_a_store_that_can_only_be_read_is_a_clear_error(small_disk, tmp_path, is_there, told):
    if is_there:
        subprocess.run(["mount", "-o", "remount,size=200m", small_disk], check=True)
        write_corpus(tmp_path / "corpus", "rates", documents=1)
        assert waypoint_ingest(tmp_path / "corpus", small_disk / "store")[0] == 0
    write_corpus(tmp_path / "corpus", "fees", documents=1)
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    code, messages = waypoint_ingest(tmp_path / "corpus", small_disk / "store")

    assert code == 1, messages
    assert told in messages
    assert "Traceback" not in messages
