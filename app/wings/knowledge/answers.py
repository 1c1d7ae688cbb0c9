"""The logged answers, and the quotes that they rest on: add, rate, read, forget.

The statements are understood by SQLite and by PostgreSQL alike; `AnswerDatabase` is what differs.
"""

import hashlib
import json
import secrets
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, NamedTuple

from app.ports import AnswerDatabase, NotTheAskerError
from chains.audience import Audience

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
    """An answer as it is kept, without personal data.

    Attributes:
        at: When it was given, in seconds since 1970.
        question: None where personal data could not be taken out of it.
        search_query: What was searched for; None where that is the question.
        language: The language that the asker chose for texts that replace an answer.
        level: The level of its confidence; None where it has none.
        confidence: The score behind the level, 0 to 1.
        asker: A keyed hash of who asked (`AnswerStore.asker_of`); None for anonymous callers.
        nearest: The documents of the retrieved passages, the best first.
        packed: The certificate, as JSON compressed by zlib.
        score: A user's score, -1 (bad) to 1 (good); None without feedback.
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
    """Return a certificate as it is kept."""
    return zlib.compress(json.dumps(certificate, ensure_ascii=False, separators=(",", ":")).encode(), 9)


class Quote(NamedTuple):
    """Words of a document that an answer rests on; `table_head` is the first row of the table that they stand in."""

    doc_id: str
    title: str
    table_head: str
    quote: str


COLUMNS = [field.name for field in fields(LoggedAnswer)]
FIELDS = ", ".join(f"answers.{name}" for name in COLUMNS)
SELECT = f"SELECT answers.id, {FIELDS} FROM answers WHERE collection = :collection"
ADD = f"""
INSERT INTO answers (collection, size, {", ".join(COLUMNS)})
VALUES (:collection, :size, {", ".join(f":{name}" for name in COLUMNS)}) ON CONFLICT (trace_id) DO NOTHING RETURNING id
"""
# Words that were missing are there again, or the answer is of an index before: the next check tells.
ADD_QUOTE = """
INSERT INTO quotes (id, collection, doc_id, title, table_head, quote, found_in)
VALUES (:id, :collection, :doc_id, :title, :table_head, :quote, :doc_id)
ON CONFLICT (id) DO UPDATE SET fingerprint = CASE WHEN quotes.found_in IS NULL THEN NULL ELSE quotes.fingerprint END
"""
ADD_LINK = "INSERT INTO answer_quotes (answer, quote) VALUES (:answer, :quote) ON CONFLICT DO NOTHING"
RATE = "UPDATE answers SET score = :score, comment = :comment WHERE collection = :collection AND trace_id = :trace_id"
FORGET = "DELETE FROM answers WHERE asker = :asker"
EXPIRE = "DELETE FROM answers WHERE collection = :collection AND at < :oldest"
SHRINK = """
DELETE FROM answers WHERE collection = :collection AND id <= (SELECT max(id) FROM
    (SELECT id, sum(size) OVER (ORDER BY id DESC) AS total FROM answers WHERE collection = :collection) AS sized
    WHERE total > :most)
"""
USES = """
SELECT quotes.doc_id, count(DISTINCT answer_quotes.answer) FROM quotes
JOIN answer_quotes ON answer_quotes.quote = quotes.id WHERE quotes.collection = :collection GROUP BY quotes.doc_id
"""
DROP_UNUSED = "DELETE FROM quotes WHERE NOT EXISTS (SELECT 1 FROM answer_quotes WHERE answer_quotes.quote = quotes.id)"
KEY = "SELECT value FROM answer_key"
MAKE_KEY = "INSERT INTO answer_key (one, value) VALUES (1, :value) ON CONFLICT DO NOTHING"


class AnswerStore:
    """The logged answers of an index, for any number of threads, processes and hosts that share the database.

    Every method raises AnswerLogError where the database cannot be used.

    Args:
        database: where the tables are.
        collection: the index that the answers are of.
        days: how long an answer is kept.
        max_mb: how much all answers of the index take at most; the oldest go first.
        now: returns the time in seconds since 1970.
    """

    def __init__(
        self,
        database: AnswerDatabase,
        *,
        collection: str,
        days: int,
        max_mb: int,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.database, self.collection, self.days, self.now = database, collection, days, now
        self._most = max_mb * MEGABYTE
        self._until_trim = 0
        self._key: bytes | None = None

    def add(self, answer: LoggedAnswer, quotes: Sequence[Quote] = ()) -> None:
        """Keep an answer, and what it rests on; a trace that is there already stays as it is."""
        with self.database.transaction() as execute:
            rows = list(execute(ADD, _values(answer, self.collection)))
            for quote in quotes if rows else ():
                values = {"id": _quote_id(quote, self.collection), "collection": self.collection}
                execute(ADD_QUOTE, values | quote._asdict())
                execute(ADD_LINK, {"answer": rows[0][0], "quote": values["id"]})
        self._until_trim -= 1
        if self._until_trim < 0:
            self._until_trim = TRIM_EVERY
            self.trim()

    def rate(
        self, trace_id: str, score: float, comment: str | None, *, user_id: str | None, audience: Audience
    ) -> bool:
        """Put the asker's score and comment to an answer, in place of earlier ones; return whether the answer is there.

        Raises:
            NotTheAskerError: somebody else asked, or the asker may no longer see the answer.
        """
        answer, asker = self.find(trace_id), self.asker_of(user_id) if user_id else None
        if answer is None:
            return False
        if answer.asker != asker or (answer.audience == "internal" != audience):
            raise NotTheAskerError
        with self.database.transaction() as execute:
            return execute(RATE, self._of({"trace_id": trace_id, "score": score, "comment": comment})).rowcount > 0

    def forget(self, user_id: str) -> int:
        """Delete the answers of a user for good, and return how many there were."""
        asker = self.asker_of(user_id)
        with self.database.transaction() as execute:
            forgotten = execute(FORGET, {"asker": asker}).rowcount
            execute(DROP_UNUSED, {})
        self.database.scrub()
        return forgotten

    def answers(self, *, since: float = 0) -> Iterator[LoggedAnswer]:
        """Yield the answers from a time on, in seconds since 1970, the newest first."""
        last = None
        while rows := self._page(since, last):
            yield from (read_answer(row[1:]) for row in rows)
            last = rows[-1][0]

    def find(self, trace_id: str) -> LoggedAnswer | None:
        """Return the answer of a trace; None where there is none."""
        with self.database.transaction() as execute:
            found = execute(f"{SELECT} AND trace_id = :trace_id", self._of({"trace_id": trace_id}))
            return next((read_answer(row[1:]) for row in found), None)

    def of(self, user_id: str, limit: int) -> list[LoggedAnswer]:
        """Return a user's own answers, the newest first."""
        values = self._of({"asker": self.asker_of(user_id), "limit": limit})
        with self.database.transaction() as execute:
            found = execute(f"{SELECT} AND asker = :asker ORDER BY id DESC LIMIT :limit", values)
            return [read_answer(row[1:]) for row in found]

    def count(self) -> int:
        """Return the number of answers."""
        with self.database.transaction() as execute:
            return int(
                next(iter(execute("SELECT count(*) FROM answers WHERE collection = :collection", self._of({}))))[0]
            )

    def uses(self) -> dict[str, int]:
        """Return how many answers rest on each document, by its id."""
        with self.database.transaction() as execute:
            return {str(doc_id): int(count) for doc_id, count in execute(USES, self._of({}))}

    def asker_of(self, user_id: str) -> str:
        """Return the hash that stands for a user: nobody who lacks the key of this log can guess whom it stands for."""
        if self._key is None:
            with self.database.transaction() as execute:
                execute(MAKE_KEY, {"value": secrets.token_bytes(32)})
                self._key = bytes(next(iter(execute(KEY, {})))[0])
        return hashlib.blake2b(user_id.encode(), key=self._key, digest_size=ASKER_BYTES).hexdigest()

    def trim(self) -> None:
        """Delete the answers that are too old, and the oldest ones beyond the size."""
        with self.database.transaction() as execute:
            gone = execute(EXPIRE, self._of({"oldest": self.now() - self.days * DAY_S})).rowcount
            gone += execute(SHRINK, self._of({"most": self._most})).rowcount
            if gone:
                execute(DROP_UNUSED, {})

    def _page(self, since: float, before: int | None) -> list[Sequence[Any]]:
        values = self._of({"since": since, "limit": AT_ONCE})
        older = "" if before is None else "AND id < :before"
        with self.database.transaction() as execute:
            query = f"{SELECT} AND at >= :since {older} ORDER BY id DESC LIMIT :limit"
            return list(execute(query, values if before is None else values | {"before": before}))

    def _of(self, values: dict[str, Any]) -> dict[str, Any]:
        return {"collection": self.collection, **values}


def _values(answer: LoggedAnswer, collection: str) -> dict[str, Any]:
    values = dict(zip(COLUMNS, astuple(answer), strict=True)) | {"nearest": json.dumps(answer.nearest)}
    size = sum(len(value if isinstance(value, bytes) else str(value).encode()) for value in values.values() if value)
    return values | {"collection": collection, "size": size}


def read_answer(row: Sequence[Any]) -> LoggedAnswer:
    """Return the answer of a row of `FIELDS`."""
    values = dict(zip(COLUMNS, row, strict=True))
    values["nearest"] = tuple(Nearest(*one) for one in json.loads(values["nearest"]))
    return LoggedAnswer(**values)


def _quote_id(quote: Quote, collection: str) -> int:
    """Return a number that stands for the words: equal ones of all answers are kept once."""
    text = json.dumps([collection, quote.doc_id, quote.table_head, quote.quote]).encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], signed=True)
