"""Build where conversations are kept by their session."""

from app.adapters.sessions.conversations import MemoryConversations
from app.settings import Settings
from app.wiring.access import Access
from chains.clock import Clock
from chains.conversations import ConversationStore


def conversations_of(settings: Settings, access: Access, clock: Clock) -> ConversationStore:
    """Return what SESSION_BACKEND names."""
    if settings.session_backend == "redis":
        from app.adapters.sessions.redis_conversations import RedisConversations

        return RedisConversations(access.redis, ttl_s=settings.session_ttl, capacity=settings.sessions_max)
    if settings.session_backend == "postgres":
        from app.adapters.sessions.postgres_conversations import PostgresConversations
        from app.wiring.storage import database_of

        return PostgresConversations(database_of(settings), ttl_s=settings.session_ttl, capacity=settings.sessions_max)
    return MemoryConversations(ttl_s=settings.session_ttl, capacity=settings.sessions_max, clock=clock)
