"""Wrap the sequence of stages: `AROUND` lists the wrappers from the inside out, as `STAGES` lists the sequence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langchain_core.runnables import Runnable, RunnableBinding

from app.settings import Settings
from app.wiring.caches import Caches
from app.wiring.observability import Tracing
from app.wiring.safety import redact_of
from chains.around import Disclosure
from chains.conversations import ConversationStore, WithConversations
from chains.observers import ObservedRunnable, Observer
from chains.safety import CleanQuestions
from chains.state import Answer, Question

Chain = Runnable[Question, Answer]
# The id alone protects an anonymous conversation: a shorter one could be guessed.
SHORTEST_OF_STRANGERS = 16


@dataclass(frozen=True)
class Surroundings:
    """The parts that the wrappers need; `facts` are what the chain depends on besides the settings."""

    settings: Settings
    caches: Caches
    tracing: Tracing
    observers: Sequence[Observer]
    conversations: ConversationStore
    facts: Mapping[str, Any]


def caching(chain: Chain, parts: Surroundings) -> Chain:
    """Answer equal questions once."""
    return parts.caches.answers(chain, **parts.facts)


def tracing(chain: Chain, parts: Surroundings) -> Chain:
    """Send a trace of each call."""
    factories = parts.tracing.factories
    return RunnableBinding(bound=chain, config_factories=factories) if factories else chain


def observation(chain: Chain, parts: Surroundings) -> Chain:
    """Log and count each call, and publish it as an event."""
    return ObservedRunnable(chain, parts.observers)


def conversation(chain: Chain, parts: Surroundings) -> Chain:
    """Read the session's turns before the answer, and add question and answer to them."""
    shortest = SHORTEST_OF_STRANGERS if parts.settings.access.allow_anonymous else 1
    return WithConversations(chain, parts.conversations, shortest_anonymous=shortest)


def redaction(chain: Chain, parts: Surroundings) -> Chain:
    """Remove invisible characters and personal data from the question before it is logged, traced or cached."""
    settings = parts.settings
    return CleanQuestions(chain, redact_of(settings)) if settings.safety.enabled else chain


def disclosure(chain: Chain, parts: Surroundings) -> Chain:
    """Show the public neither the factors of the confidence nor the times of the stages."""
    return Disclosure(chain)


AROUND = (caching, tracing, observation, conversation, redaction, disclosure)
