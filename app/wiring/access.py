"""Build access control: authentication, anonymous callers, rate limits."""

from dataclasses import dataclass
from functools import cached_property
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from app import hooks
from app.adapters.sessions.identity import ApiKeys, Authenticator, Identity, Scope
from app.settings import Settings, unused_variables
from chains.errors import ConfigurationError

if TYPE_CHECKING:
    from limits.aio.storage import Storage
    from redis.asyncio import ConnectionPool

# Longer than a cache's timeout: without its session, a request fails.
REDIS_TIMEOUT_S = 2


@dataclass(frozen=True)
class Access:
    """Authentication and rate limits of the service, each built on first use."""

    settings: Settings

    @cached_property
    def authenticator(self) -> Authenticator | None:
        """Return the authenticator; None if callers have no tokens.

        With AUTH_MODE=none a key of API_KEYS is optional: it allows what anonymous callers may not do, like /metrics.
        """
        access = self.settings.access
        if access.mode == "session":
            authenticator: Authenticator = hooks.wing("sessions.plugin:authenticator")(self.settings, self)
            return authenticator
        return ApiKeys(access.api_keys.get_secret_value()) if access.api_keys else None

    @cached_property
    def anonymous(self) -> Identity | None:
        """Return the identity of callers without a token; None if a token is required.

        The user of this machine may do everything; with ALLOW_ANONYMOUS, anonymous callers see public documents, and
        may neither read /metrics nor change the index.
        """
        settings = self.settings
        if settings.access.mode != "none":
            return None
        scopes = {Scope.ASK, Scope.FEEDBACK}
        if not settings.access.allow_anonymous:
            if "ANONYMOUS_AUDIENCE" in unused_variables():  # It hid internal documents.
                msg = "ANONYMOUS_AUDIENCE is gone: set ALLOW_ANONYMOUS=true (public documents only), or remove it"
                raise ConfigurationError(msg)
            scopes |= {Scope.INTERNAL, Scope.METRICS, Scope.INGEST}
        return Identity(scopes=frozenset(scopes))

    @cached_property
    def rate_storage(self) -> "Storage":
        """Return where questions are counted: in this process, or in Redis for all processes."""
        from limits.aio.storage import MemoryStorage, RedisStorage

        if not self.settings.counts_in_redis:
            return MemoryStorage(wrap_exceptions=True)
        # Not used: the pool has its own URL.
        options: dict[str, Any] = {"connection_pool": self.redis}
        return RedisStorage("async+redis://", wrap_exceptions=True, implementation="redispy", **options)

    @cached_property
    def redis(self) -> "ConnectionPool":
        """Return connections to Redis with a short timeout, because a request waits for them."""
        with hooks.from_extra("redis", "REDIS_URL"):
            from redis.asyncio import ConnectionPool
            from redis.asyncio.retry import Retry
            from redis.backoff import NoBackoff

        options: dict[str, Any] = dict.fromkeys(("socket_timeout", "socket_connect_timeout"), REDIS_TIMEOUT_S)
        options["retry"] = Retry(NoBackoff(), 1)  # An idle connection may have been closed.
        try:
            return ConnectionPool.from_url(self.settings.redis.url.get_secret_value(), **options)
        except ValueError:
            raise ConfigurationError("REDIS_URL is not an address of Redis, like redis://127.0.0.1:6379/0") from None


def require_authentication(settings: Settings, host: str) -> None:
    """Reject an address that other machines can reach without authentication.

    Raise ConfigurationError if AUTH_MODE=none, and `host` is not loopback.
    """
    if not settings.open_to_others and not is_loopback(host):
        msg = (
            f"--host {host} is open to others without authentication; set AUTH_MODE to session or api_key, or "
            "ALLOW_ANONYMOUS=true if everybody may ask"
        )
        raise ConfigurationError(msg)


def is_loopback(host: str) -> bool:
    """Return whether a host is loopback."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
