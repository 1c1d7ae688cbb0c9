"""What programs before the ledger kept in files is brought over without losing a row."""

import json
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from sqlalchemy import text

from app.ledger import open_database
from app.ledger.answers import COLUMNS, AnswerStore, Quote
from app.ledger.earlier import bring_answers, bring_copies, bring_events, bring_from_postgres, bring_jobs
from app.ledger.work import Conversations, Copies, WaitingMessages
from chains.history import Turn
from tests.event_stores import message
from tests.ledger.test_answers import NOW, answer

KEY = bytes(range(32))
TYPES = {"at": "float", "confidence": "float", "score": "float", "packed": "bytea"}
QUOTE = Quote("gst", "GST Guide", "", "The rate is 9 %.")


def old(file: Path, *statements: tuple[str, tuple]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement, values in statements:
            connection.execute(statement, values)
    return file


def answers_file(folder: Path, *traces: str) -> Path:
    rows = []
    for number, trace in enumerate(traces, 1):
        given = answer(trace_id=trace, score=1.0, comment="Yes.")
        values = [getattr(given, name) for name in COLUMNS]
        values[COLUMNS.index("nearest")] = json.dumps(given.nearest)
        row = (number, "kb" if trace != "other" else "else", 10, *values)
        rows.append((f"INSERT INTO answers VALUES ({', '.join('?' * len(row))})", row))
        rows.append(("INSERT INTO answer_quotes VALUES (?, 7)", (number,)))
    return old(
        folder / "answers.sqlite3",
        (f"CREATE TABLE answers (id INTEGER PRIMARY KEY, collection, size, {', '.join(COLUMNS)})", ()),
        ("CREATE TABLE quotes (id INTEGER PRIMARY KEY, collection, doc_id, title, table_head, quote)", ()),
        ("CREATE TABLE answer_quotes (answer INTEGER, quote INTEGER)", ()),
        ("CREATE TABLE answer_key (one INTEGER PRIMARY KEY, value BLOB)", ()),
        ("INSERT INTO quotes VALUES (7, 'kb', ?, ?, ?, ?)", tuple(QUOTE)),
        ("INSERT INTO answer_key VALUES (1, ?)", (KEY,)),
        *rows,
    )


@pytest.mark.parametrize("times", [1, 2])
def test_answers_come_with_their_feedback_what_they_cite_and_the_key_of_askers(database, tmp_path, times):
    for number in range(times):  # A run that was interrupted before the file was renamed.
        file = answers_file(tmp_path / str(number), "t1", "t2", "other")
        assert bring_answers(database, file, "kb") == 2
        assert not file.exists()

    store = AnswerStore(database, days=90, max_mb=1, now=lambda: NOW)
    assert [(kept.trace_id, kept.score, kept.comment) for kept in store.answers()] == [
        ("t2", 1.0, "Yes."),
        ("t1", 1.0, "Yes."),
    ]
    assert store.find("t1") == answer(trace_id="t1", score=1.0, comment="Yes.")
    assert store.uses() == {"gst": 2}
    store.asker_of("anna")
    assert store._key == KEY


def test_events_come_in_their_order(database, tmp_path):
    file = old(
        tmp_path / "events.sqlite3",
        ("CREATE TABLE messages (place INTEGER PRIMARY KEY, id, routing_key, correlation_id, body)", ()),
        *(("INSERT INTO messages VALUES (?, ?, ?, ?, ?)", (9 - number, *message(number))) for number in range(3)),
    )

    assert bring_events(database, file) == 3
    assert WaitingMessages(database, capacity=9).first(9) == [message(2), message(1), message(0)]


def test_jobs_and_copies_come_once(database, tmp_path):
    for number in range(2):
        folder = tmp_path / f"{number}.jobs"
        folder.mkdir()
        (folder / "ab.json").write_text(json.dumps({"job_id": "ab", "state": "waiting", "created_at": 1.0}))
        (folder / "accept.lock").touch()
        assert bring_jobs(database, folder) == 1
    file = old(
        tmp_path / "0123.sqlite3",
        ("CREATE TABLE copies (address TEXT PRIMARY KEY, name TEXT, fingerprint TEXT)", ()),
        ("INSERT INTO copies VALUES ('s3://a/1', '1', 'v1')", ()),
    )
    assert bring_copies(database, file) == 1

    assert Copies(database, "0123").known() == [("s3://a/1", "1", "v1")]
    with database.reading() as connection:
        assert connection.execute(text("SELECT id, state FROM jobs")).all() == [("ab", "waiting")]


BEFORE = f"""
CREATE SCHEMA waypoint;
CREATE TABLE waypoint.answers (id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY, collection text, size integer,
    {", ".join(f"{name} {TYPES.get(name, 'text')}" for name in COLUMNS)});
CREATE TABLE waypoint.quotes (id bigint, collection text, doc_id text, title text, table_head text, quote text);
CREATE TABLE waypoint.answer_quotes (answer bigint, quote bigint);
CREATE TABLE waypoint.answer_key (one integer, value bytea);
CREATE TABLE waypoint.events (place integer, id text, routing_key text, correlation_id text, body text);
CREATE TABLE waypoint.conversations (key text, owner text, turns json, expires_at timestamptz, used bigint);
INSERT INTO waypoint.answers (collection, size, trace_id, at, audience, outcome, nearest) VALUES
    ('kb', 9, 't1', 1, 'public', 'answered', '[]'), ('else', 9, 't2', 2, 'public', 'answered', '[]');
INSERT INTO waypoint.quotes VALUES (7, 'kb', 'gst', 'GST Guide', '', 'The rate is 9 %.');
INSERT INTO waypoint.answer_quotes VALUES (1, 7);
INSERT INTO waypoint.answer_key VALUES (1, '\\x{KEY.hex()}');
INSERT INTO waypoint.events VALUES (1, 'm0', 'analytics.test', 'request 0', '{{"number": 0}}');
INSERT INTO waypoint.conversations VALUES
    ('{sha256(b'["ann", "s1"]').hexdigest()}', 'ann', '[["user", "Who?"], ["assistant", "You."]]', 'infinity', 1);
"""


async def test_the_tables_of_before_in_postgres_are_moved_once(database_url, file):
    database = open_database(file, database_url, collection="kb")
    assert bring_from_postgres(database, "kb") == []
    with database.changing() as connection:
        for statement in BEFORE.split(";\n"):
            connection.execute(text(statement.replace(":", "\\:"))) if statement.strip() else None

    lines = bring_from_postgres(database, "kb")
    assert [line.split(" of ")[0] for line in lines] == ["1 answers", "1 waiting events", "1 conversations"]
    assert bring_from_postgres(database, "kb") == []
    store = AnswerStore(database, days=90, max_mb=1, now=lambda: NOW)
    assert ([kept.trace_id for kept in store.answers()], store.uses()) == (["t1"], {"gst": 1})
    assert WaitingMessages(database, capacity=9).first(9) == [message(0)]
    conversations = Conversations(database, ttl_s=60, capacity=9)
    assert await conversations.turns("s1", "ann") == [Turn("user", "Who?"), Turn("assistant", "You.")]
