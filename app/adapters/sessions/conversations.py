"""Conversations by their session: in the memory of one process, or in Redis for all of them."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from cachetools import TTLCache
from redis.asyncio import ConnectionPool, Redis
from redis.exceptions import RedisError

from chains.clock import Clock
from chains.errors import SessionError, SessionNotFoundError
from chains.history import Turn

# Of one conversation; the oldest turns go first.
MOST_TURNS = 20
MOST_CHARACTERS = 8000

PREFIX = "conversation:"
ORDER, COUNTER = "conversations:order", "conversations:counter"


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


class RedisConversations:
    """The same in Redis. The connections belong to the caller.

    A conversation is a list of turns, and beside it its owner, which the first writer sets. What is added together is
    added in one transaction. An ordered set knows which conversation was used last.
    """

    def __init__(self, connections: ConnectionPool, *, ttl_s: int, capacity: int) -> None:
        self._redis = Redis(connection_pool=connections)
        self._ttl_s = ttl_s
        self._capacity = capacity

    async def turns(self, session_id: str, owner: str) -> list[Turn]:
        """Return the turns, oldest first; none where the session is unknown or has expired.

        Raises:
            SessionNotFoundError: the conversation is somebody else's.
            SessionError: Redis does not answer.
        """
        key = _key(session_id)
        async with self._transaction() as pipe:
            pipe.get(_owner_key(key))
            pipe.lrange(key, 0, -1)
            known, turns = await pipe.execute()
        if known is not None and known != owner.encode():
            raise SessionNotFoundError(session_id)
        return trimmed([Turn(*json.loads(turn)) for turn in turns])

    async def add(self, session_id: str, owner: str, turns: Sequence[Turn]) -> None:
        """Put these turns behind the others at once; the first ones begin the conversation.

        Raises:
            SessionNotFoundError: the conversation is somebody else's.
            SessionError: Redis does not answer.
        """
        key = _key(session_id)
        async with self._transaction() as pipe:
            pipe.set(_owner_key(key), owner, nx=True, ex=self._ttl_s)
            pipe.get(_owner_key(key))
            pipe.incr(COUNTER)
            _, known, used = await pipe.execute()
            if known != owner.encode():
                raise SessionNotFoundError(session_id)
            pipe.rpush(key, *(json.dumps(turn, ensure_ascii=False) for turn in turns))
            pipe.ltrim(key, -MOST_TURNS, -1)
            pipe.expire(key, self._ttl_s)
            pipe.expire(_owner_key(key), self._ttl_s)
            pipe.zadd(ORDER, {key: used})
            pipe.zrange(ORDER, 0, -self._capacity - 1)
            *_, oldest = await pipe.execute()
            if oldest:
                await _forget(pipe, [old.decode() for old in oldest])

    async def delete(self, session_id: str, owner: str) -> None:
        """Forget a conversation.

        Raises:
            SessionNotFoundError: it is unknown, or somebody else's.
            SessionError: Redis does not answer.
        """
        if not await self.turns(session_id, owner):
            raise SessionNotFoundError(session_id)
        async with self._transaction() as pipe:
            await _forget(pipe, [_key(session_id)])

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Any]:
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                yield pipe
        except (RedisError, OSError) as error:
            msg = "Redis does not answer, so no conversation can be read or kept; check REDIS_URL"
            raise SessionError(msg) from error


async def _forget(pipe: Any, keys: Sequence[str]) -> None:
    pipe.delete(*keys, *map(_owner_key, keys))
    pipe.zrem(ORDER, *keys)
    await pipe.execute()


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


def _key(session_id: str) -> str:
    # By its hash: an id may hold anything, and one that stands for a secret is not shown in Redis.
    return PREFIX + sha256(session_id.encode()).hexdigest()


def _owner_key(key: str) -> str:
    return f"{key}:owner"
