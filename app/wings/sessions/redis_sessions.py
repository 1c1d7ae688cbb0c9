"""Sessions in Redis, for all processes of a service."""

from typing import ClassVar, Literal

from redis.asyncio import ConnectionPool, Redis
from redis.exceptions import RedisError

from app.adapters.sessions.identity import Identity, IdentityStoreError, session_identity
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

        Raise IdentityStoreError if Redis does not answer.
        """
        try:
            session = await self._redis.get(f"session:{token}")
        except (RedisError, OSError) as error:
            msg = "Redis does not answer, so no session can be looked up; check REDIS_URL"
            raise IdentityStoreError(msg) from error
        if session is None:
            return None
        try:
            identity = session_identity(session)
        except (ValueError, RecursionError):
            identity = None
        if identity is None:
            log.warning("session_unreadable")
        return identity

    async def aclose(self) -> None:
        """Do nothing: the connections belong to the caller."""
