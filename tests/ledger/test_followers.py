"""Chroma follows the ledger: it finds the same passages, and whatever becomes of it, questions are answered."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Event
from typing import cast

import numpy as np
import pytest
from langchain_core.documents import Document

from app.adapters.chroma import ChromaFolder
from app.ledger import open_database
from app.ledger.answers import DAY_S
from app.ledger.database import Database
from app.ledger.index import PassageIndex
from app.ledger.work import Conversations, WaitingMessages
from chains.errors import ConfigurationError
from chains.history import Turn
from tests.event_stores import message
from tests.fakes import WordEmbeddings
from tests.indexes import index_in, put

HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.read()
"""
VECTOR = WordEmbeddings().embed_query("words about seven parcels")


def followed(folder: Path, *, serves: bool = True) -> PassageIndex:
    database = open_database(folder / "kb.sqlite3", collection="kb")
    index = index_in(database, follower=lambda: ChromaFolder(folder / "vectors", "desk"))
    index.vectors.serves = serves
    return index


def passages(count: int, word: str = "parcels") -> dict[str, Document]:
    audiences = ("public", "internal")
    return {
        f"{word}{number}": Document(f"words about {number} {word}", metadata={"audience": audiences[number % 2]})
        for number in range(count)
    }


def test_it_finds_what_exact_search_finds_also_after_changes(tmp_path):
    index = followed(tmp_path)
    for change in (passages(40), passages(5, "pallets"), {}):
        put(index, change, stale=["parcels3", "parcels4"] if not change else ())
        exact = followed(tmp_path, serves=False)
        for where in ({}, {"audience": "public"}, {"audience": "public", "category": "none"}):
            found, expected = (each.open().nearest(VECTOR, 60, where) for each in (index, exact))
            assert found == pytest.approx(expected, abs=1e-6)
        assert (index.open().searched_by(), exact.open().searched_by()) == ("chroma", "exact search")


@pytest.mark.parametrize("harm", ["deleted", "damaged", "behind", "locked"])
def test_one_that_is_gone_broken_or_behind_is_done_without_and_filled_again(tmp_path, harm, request):
    index = followed(tmp_path)
    put(index, passages(9))
    index.vectors.close()
    if harm == "deleted":
        shutil.rmtree(tmp_path / "vectors")
    elif harm == "damaged":
        for file in (tmp_path / "vectors").rglob("chroma.sqlite3"):
            file.write_bytes(b"rubbish" * 1000)
    elif harm == "locked":
        [file] = (tmp_path / "vectors").rglob("chroma.sqlite3")
        request.getfixturevalue("lock_file")(file)
    else:
        put(index_in(index.database), {"late": Document("words about seven parcels")})

    again = followed(tmp_path)
    assert len(again.open().nearest(VECTOR, 20, {})) == again.count()
    again.vectors.close()
    assert cast("WordEmbeddings", again.embeddings).embedded == 0
    if harm not in {"damaged", "locked"}:
        assert again.open().searched_by() == "chroma"
    else:
        assert again.open().searched_by().startswith("exact search: chroma in")
        put(again, {"late": Document("words")})
        assert followed(tmp_path).open().searched_by() == "chroma"


@pytest.fixture
def lock_file() -> Iterator[Callable[[Path], None]]:
    """Let another process lock a database while the test runs."""
    with ExitStack() as stack:

        def lock(file: Path) -> None:
            words = [sys.executable, "-c", HOLD, str(file)]
            process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            stack.enter_context(process)
            stack.callback(process.kill)
            assert process.stdout
            assert process.stdout.readline() == b"locked\n"

        yield lock


def test_a_folder_holds_the_last_version_alone(tmp_path):
    index = followed(tmp_path)
    put(index, passages(3))
    put(index, passages(2, "pallets"))
    assert [path.name for path in (tmp_path / "vectors").iterdir()] == [index.version()]


def test_vectors_of_other_dimensions_are_refused_with_the_command_that_rebuilds(database):
    put(index_in(database), {"a": Document("words")})
    other = index_in(database, dimensions=64)
    with pytest.raises(ConfigurationError, match="waypoint ingest --reset"):
        put(other, {"b": Document("words")})
    with pytest.raises(ConfigurationError, match="256 dimensions, and the embedding model makes 64"):
        other.open().nearest([1.0] * 64, 1, {})


def test_vectors_and_metadata_come_back_as_they_were_given(database):
    metadata = {"title": "Naïve “words”", "chunk_index": 2, "score": 0.5, "flag": True, "audience": "public"}
    put(index_in(database), {"a": Document("words", metadata=metadata)})
    index = index_in(database).open()

    [document] = index.get_by_ids(["a", "unknown"])
    assert (document.page_content, document.metadata) == ("words", metadata)
    assert np.array_equal(index.vectors(["a"])["a"], np.array(WordEmbeddings().embed_query("words"), dtype=np.float32))


def test_readers_keep_the_version_that_they_began_with(database, address, file, monkeypatch):
    monkeypatch.setattr("app.ledger.sqlite.BUSY_S", 0.1)  # The log is written into the file once nobody reads.
    put(index_in(database), {"a": Document("words")})
    writer = index_in(open_database(file, address, collection="kb"))
    before = index_in(database).open()
    with before.reading():
        assert before.count() == 1
        put(writer, {"b": Document("more words")}, stale=["a"])
        assert list(before.nearest(WordEmbeddings().embed_query("words"), 5, {})) == ["a"]
        assert [document.id for document in before.get_by_ids(["a", "b"])] == ["a"]
        assert list(before.search("words", 5, {})) == ["a"]
    assert list(before.nearest(WordEmbeddings().embed_query("words"), 5, {})) == ["b"]


def test_ten_readers_see_each_change_as_a_whole(database, address, file):
    put(index_in(database), passages(3))
    others = [open_database(file, address, collection="kb", pool_size=1) for _ in range(10)]
    done = Event()

    def read(other: Database) -> set[tuple[int, ...]]:
        seen: set[tuple[int, ...]] = set()
        while not done.is_set():
            index = index_in(other).open()
            with index.reading():
                hits = index.nearest(VECTOR, 99, {}), index.search("words", 99, {})
                seen.add((index.count(), *map(len, hits)))
        return seen

    with ThreadPoolExecutor(10) as threads:
        reading = [threads.submit(read, other) for other in others]
        for size in range(4, 9):  # Each change replaces all passages by one more.
            put(index_in(database), passages(size, f"words{size}"), reset=True)
        done.set()
        assert set().union(*(future.result() for future in reading)) <= {(size,) * 3 for size in range(3, 9)}
    for other in others:
        other.close()


async def test_a_clock_that_jumps_loses_nothing_and_changes_no_order(database, monkeypatch):
    now = 1_800_000_000.0
    clock = [now]
    monkeypatch.setattr("time.time", lambda: clock[-1])
    index, waiting = index_in(database), WaitingMessages(database, capacity=9)
    conversations = Conversations(database, ttl_s=60, capacity=9, now=lambda: clock[-1])
    for number, jump in enumerate((0, 30 * DAY_S, -30 * DAY_S, -60 * DAY_S)):
        clock.append(now + jump)
        before = index.version()
        put(index, {f"p{number}": Document("words")})
        assert index.version() != before
        waiting.put([message(number)])
        await conversations.add(f"s{number // 2}", "ann", [Turn("user", f"Question {number}?")])

    assert index.open().chunks_of("p0") + index.open().chunks_of("p3") == ["p0", "p3"]
    assert index.count() == 4
    assert [each.id for each in waiting.first(9)] == ["m0", "m1", "m2", "m3"]
    assert [turn.text for turn in await conversations.turns("s1", "ann")] == ["Question 2?", "Question 3?"]


@pytest.mark.parametrize("odd", ["a\0b", "\ue000 \U0001f600", "\\u0000"])
def test_odd_characters_are_kept_or_become_a_space(database, odd):
    put(index_in(database), {"a": Document(f"words {odd}", metadata={"title": odd})})
    [document] = index_in(database).open().get_by_ids(["a"])
    kept = odd.replace("\0", " ") if database.dialect == "postgresql" else odd
    assert document.page_content == f"words {kept}"
    assert document.metadata["title"] == odd.replace("\0", " ")
