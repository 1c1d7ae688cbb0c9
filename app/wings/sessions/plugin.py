"""What several processes share: sessions of an auth service, and conversations in Redis."""

from app.adapters.sessions.identity import Authenticator
from app.settings import Settings
from app.wings.sessions.auth_service import AuthService
from app.wings.sessions.redis_conversations import RedisConversations
from app.wings.sessions.redis_sessions import RedisSessions
from app.wiring.access import Access
from chains.clock import Clock
from chains.conversations import ConversationStore


def conversations(settings: Settings, access: Access, _clock: Clock) -> ConversationStore:
    """Return where the conversations of sessions are kept in Redis."""
    return RedisConversations(access.redis, ttl_s=settings.session.ttl, capacity=settings.session.capacity)


def authenticator(settings: Settings, access: Access) -> Authenticator:
    """Return what finds the caller of a session: the service of AUTH_URL, or its sessions in Redis."""
    return RedisSessions(access.redis) if settings.access.auth_url is None else AuthService(settings.access.auth_url)
