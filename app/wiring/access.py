"""Settings -> who may ask, and how much: who knows the callers, who the others are, where questions are counted."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from app.adapters.sessions.identity import Callers, Identity, Scope
from app.settings import Settings
from chains.errors import ConfigurationError

if TYPE_CHECKING:
    from limits.aio.storage import Storage
    from redis.asyncio import ConnectionPool

# Longer than a cache is waited for: without its session, a request fails.
WAIT_S = 2


@dataclass(frozen=True)
class Access:
    """What guards the service, each made when it is first asked for."""

    settings: Settings

    @cached_property
    def callers(self) -> Callers | None:
        """Return who knows the callers; None where AUTH_MODE asks nobody who they are."""
        settings = self.settings
        if settings.auth_mode == "api_key" and settings.api_keys is not None:
            from app.adapters.sessions.api_keys import ApiKeys

            return ApiKeys(settings.api_keys.get_secret_value())
        if settings.auth_mode == "session" and settings.auth_url is not None:
            from app.adapters.sessions.auth_service import AuthService

            return AuthService(settings.auth_url)
        if settings.auth_mode == "session":
            from app.adapters.sessions.redis_sessions import RedisSessions

            return RedisSessions(self.redis)
        return None

    @cached_property
    def anonymous(self) -> Identity:
        """Return the identity of those who are not asked for one."""
        audience = self.settings.anonymous_audience or ("public" if self.settings.allow_anonymous else "internal")
        return Identity(scopes=frozenset(Scope) - (set() if audience == "internal" else {Scope.INTERNAL}))

    @cached_property
    def rate_storage(self) -> "Storage":
        """Return where questions are counted: in this process, or in Redis for all."""
        from limits.aio.storage import MemoryStorage, RedisStorage

        if self.settings.rate_limit_backend == "memory":
            return MemoryStorage(wrap_exceptions=True)
        # The address is not used: the connections know theirs.
        options: dict[str, Any] = {"connection_pool": self.redis}
        return RedisStorage("async+redis://", wrap_exceptions=True, implementation="redispy", **options)

    @cached_property
    def redis(self) -> "ConnectionPool":
        """Return connections to Redis that give up soon: a request waits for them."""
        from redis.asyncio import ConnectionPool
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        once_more = Retry(NoBackoff(), 1)  # A connection that idled may have been closed meanwhile.
        options: dict[str, Any] = {"socket_timeout": WAIT_S, "socket_connect_timeout": WAIT_S, "retry": once_more}
        try:
            return ConnectionPool.from_url(self.settings.redis_url.get_secret_value(), **options)
        except ValueError:
            msg = "REDIS_URL is not an address of Redis, like redis://127.0.0.1:6379/0"
            raise ConfigurationError(msg) from None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Close the connections when the service ends."""
        try:
            yield
        finally:
            if self.callers is not None:
                await self.callers.aclose()
            if "redis" in self.__dict__:
                await self.redis.disconnect()


def check_door(settings: Settings, host: str) -> None:
    """Refuse to listen where strangers can ask.

    Raises:
        ConfigurationError: without authentication, `host` is not this machine's alone.
    """
    if not settings.open_to_others and not is_loopback(host):
        msg = (
            f"--host {host} lets others ask, and AUTH_MODE=none asks nobody who they are; set AUTH_MODE to session or "
            "api_key, or ALLOW_ANONYMOUS=true where everybody may ask"
        )
        raise ConfigurationError(msg)


def is_loopback(host: str) -> bool:
    """Say whether a name or an address is this machine's for itself."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
