"""What publishes events: an outbox for RabbitMQ, and the file in which they wait."""

from functools import partial

from app import hooks
from app.ports import EventStore
from app.settings import Settings
from app.wings.events.file_events import FileEvents
from app.wings.events.outbox import Outbox
from app.wings.events.publisher import Publisher
from app.wings.events.settings import EventSettings


def outbox(settings: Settings) -> Outbox | None:
    """Return the outbox for RABBITMQ_URL; nothing is opened before it runs."""
    chosen = settings.wing(EventSettings)
    if chosen.rabbitmq_url is None or not chosen.enabled:
        return None
    publisher = Publisher(chosen.rabbitmq_url.get_secret_value())
    open_store = partial(hooks.load("event_stores", chosen.backend), settings)
    return Outbox(open_store, publisher, capacity=chosen.capacity)


def file_store(settings: Settings) -> EventStore:
    """Return the file of EVENTS_PATH."""
    chosen = settings.wing(EventSettings)
    return FileEvents(chosen.path, capacity=chosen.capacity)
