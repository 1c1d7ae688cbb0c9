"""Sessions and conversations in Redis, for all processes of a service."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, ClassVar, Literal

from redis.asyncio import ConnectionPool, Redis
from redis.exceptions import RedisError, ResponseError

from app.adapters.sessions.conversations import MOST_TURNS, conversation_key, read_turns
from app.adapters.sessions.identity import Identity, IdentityStoreError, session_identity
from chains.errors import SessionError, SessionNotFoundError
from chains.history import Turn
from chains.logs import get_logger

log = get_logger(__name__)


class RedisSessions:
    """Reads sessions, JSON `{user_id, email, is_admin}`. Nothing is cached, so a logout counts at once.

    The connections belong to the caller.
    """

    credential: ClassVar[Literal["session", "key"]] = "session"

    def __init__(self, connections: ConnectionPool) -> None:
        self._redis = Redis(connection_pool=connections)

    async def find(self, token: str) -> Identity | None:
        """Return the caller of a session; None where the session is unknown or cannot be read.

        Raises:
            IdentityStoreError: Redis does not answer.
        """
        try:
            session = await self._redis.get(f"session:{token}")
        except (RedisError, OSError) as error:
            msg = "Redis does not answer, so no session can be looked up; check REDIS_URL"
            raise IdentityStoreError(msg) from error
        return _read(session) if session is not None else None

    async def aclose(self) -> None:
        """Do nothing: the connections belong to the caller."""


def _read(session: bytes | str) -> Identity | None:
    try:
        identity = session_identity(session)
    except (ValueError, RecursionError):
        identity = None
    if identity is None:
        log.warning("session_unreadable")
    return identity


PREFIX = "conversation:"
ORDER = "conversations:order"


class RedisConversations:
    """Keeps up to `capacity` conversations, each for `ttl_s` seconds after its last turn; connections are the caller's.

    A conversation is a list of turns. What is added together is added in one transaction. An ordered set knows which
    conversation was used last. A value that is damaged or of a wrong kind counts as none; the next turns replace it.
    """

    def __init__(self, connections: ConnectionPool, *, ttl_s: int, capacity: int) -> None:
        self._redis = Redis(connection_pool=connections)
        self._ttl_s = ttl_s
        self._capacity = capacity

    async def turns(self, session_id: str, owner: str) -> list[Turn]:
        """Return the turns, oldest first; none where the owner has no such conversation, or it has expired.

        Raises:
            SessionError: Redis does not answer.
        """
        async with self._transaction() as pipe:
            pipe.lrange(_key(session_id, owner), 0, -1)
            [kept] = await pipe.execute(raise_on_error=False)
            return _decoded(kept) or []

    async def add(self, session_id: str, owner: str, turns: Sequence[Turn]) -> None:
        """Put these turns behind the others at once; the first ones begin the conversation.

        Raises:
            SessionError: Redis does not answer.
        """
        key = _key(session_id, owner)
        async with self._transaction() as pipe:
            pipe.lrange(key, 0, -1)
            pipe.type(ORDER)
            pipe.time()
            kept, kind, (seconds, microseconds) = await pipe.execute(raise_on_error=False)
            damaged = [key] if _decoded(kept) is None else []
            damaged += [] if kind in {b"none", b"zset"} else [ORDER]
            if damaged:
                pipe.delete(*damaged)
            pipe.rpush(key, *(json.dumps(turn, ensure_ascii=False) for turn in turns))
            pipe.ltrim(key, -MOST_TURNS, -1)
            pipe.expire(key, self._ttl_s)
            pipe.zadd(ORDER, {key: 1_000_000 * seconds + microseconds})
            pipe.zrange(ORDER, 0, -self._capacity - 1)
            *_, oldest = await pipe.execute()
            if oldest:
                pipe.delete(*oldest)
                pipe.zrem(ORDER, *oldest)
                await pipe.execute()

    async def delete(self, session_id: str, owner: str) -> None:
        """Forget a conversation, also a damaged one.

        Raises:
            SessionNotFoundError: the owner has none of this id.
            SessionError: Redis does not answer.
        """
        key = _key(session_id, owner)
        async with self._transaction() as pipe:
            pipe.delete(key)
            pipe.zrem(ORDER, key)
            deleted, _ = await pipe.execute(raise_on_error=False)
            if isinstance(deleted, RedisError):
                raise deleted
        if not deleted:
            raise SessionNotFoundError(session_id)

    @asynccontextmanager
    async def _transaction(self) -> AsyncIterator[Any]:
        try:
            async with self._redis.pipeline(transaction=True) as pipe:
                yield pipe
        except (RedisError, OSError) as error:
            msg = "Redis does not answer, so no conversation can be read or kept; check REDIS_URL"
            raise SessionError(msg) from error


def _decoded(kept: Any) -> list[Turn] | None:
    """Return the turns of what LRANGE gave; None where that is no conversation.

    Raises:
        RedisError: Redis refused for another reason than the kind of the value.
    """
    if isinstance(kept, RedisError) and not _is_of_wrong_kind(kept):
        raise kept
    try:
        return read_turns(kept if isinstance(kept, Exception) else [json.loads(turn) for turn in kept])
    except (ValueError, RecursionError):
        return read_turns(None)


def _is_of_wrong_kind(error: RedisError) -> bool:
    return isinstance(error, ResponseError) and str(error).startswith("WRONGTYPE")


def _key(session_id: str, owner: str) -> str:
    return PREFIX + conversation_key(session_id, owner)
