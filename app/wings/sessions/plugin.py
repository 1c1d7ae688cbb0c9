"""Sessions of an auth service, or in Redis."""

from app.adapters.sessions.identity import Authenticator
from app.hooks import from_extra
from app.settings import Settings
from app.wings.sessions.auth_service import AuthService
from app.wiring.access import Access


def authenticator(settings: Settings, access: Access) -> Authenticator:
    """Return what finds the caller of a session: the service of AUTH_URL, or its sessions in Redis."""
    if settings.access.auth_url is not None:
        return AuthService(settings.access.auth_url)
    with from_extra("redis", "AUTH_MODE=session without AUTH_URL"):
        from app.wings.sessions.redis_sessions import RedisSessions

    return RedisSessions(access.redis)
