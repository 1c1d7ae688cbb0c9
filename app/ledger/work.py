"""What all processes of a service share beside the index: caches, messages, copies, faults of steps, conversations.

Every method raises VectorStoreError where the ledger cannot be used, unless it says otherwise.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, suppress
from hashlib import sha256
from typing import TypeVar

from langchain_core.runnables import run_in_executor

from app.ledger.database import Database
from app.ports import Message
from chains.caching.typed_cache import StoreError
from chains.errors import SessionError, SessionNotFoundError, VectorStoreError, WaypointError
from chains.history import Turn, newest

MOST_BYTES = 256 * 2**20
TRIM_EVERY = 100  # Values that a process keeps before it looks for expired ones.

SET = """
INSERT INTO cache (name, expires, value) VALUES (:name, :expires, :value)
ON CONFLICT (name) DO UPDATE SET expires = excluded.expires, value = excluded.value
"""
SHRINK = """
DELETE FROM cache WHERE name IN (SELECT name FROM
    (SELECT name, sum(length(value)) OVER (ORDER BY expires DESC, name) AS total FROM cache) AS sized
    WHERE total > :most)
"""


class LedgerCache:
    """Keeps bytes for `ttl_s` seconds; beyond `most_bytes` the ones that end first go. It raises StoreError."""

    is_quick = False

    def __init__(
        self, database: Database, *, ttl_s: float, most_bytes: int = MOST_BYTES, now: Callable[[], float] = time.time
    ) -> None:
        self._database, self._ttl_s, self._most_bytes, self._now = database, ttl_s, most_bytes, now
        self._until_trim = 0

    def get(self, name: str) -> bytes | None:
        query = "SELECT value FROM cache WHERE name = :name AND expires > :now"
        try:
            value = self._database.value(query, name=name, now=self._now())
        except WaypointError as error:
            raise StoreError(str(error)) from error
        return None if value is None else bytes(value)

    def set(self, name: str, data: bytes, *, ttl_s: float | None = None) -> None:
        now = self._now()
        try:
            with self._database.changing():
                self._database.run(SET, {"name": name, "expires": now + (ttl_s or self._ttl_s), "value": data})
                self._until_trim -= 1
                if self._until_trim < 0:
                    self._until_trim = TRIM_EVERY
                    self._database.run("DELETE FROM cache WHERE expires <= :now", {"now": now})
                    self._database.run(SHRINK, {"most": self._most_bytes})
        except WaypointError as error:
            raise StoreError(str(error)) from error


PUT = """
INSERT INTO outbox (id, routing_key, correlation_id, body) VALUES (:id, :routing_key, :correlation_id, :body)
ON CONFLICT (id) DO NOTHING
"""
DROP = "DELETE FROM outbox WHERE place <= (SELECT place FROM outbox ORDER BY place DESC LIMIT 1 OFFSET :capacity)"
FIRST = "SELECT id, routing_key, correlation_id, body FROM outbox ORDER BY place LIMIT :limit"


class WaitingMessages:
    """At most `capacity` messages that wait for the broker, in the order in which they were stored."""

    def __init__(self, database: Database, *, capacity: int) -> None:
        self._database, self.capacity = database, capacity
        self.place = f"the ledger {database.place}"

    def put(self, messages: Sequence[Message]) -> int:
        """Store the messages but those whose id is there, and return how many of the oldest were dropped for them."""
        with self._database.changing():
            self._database.run(PUT, [message._asdict() for message in messages])
            return self._database.run(DROP, {"capacity": self.capacity})

    def first(self, limit: int) -> list[Message]:
        return [Message(*row) for row in self._database.rows(FIRST, limit=limit)]

    def remove(self, messages: Sequence[Message]) -> int:
        ids = [message.id for message in messages]
        return self._database.run("DELETE FROM outbox WHERE id = ANY(:ids)", {"ids": ids})

    def count(self) -> int:
        return int(self._database.value("SELECT count(*) FROM outbox"))

    def delivering(self) -> AbstractContextManager[bool]:
        """Let no other process deliver while the body runs; yield False where one does."""
        return self._database.lock("events")


KEEP_COPY = """
INSERT INTO copies (source, address, name, fingerprint) VALUES (:source, :address, :name, :fingerprint)
ON CONFLICT (source, address) DO UPDATE SET name = excluded.name, fingerprint = excluded.fingerprint
"""


class Copies:
    """The names, addresses and versions of what was fetched of one remote `source`."""

    def __init__(self, database: Database, source: str) -> None:
        self._database, self._source = database, source

    def known(self) -> list[tuple[str, str, str]]:
        query = "SELECT address, name, fingerprint FROM copies WHERE source = :source"
        return [tuple(row) for row in self._database.rows(query, source=self._source)]

    def keep(self, address: str, name: str, fingerprint: str) -> None:
        copy = {"source": self._source, "address": address, "name": name, "fingerprint": fingerprint}
        self._database.run(KEEP_COPY, copy)

    def forget(self, addresses: Iterable[str]) -> None:
        if rows := [{"source": self._source, "address": address} for address in addresses]:
            self._database.run("DELETE FROM copies WHERE source = :source AND address = :address", rows)


FAULT_DAYS = 7  # Older faults are no longer shown.
FAULTS_S = FAULT_DAYS * 86_400
KEEP_FAULT = """
INSERT INTO faults (step, number, at, reason) VALUES (:step, 1, :now, :reason) ON CONFLICT (step) DO UPDATE SET
    number = CASE WHEN faults.at < :since THEN 1 ELSE faults.number + 1 END, at = :now, reason = :reason
"""


class Faults:
    """How often each step beside answers and ingestions failed, and when and why last, for `waypoint doctor`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, step: str, reason: str) -> None:
        """Count a fault; where the ledger cannot be written, it is only logged."""
        now = time.time()
        with suppress(WaypointError):
            self._database.run(KEEP_FAULT, {"step": step, "reason": reason, "now": now, "since": now - FAULTS_S})

    def status(self) -> str:
        """Return that no step has failed lately. Raise WaypointError if one has; it says which, how often and why."""
        query = "SELECT step, number, reason FROM faults WHERE at >= :since ORDER BY step"
        if faults := self._database.rows(query, since=time.time() - FAULTS_S):
            raise WaypointError("; ".join(f"{step} failed {number} times: {reason}" for step, number, reason in faults))
        return f"none failed in {FAULT_DAYS} days"


T = TypeVar("T")
# Of one conversation; the oldest turns go first.
MOST_TURNS = 20
MOST_CHARACTERS = 8000
MOST_CONVERSATIONS = 10_000

OF_SESSION = "owner = :owner AND session = :session"
READ = f"SELECT id, role, text, at FROM turns WHERE {OF_SESSION} ORDER BY id DESC LIMIT {MOST_TURNS}"
ADD_TURN = "INSERT INTO turns (owner, session, at, role, text) VALUES (:owner, :session, :at, :role, :text)"
DELETE = f"DELETE FROM turns WHERE {OF_SESSION}"
# A conversation lives on with its last turn, and the older ones with it.
EXPIRE = """
DELETE FROM turns WHERE at < :since AND NOT EXISTS (SELECT 1 FROM turns AS later
    WHERE later.owner = turns.owner AND later.session = turns.session AND later.at >= :since)
"""
DROP_OLDEST = """
DELETE FROM turns WHERE (owner, session) IN
    (SELECT owner, session FROM turns GROUP BY owner, session ORDER BY max(id) DESC LIMIT 1000 OFFSET :capacity)
"""


class Conversations:
    """Keeps up to `capacity` conversations, each for `ttl_s` seconds after its last turn; the oldest goes first.

    Every method raises SessionError where the ledger cannot be used.
    """

    def __init__(
        self, database: Database, *, ttl_s: float, capacity: int, now: Callable[[], float] = time.time
    ) -> None:
        self._database, self._ttl_s, self._capacity, self._now = database, ttl_s, capacity, now

    async def turns(self, session_id: str, owner: str) -> list[Turn]:
        return await _in_thread(lambda: self._read(_key(session_id, owner)))

    async def add(self, session_id: str, owner: str, turns: Sequence[Turn]) -> None:
        key = _key(session_id, owner)
        rows = [key | turn._asdict() | {"at": self._now()} for turn in turns]

        def add() -> None:
            run = self._database.run
            with self._database.changing(alone=key["session"]):
                run(EXPIRE, {"since": self._now() - self._ttl_s})
                is_new = not self._read(key)
                run(ADD_TURN, rows)
                if is_new:
                    run(DROP_OLDEST, {"capacity": self._capacity})
                else:
                    oldest = min(row.id for row in self._database.rows(READ, **key))
                    run(f"{DELETE} AND id < :oldest", key | {"oldest": oldest})

        await _in_thread(add)

    async def delete(self, session_id: str, owner: str) -> None:
        """Forget a conversation. Raise SessionNotFoundError if the owner has none of this id."""
        key = _key(session_id, owner)

        def delete() -> None:
            with self._database.changing():
                is_there = self._read(key)
                self._database.run(DELETE, key)
            if not is_there:
                raise SessionNotFoundError(session_id)

        await _in_thread(delete)

    def _read(self, key: dict[str, str]) -> list[Turn]:
        rows = self._database.rows(READ, **key)
        is_over = not rows or rows[0].at < self._now() - self._ttl_s
        return [] if is_over else trimmed([Turn(row.role, row.text) for row in reversed(rows)])


def _key(session_id: str, owner: str) -> dict[str, str]:
    """Return what a conversation is kept under; a session is hashed: its id may stand for a secret."""
    return {"owner": owner, "session": sha256(json.dumps([owner, session_id]).encode()).hexdigest()}


async def _in_thread(work: Callable[[], T]) -> T:
    try:
        return await run_in_executor(None, work)
    except VectorStoreError as error:
        raise SessionError(f"no conversation can be read or kept: {error}") from error


def trimmed(turns: Sequence[Turn]) -> list[Turn]:
    """Return the last turns that the bounds of one conversation allow; they begin with a user's."""
    short = [Turn(role, words[: MOST_CHARACTERS // 2]) for role, words in turns[-MOST_TURNS:]]
    return newest(short, MOST_CHARACTERS, len)
