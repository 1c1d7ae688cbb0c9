"""Build what sends events and scores to other services, where it is set up."""

from typing import TYPE_CHECKING

from app.settings import Settings
from chains.observers import Observer

if TYPE_CHECKING:
    from app.adapters.events.outbox import Outbox
    from app.adapters.tracing.langsmith_scores import LangSmithScores


def outbox_of(settings: Settings) -> "Outbox | None":
    """Return the outbox for RABBITMQ_URL; nothing is opened before it runs."""
    if settings.rabbitmq_url is None or not settings.events_enabled:
        return None
    from app.adapters.events.outbox import Outbox
    from app.adapters.events.publisher import Publisher

    publisher = Publisher(settings.rabbitmq_url.get_secret_value())
    return Outbox(settings.events_path, publisher, capacity=settings.events_max)


def event_observers(settings: Settings, outbox: "Outbox | None") -> list[Observer]:
    """Return the observer that makes events of calls; none without an outbox."""
    if outbox is None:
        return []
    from app.observability.analytics_events import Events

    return [Events(outbox.submit, model="offline" if settings.provider == "offline" else settings.llm_model)]


def scores_of(settings: Settings) -> "LangSmithScores | None":
    """Return what sends scores to LangSmith; None where answers are not traced there."""
    if not settings.langsmith_tracing or settings.langsmith_api_key is None:
        return None
    from app.adapters.tracing.langsmith_scores import LangSmithScores

    return LangSmithScores(
        settings.langsmith_endpoint, settings.langsmith_api_key.get_secret_value(), settings.langsmith_project
    )
