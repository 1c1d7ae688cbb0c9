"""Conversations by their session in Redis, for all processes of a service."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any

from redis.asyncio import ConnectionPool, Redis
from redis.exceptions import RedisError

from app.adapters.sessions.conversations import MOST_TURNS, trimmed
from chains.errors import SessionError, SessionNotFoundError
from chains.history import Turn

PREFIX = "conversation:"
ORDER, COUNTER = "conversations:order", "conversations:counter"


class RedisConversations:
    """Keeps up to `capacity` conversations, each for `ttl_s` seconds after its last turn; connections are the caller's.

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


def _key(session_id: str) -> str:
    # By its hash: an id may hold anything, and one that stands for a secret is not shown in Redis.
    return PREFIX + sha256(session_id.encode()).hexdigest()


def _owner_key(key: str) -> str:
    return f"{key}:owner"
