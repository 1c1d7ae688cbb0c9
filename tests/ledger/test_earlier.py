"""What programs before the ledger kept in files is brought over without losing a row."""

import json
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

from sqlalchemy import text

from app.ledger import open_database
from app.ledger.earlier import bring_copies, bring_events, bring_from_postgres, bring_jobs
from app.ledger.work import Conversations, Copies, WaitingMessages
from chains.history import Turn
from tests.event_stores import message


def old(file: Path, *statements: tuple[str, tuple]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement, values in statements:
            connection.execute(statement, values)
    return file


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
CREATE TABLE waypoint.events (place integer, id text, routing_key text, correlation_id text, body text);
CREATE TABLE waypoint.conversations (key text, owner text, turns json, expires_at timestamptz, used bigint);
INSERT INTO waypoint.events VALUES (1, 'm0', 'analytics.test', 'request 0', '{{"number": 0}}');
INSERT INTO waypoint.conversations VALUES
    ('{sha256(b'["ann", "s1"]').hexdigest()}', 'ann', '[["user", "Who?"], ["assistant", "You."]]', 'infinity', 1);
"""


async def test_the_tables_of_before_in_postgres_are_moved_once(database_url, file):
    database = open_database(file, database_url, collection="kb")
    assert bring_from_postgres(database) == []
    with database.changing() as connection:
        for statement in BEFORE.split(";\n"):
            connection.execute(text(statement.replace(":", "\\:"))) if statement.strip() else None

    lines = bring_from_postgres(database)
    assert [line.split(" of ")[0] for line in lines] == ["1 waiting events", "1 conversations"]
    assert bring_from_postgres(database) == []
    assert WaitingMessages(database, capacity=9).first(9) == [message(0)]
    conversations = Conversations(database, ttl_s=60, capacity=9)
    assert await conversations.turns("s1", "ann") == [Turn("user", "Who?"), Turn("assistant", "You.")]
