"""Conversations by their session, in the memory of one process."""

from collections.abc import Sequence
from dataclasses import dataclass

from cachetools import TTLCache

from chains.clock import Clock
from chains.errors import SessionNotFoundError
from chains.history import Turn

# Of one conversation; the oldest turns go first.
MOST_TURNS = 20
MOST_CHARACTERS = 8000


@dataclass(frozen=True, slots=True)
class _Conversation:
    owner: str
    turns: tuple[Turn, ...]


class MemoryConversations:
    """Keeps up to `capacity` conversations, each for `ttl_s` seconds after its last turn; the oldest goes first."""

    def __init__(self, *, ttl_s: float, capacity: int, clock: Clock) -> None:
        self._kept: TTLCache[str, _Conversation] = TTLCache(capacity, ttl_s, clock.now)

    async def turns(self, session_id: str, owner: str) -> list[Turn]:
        """Return the turns, oldest first; none where the session is unknown or has expired."""
        return list(self._turns(session_id, owner))

    async def add(self, session_id: str, owner: str, turns: Sequence[Turn]) -> None:
        """Put these turns behind the others at once; the first ones begin the conversation."""
        said = trimmed([*self._turns(session_id, owner), *turns])
        self._kept.pop(session_id, None)  # What is put in anew is the youngest.
        self._kept[session_id] = _Conversation(owner, tuple(said))

    async def delete(self, session_id: str, owner: str) -> None:
        """Forget a conversation.

        Raises:
            SessionNotFoundError: it is unknown, or somebody else's.
        """
        if not self._turns(session_id, owner):
            raise SessionNotFoundError(session_id)
        self._kept.pop(session_id, None)

    def _turns(self, session_id: str, owner: str) -> tuple[Turn, ...]:
        kept = self._kept.get(session_id)
        if kept is not None and kept.owner != owner:
            raise SessionNotFoundError(session_id)
        return kept.turns if kept else ()


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
