"""A token -> the caller whose session Redis holds under `session:{token}`."""

import json
from typing import ClassVar

import structlog
from redis.asyncio import ConnectionPool, Redis
from redis.exceptions import RedisError

from app.adapters.sessions.identity import Identity, IdentityStoreError, session_identity

log = structlog.get_logger(__name__)


class RedisSessions:
    """The sessions that an auth service keeps in Redis: JSON `{user_id, email, is_admin}` with a time to live.

    Nothing is remembered here, so that a logout counts at once. The connections belong to the one who hands them in.
    """

    proof: ClassVar[str] = "session"

    def __init__(self, connections: ConnectionPool) -> None:
        self._redis = Redis(connection_pool=connections)

    async def find(self, token: str) -> Identity | None:
        """Return the caller of a session; None where there is none, or where it cannot be read.

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
        """Do nothing: nothing of its own is open."""


def _read(session: bytes | str) -> Identity | None:
    try:
        identity = session_identity(json.loads(session))
    except (ValueError, RecursionError):
        identity = None
    if identity is None:
        log.warning("session_unreadable")
    return identity
