"""What publishes events: an outbox for RabbitMQ, and the file in which they wait."""

from functools import partial
from typing import TYPE_CHECKING

from app import hooks
from app.ports import EventStore
from app.settings import Settings
from app.wings.events.file_events import FileEvents
from app.wings.events.settings import EventSettings
from chains.errors import ConfigurationError

if TYPE_CHECKING:
    from app.wings.events.outbox import Outbox


def outbox(settings: Settings) -> "Outbox | None":
    """Return the outbox for RABBITMQ_URL; nothing is opened before it runs.

    Raises:
        ConfigurationError: its extra is not installed.
    """
    chosen = settings.wing(EventSettings)
    if chosen.rabbitmq_url is None or not chosen.enabled:
        return None
    try:
        from app.wings.events.outbox import Outbox
        from app.wings.events.publisher import Publisher
    except ModuleNotFoundError as error:
        msg = f"RABBITMQ_URL needs the package {error.name}: pip install 'waypoint-copilot[events]'"
        raise ConfigurationError(msg) from error
    publisher = Publisher(chosen.rabbitmq_url.get_secret_value())
    open_store = partial(hooks.load("event_stores", chosen.backend), settings)
    return Outbox(open_store, publisher, capacity=chosen.capacity)


def file_store(settings: Settings) -> EventStore:
    """Return the file of EVENTS_PATH."""
    chosen = settings.wing(EventSettings)
    return FileEvents(chosen.path, capacity=chosen.capacity)
