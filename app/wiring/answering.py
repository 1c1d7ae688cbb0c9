"""What answers: the models, the retriever, the checks, and the chain that they make.

`AROUND` lists what stands around the sequence of stages, from the inside out, as `STAGES` lists the sequence.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding

from app import hooks
from app.ports import Moderation
from app.settings import Settings
from app.wiring.caches import Caches
from app.wiring.certification import Certification
from app.wiring.chain import confidence_strategy, pipeline, redact_of, reformulation_of
from app.wiring.llm import chat_model
from app.wiring.models import current_retriever, remote_retriever, word_similarity
from app.wiring.observability import Tracing
from app.wiring.scope import scope_gate, scope_text
from app.wiring.serving import Serving
from chains.around import Disclosure
from chains.conversations import ConversationStore, WithConversations
from chains.observers import ObservedRunnable, Observer
from chains.pipeline import Reformulation
from chains.ports import WordSimilarity
from chains.retrieval import ChunkRetriever
from chains.safety import CleanQuestions
from chains.state import Answer, CitationStyle, Question, Redirect, Searching

if TYPE_CHECKING:
    from app.adapters.retrieval import RemoteRetriever


# What the service that POST /chat replaces gave its model.
CHAT_PASSAGE_CHARACTERS = 1700
CHAT_TEMPERATURE = 0.4


@dataclass(frozen=True)
class Answering(Serving):
    """The chain, and its parts."""

    _numbered_chains: dict[str, Runnable[Question, Answer]] = field(default_factory=dict, init=False)

    @property
    def model(self) -> BaseChatModel:
        """Return the chat model: the configured providers, then the offline answerer."""
        return self._model_of(self.settings.llm.model)

    def _model_of(self, name: str) -> BaseChatModel:
        if self.parts.model is not None:
            return self.parts.model
        if name not in self.models:
            settings = self.settings.replace(llm_model=name)
            self.models[name] = chat_model(
                settings, self.embeddings, clock=self.clock, tokens=self.tokens, similarity=self.word_similarity
            )
        return self.models[name]

    @cached_property
    def remote(self) -> "RemoteRetriever | None":
        """Return the retriever for RETRIEVAL_URL; None if the local index is searched."""
        return remote_retriever(self.settings, self.clock) if self.settings.retrieval.url else None

    @cached_property
    def retriever(self) -> ChunkRetriever:
        """Return the retriever: RETRIEVAL_URL, or RETRIEVER_TYPE over the current index."""
        if self.remote is not None:
            return self.remote
        return self.caches.retriever(current_retriever(self.settings, self.index.current, lambda: self.model))

    @cached_property
    def word_similarity(self) -> WordSimilarity:
        """Return the word similarity that checks quotations."""
        return word_similarity()

    @cached_property
    def reformulation(self) -> Reformulation:
        """Return the reformulation of follow-ups; it always uses LLM_MODEL."""
        index = None if self.remote is not None else self.index.current
        return reformulation_of(self.settings, self.word_similarity, self.clock, self.model, index)

    @cached_property
    def moderation(self) -> Moderation | None:
        """Return the moderation of questions, or None."""
        if not self.settings.safety.enabled or self.settings.moderation.provider == "off":
            return None
        moderation: Moderation = hooks.wing("safety.moderator:moderation_of")(self.settings, self.clock)
        return moderation

    @cached_property
    def scope(self) -> Runnable[Searching, Redirect | None] | None:
        """Return the scope gate; None if it is off or there is no list."""
        if self.remote is not None and self.settings.scope.file is None:
            return None
        return scope_gate(self.settings, self.embeddings, self.index.current)

    @cached_property
    def certification(self) -> Certification | None:
        """Return what holds the high level of confidence to a certificate; None where the documents are elsewhere."""
        if self.remote is not None:
            return None
        return Certification(self.settings, self.caches, lambda: self.index.current().version)

    @cached_property
    def chain(self) -> Runnable[Question, Answer]:
        """Return the pipeline."""
        return self.parts.chain or self._pipeline(self.settings.citations.style, self.settings.llm.model)

    def numbered_chain(self, model_id: str | None = None) -> Runnable[Question, Answer]:
        """Return the pipeline of POST /chat: numbered citations, and a choice of allowed models."""
        if self.parts.chain is not None:
            return self.parts.chain
        name = model_id or self.settings.llm.model
        if name not in self._numbered_chains:
            self._numbered_chains[name] = self._pipeline(
                "numbered",
                name,
                passage_characters=CHAT_PASSAGE_CHARACTERS,
                temperature=CHAT_TEMPERATURE,
                markers_suffice=True,
            )
        return self._numbered_chains[name]

    def _pipeline(self, style: CitationStyle, model_id: str, **options: Any) -> Runnable[Question, Answer]:
        # Only the chain of the settings is evaluated: one with options is another chain.
        held = partial(self.certification.held, same_chain=not options) if self.certification else None
        chain = pipeline(
            self.settings,
            style=style,
            retriever=self.retriever,
            model=self._model_of(model_id),
            model_id=model_id,
            scope=self.scope,
            tokens=self.tokens,
            similarity=self.word_similarity,
            reformulation=self.reformulation,
            clock=self.clock,
            confidence=confidence_strategy(self.settings, held),
            moderate=self.moderation.step if self.moderation else None,
            **options,
        )
        facts = {
            "style": style,
            "model_id": model_id,
            "scope": scope_text(self.settings),
            "passage_characters": options.get("passage_characters"),
            "certificate": self.certification.digest if self.certification else None,
        }
        parts = Surroundings(self.settings, self.caches, self.tracing, self.observers, self.conversations, facts)
        for wrap in AROUND:
            chain = wrap(chain, parts)
        return chain


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
