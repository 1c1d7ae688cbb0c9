"""What publishes events: an outbox for RabbitMQ, and the file in which they wait."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from app import hooks
from app.ports import MOST_EVENTS, EventStore, Trial
from app.settings import Settings
from app.wings.events.file_events import FileEvents
from app.wiring.checks import TIMEOUT_S, answers

if TYPE_CHECKING:
    from app.wings.events.outbox import Outbox
    from app.wiring import Services


def outbox(settings: Settings) -> "Outbox | None":
    """Return the outbox for RABBITMQ_URL; nothing is opened before it runs.

    Raises:
        ConfigurationError: its extra is not installed.
    """
    chosen = settings.events
    if chosen.rabbitmq_url is None or not chosen.enabled:
        return None
    with hooks.from_extra("events", "RABBITMQ_URL"):
        from app.wings.events.outbox import Outbox
        from app.wings.events.publisher import Publisher
    publisher = Publisher(chosen.rabbitmq_url.get_secret_value())
    open_store = partial(hooks.load("event_stores", chosen.backend), settings)
    return Outbox(open_store, publisher, capacity=MOST_EVENTS)


def file_store(settings: Settings) -> EventStore:
    """Return the file of EVENTS_PATH."""
    chosen = settings.events
    return FileEvents(chosen.path, capacity=MOST_EVENTS)


def trials(services: "Services") -> Iterator[Trial]:
    """Yield what `waypoint doctor` tries: where events wait, and the broker."""
    opened = services.outbox
    if opened is None:
        yield Trial("rabbitmq", None, "RABBITMQ_URL")
        return
    if services.settings.events.backend == "postgres":
        remedy = "check DATABASE_URL, and run `waypoint migrate`; events wait in memory meanwhile"
        yield Trial("events", opened.check, remedy, required=False)
    else:
        yield Trial("events", opened.check, "check EVENTS_PATH and the disk")
    ping = partial(opened.ping, timeout_s=TIMEOUT_S)
    remedy = "start RabbitMQ, check RABBITMQ_URL, or set EVENTS_ENABLED=false"
    yield Trial("rabbitmq", partial(answers, ping), remedy, required=False)
