"""Build where conversations are kept by their session."""

from typing import Protocol

from langchain_core.runnables import Runnable

from app.adapters.sessions.conversations import MemoryConversations
from app.settings import Settings
from app.wiring.access import Access
from chains.clock import Clock
from chains.conversations import ConversationStore, WithConversations
from chains.state import Answer, Question

# An id of a stranger is all that keeps others from the conversation: a shorter one could be guessed.
SHORTEST_OF_STRANGERS = 16


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


class Keeping(Protocol):
    """What keeps conversations, and its settings."""

    @property
    def settings(self) -> Settings:
        """The settings."""

    @property
    def conversations(self) -> ConversationStore:
        """Where conversations are kept."""


def with_conversations(chain: Runnable[Question, Answer], services: Keeping) -> Runnable[Question, Answer]:
    """Return the chain with the conversations of its sessions."""
    shortest = SHORTEST_OF_STRANGERS if services.settings.allow_anonymous else 1
    return WithConversations(chain, services.conversations, shortest_anonymous=shortest)
