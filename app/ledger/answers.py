"""Logged answers, and the statements of documents that they cite: add, rate, read, forget."""

import hashlib
import json
import secrets
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

from app.ledger.database import Database
from app.ports import NotTheAskerError
from chains.documents.audience import Audience

MEGABYTE = 2**20
DAY_S = 86_400
TRIM_EVERY = 100  # Answers that a process adds before it looks for old ones again.
AT_ONCE = 500  # Answers read in one transaction.
ASKER_BYTES = 12


class Nearest(NamedTuple):
    """A retrieved document, and the similarity of its best passage to the question; None where it is unknown."""

    doc_id: str
    score: float | None


@dataclass(frozen=True, slots=True)
class LoggedAnswer:
    """An answer as it is kept, without personal data; `at` is in seconds since 1970.

    `question` is None where personal data could not be taken out of it, `search_query` where it is the question.
    `asker` is a keyed hash (`AnswerStore.asker_of`), None for anonymous callers. `nearest` are the documents of the
    passages, the best first; `packed` is the certificate as compressed JSON. The user's `score` goes from -1 (bad) to
    1, `confidence` from 0.
    """

    trace_id: str
    at: float
    question: str | None
    search_query: str | None
    language: str | None
    audience: Audience
    outcome: str
    level: str | None
    confidence: float | None
    model: str | None
    index_version: str | None
    asker: str | None
    nearest: tuple[Nearest, ...] = ()
    packed: bytes | None = None
    score: float | None = None
    comment: str | None = None

    @property
    def certificate(self) -> dict[str, Any] | None:
        """Return what proves the answer, as `waypoint verify` reads it; None where it was not kept."""
        return json.loads(zlib.decompress(self.packed)) if self.packed else None


def pack(certificate: Mapping[str, Any]) -> bytes:
    return zlib.compress(json.dumps(certificate, ensure_ascii=False, separators=(",", ":")).encode(), 9)


class Quote(NamedTuple):
    """Words of a document that an answer rests on; `table_head` is the first row of the table that they stand in."""

    doc_id: str
    title: str
    table_head: str
    quote: str

    @property
    def id(self) -> str:
        """Return the hash of its letters: equal ones of all answers are one statement."""
        return hashlib.sha256(json.dumps([self.doc_id, self.table_head, self.quote]).encode()).hexdigest()


COLUMNS = [field.name for field in fields(LoggedAnswer)]
FIELDS = ", ".join(f"answers.{name}" for name in COLUMNS)
SELECT = f"SELECT answers.id, {FIELDS} FROM answers WHERE "
ADD = f"""
INSERT INTO answers (size, {", ".join(COLUMNS)}) VALUES (:size, {", ".join(f":{name}" for name in COLUMNS)})
ON CONFLICT (trace_id) DO NOTHING RETURNING id
"""
# No passage is known to hold it yet. Where it was missing it is there again, or the answer is of an index before: in
# any case the next check of `recall` tells.
ADD_STATEMENT = """
INSERT INTO statements (id, doc_id, title, table_head, quote, passage)
VALUES (:id, :doc_id, :title, :table_head, :quote, '')
ON CONFLICT (id) DO UPDATE SET passage = coalesce(statements.passage, '')
"""
CITE = "INSERT INTO citations (answer, statement) VALUES (:answer, :id) ON CONFLICT DO NOTHING"
SHRINK = """
DELETE FROM answers WHERE id <= (SELECT max(id) FROM
    (SELECT id, sum(size) OVER (ORDER BY id DESC) AS total FROM answers) AS sized WHERE total > :most)
"""
USES = """
SELECT statements.doc_id, count(DISTINCT citations.answer) FROM statements
JOIN citations ON citations.statement = statements.id GROUP BY statements.doc_id
"""
DROP_UNCITED = "DELETE FROM statements WHERE NOT EXISTS (SELECT 1 FROM citations WHERE statement = statements.id)"
MAKE_KEY = "INSERT INTO facts (name, value) VALUES ('asker_key', :value) ON CONFLICT DO NOTHING"


class AnswerStore:
    """The logged answers of a ledger, for any number of threads, processes and hosts.

    Each is kept for so many days; beyond `max_mb` the oldest go first. `now` returns the time in seconds since 1970.
    Every method raises VectorStoreError where the database cannot be used.
    """

    def __init__(self, database: Database, *, days: int, max_mb: int, now: Callable[[], float] = time.time) -> None:
        self.database, self.days, self.now = database, days, now
        self._most = max_mb * MEGABYTE
        self._until_trim = 0
        self._key: bytes | None = None

    def add(self, answer: LoggedAnswer, quotes: Sequence[Quote] = ()) -> None:
        """Keep an answer, and what it cites; a trace that is there already stays as it is."""
        with self.changing():
            id_ = self.database.value(ADD, **_values(answer))
            statements = [{"answer": id_, "id": quote.id} | quote._asdict() for quote in quotes]
            if id_ is not None and statements:
                self.database.run(ADD_STATEMENT, statements)
                self.database.run(CITE, statements)
        self._until_trim -= 1
        if self._until_trim < 0:
            self._until_trim = TRIM_EVERY
            self.trim()

    def rate(
        self, trace_id: str, score: float, comment: str | None, *, user_id: str | None, audience: Audience
    ) -> bool:
        """Put the asker's score and comment to an answer, in place of earlier ones; return whether the answer is there.

        Raise NotTheAskerError if somebody else asked, or the asker may no longer see the answer.
        """
        answer, asker = self.find(trace_id), self.asker_of(user_id) if user_id else None
        if answer is None:
            return False
        if answer.asker != asker or (answer.audience == "internal" != audience):
            raise NotTheAskerError
        rate = "UPDATE answers SET score = :score, comment = :comment WHERE trace_id = :trace_id"
        with self.changing():
            return self.database.run(rate, {"trace_id": trace_id, "score": score, "comment": comment}) > 0

    def forget(self, user_id: str) -> int:
        asker = self.asker_of(user_id)
        with self.changing():
            forgotten = self.database.run("DELETE FROM answers WHERE asker = :asker", {"asker": asker})
            self.database.run(DROP_UNCITED)
        self.database.scrub()
        return forgotten

    def answers(self, *, since: float = 0) -> Iterator[LoggedAnswer]:
        """Yield the answers from a time on, in seconds since 1970, the newest first."""
        last = 2**62
        while rows := self._rows("at >= :since AND id < :last", AT_ONCE, since=since, last=last):
            yield from (read_answer(row[1:]) for row in rows)
            last = rows[-1][0]

    def find(self, trace_id: str) -> LoggedAnswer | None:
        return next((read_answer(row[1:]) for row in self._rows("trace_id = :trace_id", 1, trace_id=trace_id)), None)

    def of(self, user_id: str, limit: int) -> list[LoggedAnswer]:
        return [read_answer(row[1:]) for row in self._rows("asker = :asker", limit, asker=self.asker_of(user_id))]

    def count(self) -> int:
        return int(self.database.value("SELECT count(*) FROM answers"))

    def uses(self) -> dict[str, int]:
        return dict(map(tuple, self.database.rows(USES)))

    def asker_of(self, user_id: str) -> str:
        """Return the hash that stands for a user: nobody who lacks the key of this log can guess whom it stands for."""
        if self._key is None:
            with self.database.changing():
                self.database.run(MAKE_KEY, {"value": secrets.token_hex(32)})
                self._key = bytes.fromhex(self.database.fact("asker_key") or "")
        return hashlib.blake2b(user_id.encode(), key=self._key, digest_size=ASKER_BYTES).hexdigest()

    def trim(self) -> None:
        """Delete the answers that are too old, and the oldest ones beyond the size."""
        with self.changing():
            gone = self.database.run("DELETE FROM answers WHERE at < :oldest", {"oldest": self.oldest})
            if gone + self.database.run(SHRINK, {"most": self._most}):
                self.database.run(DROP_UNCITED)

    @property
    def oldest(self) -> float:
        """The time from which on answers are kept."""
        return self.now() - self.days * DAY_S

    def changing(self) -> AbstractContextManager[object]:
        """Change answers and statements, one at a time: else a statement might go while an answer comes to cite it."""
        return self.database.changing(alone="answers")

    def _rows(self, where: str, limit: int, **values: Any) -> Sequence[Any]:
        return self.database.rows(f"{SELECT} {where} ORDER BY id DESC LIMIT :limit", limit=limit, **values)


def _values(answer: LoggedAnswer) -> dict[str, Any]:
    values = {name: getattr(answer, name) for name in COLUMNS} | {"nearest": json.dumps(answer.nearest)}
    size = sum(len(value if isinstance(value, bytes) else str(value).encode()) for value in values.values() if value)
    return values | {"size": size}


def read_answer(row: Sequence[Any]) -> LoggedAnswer:
    values = dict(zip(COLUMNS, row, strict=True))
    values["nearest"] = tuple(Nearest(*document) for document in json.loads(values["nearest"]))
    return LoggedAnswer(**values)
