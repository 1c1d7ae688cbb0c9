"""Conversations by their owner and session, in the memory of one process, and what all stores of them share."""

import json
from collections.abc import Sequence
from hashlib import sha256
from typing import get_args

from cachetools import TTLCache

from chains.clock import Clock
from chains.errors import SessionNotFoundError
from chains.history import Role, Turn
from chains.logs import get_logger
from chains.question import is_text

# Of one conversation; the oldest turns go first.
MOST_TURNS = 20
MOST_CHARACTERS = 8000
MOST_CONVERSATIONS = 10_000


log = get_logger(__name__)


class MemoryConversations:
    """Keeps up to `capacity` conversations, each for `ttl_s` seconds after its last turn; the oldest goes first."""

    def __init__(self, *, ttl_s: float, capacity: int, clock: Clock) -> None:
        self._kept: TTLCache[tuple[str, str], tuple[Turn, ...]] = TTLCache(capacity, ttl_s, clock.now)

    async def turns(self, session_id: str, owner: str) -> list[Turn]:
        """Return the turns, oldest first; none where the owner has no such conversation, or it has expired."""
        return list(self._kept.get((owner, session_id), ()))

    async def add(self, session_id: str, owner: str, turns: Sequence[Turn]) -> None:
        """Put these turns behind the others at once; the first ones begin the conversation."""
        before = self._kept.pop((owner, session_id), ())  # What is put in again is the youngest.
        self._kept[(owner, session_id)] = tuple(trimmed([*before, *turns]))

    async def delete(self, session_id: str, owner: str) -> None:
        """Forget a conversation.

        Raises:
            SessionNotFoundError: the owner has none of this id.
        """
        if self._kept.pop((owner, session_id), None) is None:
            raise SessionNotFoundError(session_id)


def conversation_key(session_id: str, owner: str) -> str:
    """Return the name that a shared store keeps a conversation under: each owner has ids of its own.

    It is a hash: an id may hold anything, and one that stands for a secret is not shown in the store.
    """
    return sha256(json.dumps([owner, session_id]).encode()).hexdigest()


def read_turns(kept: object) -> list[Turn] | None:
    """Return the turns of the pairs that a store kept, trimmed; None where that is no conversation."""
    if isinstance(kept, list) and all(map(_is_turn, kept)):
        return trimmed([Turn(*turn) for turn in kept])
    log.warning("conversation_damaged")
    return None


def _is_turn(kept: object) -> bool:
    match kept:
        case [str(role), str(text)]:
            return role in get_args(Role) and is_text(text)
    return False


def trimmed(turns: Sequence[Turn]) -> list[Turn]:
    """Return the last turns that the bounds of one conversation allow; they begin with a user's."""
    kept: list[Turn] = []
    left = MOST_CHARACTERS
    for role, text in reversed(turns[-MOST_TURNS:]):
        turn = Turn(role, text[: MOST_CHARACTERS // 2])
        left -= len(turn.text)
        if left < 0:
            break
        kept.insert(0, turn)
    return kept[1:] if kept and kept[0].role == "assistant" else kept
