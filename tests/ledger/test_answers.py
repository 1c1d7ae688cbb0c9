"""Logged answers, and the statements that they cite."""

import sqlite3
import stat
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import text

from app.ledger import open_database
from app.ledger.answers import DAY_S, AnswerStore, LoggedAnswer, Nearest, Quote, pack
from app.ports import NotTheAskerError
from chains.errors import VectorStoreError

NOW = 1_800_000_000.0
PROOF = {"question": "What is the GST rate?", "answer": "It is 9 %.", "sentences": []}
RATE = Quote("gst", "GST Guide", "", "The rate is 9 %.")
STRANGER: dict[str, Any] = {"user_id": None, "audience": "public"}
FEES = Quote("fees", "Fees", "| what | fee |", "| permit | S$ 2.88 |")


def answer(**values) -> LoggedAnswer:
    usual = LoggedAnswer(
        trace_id=str(uuid4()),
        at=NOW,
        question="What is the GST rate?",
        search_query=None,
        language="id",
        audience="public",
        outcome="answered",
        level="high",
        confidence=0.9,
        model="llama",
        index_version="1",
        asker=None,
        nearest=(Nearest("gst", 0.8), Nearest("fees", None)),
        packed=pack(PROOF),
    )
    return replace(usual, **values)


def quotes_of(store: AnswerStore) -> list[str]:
    with store.database.reading() as connection:
        return sorted(quote for (quote,) in connection.execute(text("SELECT quote FROM statements")))


@pytest.fixture
def store(database) -> AnswerStore:
    return AnswerStore(database, days=90, max_mb=1, now=lambda: NOW)


def test_an_answer_is_read_as_it_was_added(store):
    kept = answer(asker=store.asker_of("anna"), search_query="GST rate Singapore")
    store.add(kept, [RATE, FEES])

    assert list(store.answers()) == [kept]
    assert store.find(kept.trace_id) == kept
    assert kept.certificate == PROOF
    assert store.count() == 1


def test_answers_come_newest_first_and_from_a_time_on(store):
    added = [answer(at=NOW - age) for age in (50, 40, 30)]
    for one in added:
        store.add(one)

    assert [one.trace_id for one in store.answers()] == [one.trace_id for one in reversed(added)]
    assert [one.trace_id for one in store.answers(since=NOW - 45)] == [added[2].trace_id, added[1].trace_id]


def test_more_answers_than_one_page_are_all_read(store):
    for number in range(501):
        store.add(answer(question=str(number)))

    assert [one.question for one in store.answers()] == [str(number) for number in range(500, -1, -1)]


def test_words_that_many_answers_rest_on_are_kept_once_and_go_with_the_last_one(store):
    asker = store.asker_of("anna")
    store.add(answer(asker=asker), [RATE, FEES])
    store.add(answer(), [RATE])
    assert quotes_of(store) == [RATE.quote, FEES.quote]

    store.forget("anna")
    assert quotes_of(store) == [RATE.quote]


def test_the_use_of_a_document_is_how_many_answers_rest_on_it(store):
    store.add(answer(), [RATE, FEES])
    store.add(answer(), [RATE, Quote("gst", "GST Guide", "", "Other words.")])

    assert store.uses() == {"gst": 2, "fees": 1}


def test_a_trace_is_kept_once(store):
    kept = answer()
    store.add(kept)
    store.add(replace(kept, question="Another?"), [RATE])

    assert (list(store.answers()), quotes_of(store)) == ([kept], [])


def test_a_score_and_its_comment_are_those_given_last(store):
    kept = answer()
    store.add(kept)

    assert store.rate(kept.trace_id, -1, "Out of date.", **STRANGER)
    assert store.rate(kept.trace_id, 1, None, **STRANGER)
    assert store.find(kept.trace_id) == replace(kept, score=1, comment=None)
    assert not store.rate(str(uuid4()), 1, None, **STRANGER)


def test_nobody_but_the_asker_rates_an_answer_and_only_while_it_may_be_seen(store):
    anonymous, public = answer(), answer(asker=store.asker_of("anna"))
    internal = replace(public, trace_id=str(uuid4()), audience="internal")
    anna: dict[str, Any] = {"user_id": "anna", "audience": "public"}
    staff = anna | {"audience": "internal"}
    for one in (anonymous, public, internal):
        store.add(one)
    assert store.rate(public.trace_id, -1, "Mine.", **anna)
    assert store.rate(internal.trace_id, -1, "Mine.", **staff)

    for one, who in [
        (anonymous, anna),
        (public, STRANGER),
        (public, staff | {"user_id": "ben"}),
        (internal, anna),
        (internal, STRANGER | {"audience": "internal"}),
    ]:
        with pytest.raises(NotTheAskerError):
            store.rate(one.trace_id, 1, None, **who)
    assert [store.find(one.trace_id).comment for one in (anonymous, public, internal)] == [None, "Mine.", "Mine."]

    store.forget("anna")
    assert [one.comment for one in store.answers()] == [None]


def test_the_hash_of_a_user_needs_the_key_of_the_log(store, tmp_path):
    other = AnswerStore(open_database(tmp_path / "other.sqlite3", collection="kb"), days=1, max_mb=1)
    again = AnswerStore(store.database, days=1, max_mb=1)

    assert store.asker_of("anna") == store.asker_of("anna") == again.asker_of("anna")
    assert store.asker_of("anna") not in {other.asker_of("anna"), store.asker_of("ben")}


def test_answers_beyond_their_days_go(store):
    for age in (91, 89):
        store.add(answer(at=NOW - age * DAY_S, question=str(age)), [RATE if age == 91 else FEES])
    store.trim()

    assert [one.question for one in store.answers()] == ["89"]
    assert quotes_of(store) == [FEES.quote]


def test_the_oldest_answers_beyond_the_size_go(store):
    for number in range(250):
        store.add(answer(question=str(number), packed=bytes(10_000)))
    store.trim()

    kept = [int(str(one.question)) for one in store.answers()]
    assert 80 <= len(kept) <= 105
    assert kept == list(range(249, 249 - len(kept), -1))


def test_many_processes_and_threads_lose_no_answer(store):
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda number: store.add(answer(question=str(number)), [RATE, FEES]), range(40)))

    assert {one.question for one in store.answers()} == {str(number) for number in range(40)}


# What only a file has.


@pytest.fixture
def of_file(file) -> AnswerStore:
    return AnswerStore(open_database(file, collection="kb"), days=90, max_mb=1, now=lambda: NOW)


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_the_file_is_for_its_owner_alone(of_file, file):
    of_file.add(answer())

    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in file.parent.iterdir()}
    assert set(modes) >= {file.name, f"{file.name}-wal"}
    assert set(modes.values()) == {0o600}
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_what_was_forgotten_is_in_no_file_any_more_while_another_process_has_it_open(of_file, file):
    of_file.count()
    with closing(sqlite3.connect(file)) as other:
        of_file.add(answer(asker=of_file.asker_of("anna"), question="zebra " * 900, comment="giraffe"), [RATE])
        of_file.add(answer(question="kept"))
        assert other.execute("SELECT count(*) FROM answers").fetchone() == (2,)
        assert b"zebra" in everything(file.parent)

        of_file.forget("anna")

        words = everything(file.parent)
        assert [word in words for word in (b"zebra", b"giraffe", RATE.quote.encode())] == [False] * 3
        assert b"kept" in words


def test_a_reader_that_holds_the_old_words_is_told_of(of_file, file, monkeypatch):
    monkeypatch.setattr("app.ledger.sqlite.BUSY_S", 0.05)
    of_file.add(answer(asker=of_file.asker_of("anna")))
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM answers").fetchall()

        with pytest.raises(VectorStoreError, match="another process reads; run this again"):
            of_file.forget("anna")
