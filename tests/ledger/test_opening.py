"""The tables of the ledger are made when it is first used, by one of all who find none."""

import signal
import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from langchain_core.documents import Document

from app.ledger import open_database
from app.ledger.database import Database
from app.ledger.postgres import schema_of
from app.ledger.steps import STEPS
from app.settings import load_settings
from app.wiring.storage import ledger_of
from chains.errors import ConfigurationError, VectorStoreError
from tests.indexes import Shelves, put_words_back

HEAD = 1 + len(STEPS)


def facts(database: Database) -> dict[str, str]:
    with database.reading() as connection:
        return dict(map(tuple, connection.exec_driver_sql("SELECT name, value FROM facts")))


def test_many_who_find_no_tables_make_them_once(address: str | None, file: Path) -> None:
    opened = [open_database(file, address, collection="kb", pool_size=1) for _ in range(6)]
    with ThreadPoolExecutor(6) as threads:
        assert list(threads.map(facts, opened)) == [{"schema": str(HEAD)}] * 6


def test_tables_of_a_later_version_are_refused(database: Database) -> None:
    with database.changing() as connection:
        connection.exec_driver_sql("UPDATE facts SET value = '99'")
    database.close()
    with pytest.raises(ConfigurationError, match=f"version 99, not {HEAD}; install a later version"):
        facts(database)


def test_tables_of_an_earlier_version_are_brought_to_this_one_as_a_whole_when_that_is_asked_for(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    database.state("name", "value")
    database.close()

    def add_column(database: Database) -> None:
        database.run("ALTER TABLE facts ADD COLUMN note text")

    def fail(database: Database) -> None:
        database.run("DROP TABLE nowhere")

    for steps, failure in ((add_column, fail), "nowhere"), ((add_column, add_column), "note"):
        monkeypatch.setattr(database, "_steps", (*STEPS, *steps))
        with pytest.raises(ConfigurationError, match=f"version {HEAD}, not {HEAD + 2}; run `waypoint migrate`"):
            facts(database)
        with pytest.raises(VectorStoreError, match=failure):
            database.migrate()
    monkeypatch.setattr(database, "_steps", (*STEPS, add_column, lambda _database: None))
    database.migrate()
    database.migrate()

    assert facts(database) == {"schema": str(HEAD + 2), "name": "value"}
    assert database.rows("SELECT note FROM facts") == [(None,), (None,)]


def test_words_of_the_first_version_are_counted_anew(database: Database) -> None:
    index = Shelves(database)
    texts = [
        Document(f"crates, crates and box{n}", metadata={"audience": who, "title": "Boxes"})
        for n, who in enumerate(("public", "internal", None))
    ]
    index.add(["a", "b", "c"], texts)
    asked = [(question, where) for question in ("crates", "box1", "boxes") for where in ({}, {"audience": "public"})]
    before = [index.search(question, 9, where) for question, where in asked]
    postings = database.rows("SELECT * FROM postings ORDER BY term, public")
    put_words_back(database)

    with pytest.raises(ConfigurationError, match=f"of version 1, not {HEAD}; run `waypoint migrate`"):
        facts(database)
    database.migrate()
    assert [index.search(question, 9, where) for question, where in asked] == before
    assert database.rows("SELECT * FROM postings ORDER BY term, public") == postings
    index.delete(["a", "b", "c"])
    assert database.value("SELECT count(*) FROM postings") == database.value("SELECT count(*) FROM words") == 0


def test_a_migration_that_is_killed_leaves_the_earlier_words_whole(file: Path) -> None:
    database = open_database(file, collection="kb")
    Shelves(database).add(["a"], [Document("crates")])
    put_words_back(database)
    killed = (
        "import os, signal, sys; from pathlib import Path; from app.ledger import open_database, steps\n"
        "steps.add_words = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "open_database(Path(sys.argv[1]), collection='kb').migrate()"
    )
    ended = subprocess.run([sys.executable, "-c", killed, str(file)], check=False)

    assert ended.returncode == -signal.SIGKILL
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT text FROM words WHERE words MATCH 'crate'").fetchall() == [("crates",)]
        assert connection.execute("SELECT value FROM facts WHERE name = 'schema'").fetchall() == [("1",)]
    database.migrate()
    assert list(Shelves(database).search("crates", 9, {})) == ["a"]


def test_no_word_of_a_deleted_passage_stays_in_the_file(file: Path) -> None:
    index = Shelves(open_database(file, collection="kb"))
    others = {str(n): Document(f"crates and box{n}", metadata={"title": "Boxes"}) for n in range(50)}
    secret = Document("the zebrafish swims", metadata={"title": "Quagmires", "audience": "public"})
    index.add([*others, "a"], [*others.values(), secret])
    assert b"zebrafish" in file.read_bytes()
    index.delete(["a"])

    left = b"".join(path.read_bytes() for path in file.parent.iterdir()).lower()
    assert not [word for word in (b"zebrafish", b"swim", b"quagmir") if word in left]


def test_a_lock_has_one_holder(database: Database, address: str | None, file: Path) -> None:
    other = open_database(file, address, collection="kb")
    with database.lock("ingest") as ours, other.lock("ingest") as theirs, other.lock("fetch") as another:
        assert (ours, theirs, another) == (True, False, True)
    with other.lock("ingest") as theirs:
        assert theirs


def test_a_file_that_was_replaced_is_opened_anew(tmp_path: Path) -> None:
    database = open_database(tmp_path / "a.sqlite3", collection="kb")
    with database.changing() as connection:
        connection.exec_driver_sql("INSERT INTO facts (name, value) VALUES ('a', 'b')")
    for path in tmp_path.glob("a.sqlite3*"):
        path.unlink()
    assert "a" not in facts(database)


def test_a_folder_that_only_reads_is_read(tmp_path: Path) -> None:
    database = open_database(tmp_path / "a.sqlite3", collection="kb")
    with database.changing() as connection:
        connection.exec_driver_sql("INSERT INTO facts (name, value) VALUES ('a', 'b')")
    database.scrub()
    database.close()
    assert [path.name for path in tmp_path.iterdir()] == ["a.sqlite3"]


def test_long_names_of_collections_are_told_apart() -> None:
    assert schema_of("kb") == "waypoint_kb"
    assert schema_of("a" * 100) != schema_of("a" * 101)
    assert len(schema_of("a" * 500)) <= 63


def test_settings_have_one_ledger_each(tmp_path: Path) -> None:
    first, second = (load_settings(chroma_path=tmp_path / name) for name in ("a", "b"))
    assert ledger_of(first) is ledger_of(first)
    assert ledger_of(first) is not ledger_of(second)
    assert ledger_of(first).place == str(tmp_path / "a" / "waypoint_kb.ledger.sqlite3")


def test_those_that_open_a_new_ledger_at_once_wait_for_each_other(tmp_path):
    for number in range(20):
        opened = open_database(tmp_path / str(number) / "kb.ledger.sqlite3", None, collection="kb")
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda each, opened=opened: opened.state(f"name {each}", "value"), range(8)))
        opened.close()
