"""Conversations by their owner and session, for all processes of a service."""

import json
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import TypeVar

from langchain_core.runnables import run_in_executor

from app.ledger.database import Database
from chains.errors import SessionError, SessionNotFoundError, VectorStoreError
from chains.history import Turn

T = TypeVar("T")
# Of one conversation; the oldest turns go first.
MOST_TURNS = 20
MOST_CHARACTERS = 8000
MOST_CONVERSATIONS = 10_000

OF_SESSION = "owner = :owner AND session = :session"
READ = f"SELECT id, role, text, at FROM turns WHERE {OF_SESSION} ORDER BY id DESC LIMIT {MOST_TURNS}"
ADD = "INSERT INTO turns (owner, session, at, role, text) VALUES (:owner, :session, :at, :role, :text)"
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
        """Return the turns, oldest first; none where the owner has no such conversation, or it has expired."""
        return await _in_thread(lambda: self._read(_key(session_id, owner)))

    async def add(self, session_id: str, owner: str, turns: Sequence[Turn]) -> None:
        """Put these turns behind the others at once; the first ones begin the conversation."""
        key = _key(session_id, owner)
        rows = [key | turn._asdict() | {"at": self._now()} for turn in turns]

        def add() -> None:
            run = self._database.run
            with self._database.changing(alone=key["session"]):
                run(EXPIRE, {"since": self._now() - self._ttl_s})
                is_new = not self._read(key)
                run(ADD, rows)
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
        msg = f"no conversation can be read or kept: {error}"
        raise SessionError(msg) from error


def trimmed(turns: Sequence[Turn]) -> list[Turn]:
    """Return the last turns that the bounds of one conversation allow; they begin with a user's."""
    last: list[Turn] = []
    left = MOST_CHARACTERS
    for role, words in reversed(turns[-MOST_TURNS:]):
        turn = Turn(role, words[: MOST_CHARACTERS // 2])
        left -= len(turn.text)
        if left < 0:
            break
        last.insert(0, turn)
    return last[1:] if last and last[0].role == "assistant" else last
