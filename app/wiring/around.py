"""What stands around the sequence of stages: `AROUND` lists it from the inside out, as `STAGES` lists the sequence."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from langchain_core.runnables import Runnable, RunnableBinding

from app.wiring.safety import redact_of
from chains.conversations import WithConversations
from chains.disclosure import Disclosure
from chains.observers import ObservedRunnable
from chains.safety import CleanQuestions
from chains.state import Answer, Question

if TYPE_CHECKING:
    from app.wiring.build import Services

Chain = Runnable[Question, Answer]
Facts = Mapping[str, Any]
"""What the sequence was made of beside the settings."""

# A stranger's session id is all that keeps others from the conversation: a shorter one could be guessed.
SHORTEST_OF_STRANGERS = 16


def caching(chain: Chain, services: "Services", facts: Facts) -> Chain:
    """Answer equal questions once."""
    return services.caches.answers(chain, **facts)


def tracing(chain: Chain, services: "Services", facts: Facts) -> Chain:
    """Send a trace of each call."""
    factories = services.tracing.factories
    return RunnableBinding(bound=chain, config_factories=factories) if factories else chain


def observation(chain: Chain, services: "Services", facts: Facts) -> Chain:
    """Log and count each call, and publish it as an event."""
    return ObservedRunnable(chain, services.observers)


def conversation(chain: Chain, services: "Services", facts: Facts) -> Chain:
    """Read the session's turns before the answer, and add question and answer to them."""
    shortest = SHORTEST_OF_STRANGERS if services.settings.allow_anonymous else 1
    return WithConversations(chain, services.conversations, shortest_anonymous=shortest)


def redaction(chain: Chain, services: "Services", facts: Facts) -> Chain:
    """Take invisible characters and personal data out of the question, before anything logs, traces or caches it."""
    settings = services.settings
    return CleanQuestions(chain, redact_of(settings)) if settings.safety_enabled else chain


def disclosure(chain: Chain, services: "Services", facts: Facts) -> Chain:
    """Show the public neither the factors of the confidence nor the times of the stages."""
    return Disclosure(chain)


AROUND = (caching, tracing, observation, conversation, redaction, disclosure)
