"""What publishes events: an outbox for RabbitMQ, and the file in which they wait."""

from functools import partial

from app import hooks
from app.ports import EventStore
from app.settings import Settings
from app.wings.events.file_events import FileEvents
from app.wings.events.outbox import Outbox
from app.wings.events.publisher import Publisher


def outbox(settings: Settings) -> Outbox | None:
    """Return the outbox for RABBITMQ_URL; nothing is opened before it runs."""
    if settings.rabbitmq_url is None:
        return None
    publisher = Publisher(settings.rabbitmq_url.get_secret_value())
    open_store = partial(hooks.load("event_stores", settings.events_backend), settings)
    return Outbox(open_store, publisher, capacity=settings.events_max)


def file_store(settings: Settings) -> EventStore:
    """Return the file of EVENTS_PATH."""
    return FileEvents(settings.events_path, capacity=settings.events_max)
