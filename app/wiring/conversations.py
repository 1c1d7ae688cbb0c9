"""Build the store of conversations."""

from app import hooks
from app.adapters.sessions.conversations import MemoryConversations
from app.settings import Settings
from app.wiring.access import Access
from chains.clock import Clock
from chains.conversations import ConversationStore


def conversations_of(settings: Settings, access: Access, clock: Clock) -> ConversationStore:
    """Return the store that SESSION_BACKEND names."""
    store: ConversationStore = hooks.load("conversations", settings.session.backend)(settings, access, clock)
    return store


def memory_conversations(settings: Settings, _access: Access, clock: Clock) -> ConversationStore:
    """Return what keeps them in this process."""
    return MemoryConversations(ttl_s=settings.session.ttl, capacity=settings.session.capacity, clock=clock)
