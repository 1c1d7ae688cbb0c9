"""Settings -> who may ask: who knows the callers, who those without identity are, where questions are counted."""

from collections.abc import Callable
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from app.identity import Callers, Identity, Scope
from app.settings import Settings
from chains.errors import ConfigurationError

if TYPE_CHECKING:
    from limits.aio.storage import Storage
    from redis.asyncio import ConnectionPool


def callers_of(settings: Settings, redis: "Callable[[], ConnectionPool]") -> Callers | None:
    """Return who knows the callers; None where AUTH_MODE asks nobody who they are. `redis` is asked for at need."""
    if settings.auth_mode == "api_key" and settings.api_keys is not None:
        from app.adapters.api_keys import ApiKeys

        return ApiKeys(settings.api_keys.get_secret_value())
    if settings.auth_mode == "session" and settings.auth_url is not None:
        from app.adapters.auth_service import AuthService

        return AuthService(settings.auth_url)
    if settings.auth_mode == "session":
        from app.adapters.redis_sessions import RedisSessions

        return RedisSessions(redis())
    return None


def anonymous_of(settings: Settings) -> Identity:
    """Return the identity of those who are not asked for one."""
    audience = settings.anonymous_audience or ("public" if settings.allow_anonymous else "internal")
    return Identity(scopes=frozenset(Scope) - (set() if audience == "internal" else {Scope.INTERNAL}))


def rate_storage_of(settings: Settings, redis: "Callable[[], ConnectionPool]") -> "Storage":
    """Return where questions are counted: in this process, or in Redis for all."""
    from limits.aio.storage import MemoryStorage, RedisStorage

    if settings.rate_limit_backend == "memory":
        return MemoryStorage(wrap_exceptions=True)
    # The address is not used: the connections know theirs.
    options: dict[str, Any] = {"connection_pool": redis()}
    return RedisStorage("async+redis://", wrap_exceptions=True, implementation="redispy", **options)


def redis_connections(settings: Settings) -> "ConnectionPool":
    """Return connections to Redis that give up soon: a request waits for them."""
    from redis.asyncio import ConnectionPool
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    url = settings.redis_url.get_secret_value()
    once_more = Retry(NoBackoff(), 1)  # A connection that idled may have been closed meanwhile.
    return ConnectionPool.from_url(url, socket_timeout=2, socket_connect_timeout=2, retry=once_more)


def check_door(settings: Settings, host: str) -> None:
    """Refuse to listen where strangers can ask.

    Raises:
        ConfigurationError: without authentication, `host` is not this machine's alone.
    """
    if not settings.open_to_others and not _is_loopback(host):
        msg = (
            f"--host {host} lets others ask, and AUTH_MODE=none asks nobody who they are; set AUTH_MODE to session or "
            "api_key, or ALLOW_ANONYMOUS=true where everybody may ask"
        )
        raise ConfigurationError(msg)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
