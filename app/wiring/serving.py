"""What stands around the answers of a service: callers, conversations, traces, metrics, events."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel

from app import hooks
from app.ledger.turns import MOST_CONVERSATIONS, Conversations
from app.observability.call_log import CallLog
from app.ports import AnswerLog, Outbox
from app.wiring.access import Access
from app.wiring.indexing import Indexing
from app.wiring.ledger import ledger_of
from app.wiring.observability import Tracing, metrics_of, tracing_of
from chains.conversations import ConversationStore
from chains.observers import Observer

if TYPE_CHECKING:
    from app.observability.metrics import Metrics


@dataclass(frozen=True)
class Serving(Indexing):
    """Who asks, and what observes it."""

    serving: bool = True  # Whether calls are counted and published as events; single commands need neither.
    logs_answers: bool = False  # Whether answers are logged where nothing is served: `waypoint ask` and the like.
    models: dict[str, BaseChatModel] = field(default_factory=dict, init=False)

    @cached_property
    def access(self) -> Access:
        """Return access control: authentication and rate limits."""
        return Access(self.settings)

    @cached_property
    def tracing(self) -> Tracing:
        """Return the exports of traces and users' scores."""
        return tracing_of(self.settings)

    @cached_property
    def outbox(self) -> Outbox | None:
        """Return the outbox of events; None if events are off."""
        if self.parts.outbox is not None:
            return self.parts.outbox
        events = self.settings.events
        if events.rabbitmq_url is None or not events.enabled:
            return None
        outbox: Outbox = hooks.wing("events.plugin:outbox")(self.settings)
        return outbox

    @cached_property
    def metrics(self) -> "Metrics":
        """Return the metrics of GET /metrics."""
        parts: dict[str, Any] = {"tracing": self.tracing, "caches": self.caches.stats, "models": self.models}
        return metrics_of(self.settings, outbox=self.outbox, uploads=self.uploads, **parts)

    @cached_property
    def answer_log(self) -> AnswerLog | None:
        """Return the log of answers; None if it is off, or these services only test or measure."""
        if not (self.serving or self.logs_answers) or not self.settings.answer_log.enabled:
            return None
        return next((make(self) for make in hooks.wings("knowledge.answer_log:answer_log")), None)

    @cached_property
    def observers(self) -> list[Observer]:
        """Return the observers of every call of the chain."""
        observers: list[Observer] = [CallLog(questions=self.settings.logs.questions), *self.tracing.observers]
        if self.serving:
            observers.append(self.metrics)
        if self.serving and self.outbox is not None:
            observers.append(
                self.outbox.observer("offline" if self.settings.provider == "offline" else self.settings.llm.model)
            )
        if self.answer_log is not None:
            observers.append(self.answer_log)
        observers += (make(self) for make in hooks.each("observers"))
        return observers

    @cached_property
    def conversations(self) -> ConversationStore:
        """Return the store of conversations."""
        return Conversations(ledger_of(self.settings), ttl_s=self.settings.session.ttl, capacity=MOST_CONVERSATIONS)
