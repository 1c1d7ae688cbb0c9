"""What several processes share: sessions of an auth service, and conversations in Redis."""

from app.adapters.sessions.conversations import MOST_CONVERSATIONS
from app.adapters.sessions.identity import Authenticator
from app.hooks import from_extra
from app.settings import Settings
from app.wings.sessions.auth_service import AuthService
from app.wiring.access import Access
from chains.clock import Clock
from chains.conversations import ConversationStore


def conversations(settings: Settings, access: Access, _clock: Clock) -> ConversationStore:
    """Return where the conversations of sessions are kept in Redis."""
    with from_extra("redis", "SESSION_BACKEND=redis"):
        from app.wings.sessions.redis_sessions import RedisConversations

    return RedisConversations(access.redis, ttl_s=settings.session.ttl, capacity=MOST_CONVERSATIONS)


def authenticator(settings: Settings, access: Access) -> Authenticator:
    """Return what finds the caller of a session: the service of AUTH_URL, or its sessions in Redis."""
    if settings.access.auth_url is not None:
        return AuthService(settings.access.auth_url)
    with from_extra("redis", "AUTH_MODE=session without AUTH_URL"):
        from app.wings.sessions.redis_sessions import RedisSessions

    return RedisSessions(access.redis)
