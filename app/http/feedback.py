"""What a user thinks of an answer -> an event, a score in LangSmith, and a line in the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import structlog

from app.observability.analytics_events import message
from app.wiring import Services

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Feedback:
    """A score from -1 (bad) to 1 (good) for the answer whose metadata hold the `trace_id`."""

    trace_id: UUID
    score: float
    comment: str | None = None


def receive(feedback: Feedback, services: Services, *, metadata: Mapping[str, Any]) -> None:
    """Pass the feedback on; `metadata` are those of the call's config, and nothing is waited for."""
    if services.outbox:
        correlation_id = metadata.get("request_id") or str(uuid4())
        payload = payload_of(feedback, metadata)
        services.outbox.put(message("FeedbackReceived", payload, correlation_id=correlation_id))
    if services.scores:
        services.scores.give(feedback.trace_id, feedback.score, feedback.comment)
    log.info("feedback", trace_id=str(feedback.trace_id), score=feedback.score)


def payload_of(feedback: Feedback, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload of FeedbackReceived; what is not known is left out."""
    values = {
        "traceId": str(feedback.trace_id),
        "score": feedback.score,
        "comment": feedback.comment,
        "userId": metadata.get("user_id"),
    }
    return {name: value for name, value in values.items() if value is not None}
