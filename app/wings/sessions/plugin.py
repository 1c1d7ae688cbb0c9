"""Sessions of an auth service, or in Redis."""

from hashlib import sha256
from typing import TYPE_CHECKING, ClassVar, Literal

import httpx
from cachetools import TTLCache

from app.adapters.identity import Authenticator, Identity, IdentityStoreError, session_identity
from app.hooks import from_extra
from app.settings import Settings
from app.wiring.service import Access
from chains.clock import Clock
from chains.logs import get_logger

if TYPE_CHECKING:
    from redis.asyncio import ConnectionPool

log = get_logger(__name__)

KNOWN_TTL_S = 30
REFUSED_TTL_S = 5


class AuthService:
    """Asks `GET {url}/auth/validate` with the Bearer token.

    Callers are cached for 30 seconds, so a logout elsewhere counts after that time. Refused tokens are cached for 5,
    in a cache of their own: wrong tokens neither cost a call each time nor push out the right ones. Each cache holds
    `max_tokens`.
    """

    credential: ClassVar[Literal["session", "key"]] = "session"

    def __init__(self, url: str, *, timeout_s: float = 5, max_tokens: int = 10_000, clock: Clock | None = None) -> None:
        self._url = f"{url.rstrip('/')}/auth/validate"
        self._client = httpx.AsyncClient(timeout=timeout_s)
        timer = (clock or Clock()).now
        # By the tokens' hashes: a dump of the memory then holds no session.
        self._known: TTLCache[bytes, Identity] = TTLCache(max_tokens, KNOWN_TTL_S, timer)
        self._refused: TTLCache[bytes, None] = TTLCache(max_tokens, REFUSED_TTL_S, timer)

    async def find(self, token: str) -> Identity | None:
        """Return the caller; None if the service refuses the token. Raise IdentityStoreError if it does not answer."""
        key = sha256(token.encode()).digest()
        if (identity := self._known.get(key)) is not None:
            return identity
        if key in self._refused:
            return None
        if (identity := await self._ask(token)) is not None:
            self._known[key] = identity
        else:
            self._refused[key] = None
        return identity

    async def _ask(self, token: str) -> Identity | None:
        try:
            response = await self._client.get(self._url, headers={"Authorization": f"Bearer {token}"})
            if response.status_code in {httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN}:
                return None
            return session_identity(response.raise_for_status().content)
        except (httpx.HTTPError, ValueError, RecursionError) as error:
            raise IdentityStoreError("the auth service does not answer as agreed; check AUTH_URL") from error

    async def aclose(self) -> None:
        await self._client.aclose()


class RedisSessions:
    """Reads sessions, JSON `{user_id, email, is_admin}`. Nothing is cached, so a logout counts at once.

    The connections belong to the caller.
    """

    credential: ClassVar[Literal["session", "key"]] = "session"

    def __init__(self, connections: "ConnectionPool") -> None:
        with from_extra("redis", "AUTH_MODE=session without AUTH_URL"):
            from redis.asyncio import Redis
            from redis.exceptions import RedisError

        self._redis, self._failures = Redis(connection_pool=connections), (RedisError, OSError)

    async def find(self, token: str) -> Identity | None:
        try:
            session = await self._redis.get(f"session:{token}")
        except self._failures as error:
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


def authenticator(settings: Settings, access: Access) -> Authenticator:
    """Return what finds the caller of a session: the service of AUTH_URL, or its sessions in Redis."""
    if settings.access.auth_url is not None:
        return AuthService(settings.access.auth_url)
    return RedisSessions(access.redis)
