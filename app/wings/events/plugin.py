"""What publishes events: an outbox for RabbitMQ."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from app import hooks
from app.ledger.work import WaitingMessages
from app.ports import Trial
from app.settings import Settings
from app.wiring.observability import TIMEOUT_S, answers
from app.wiring.storage import ledger_of

if TYPE_CHECKING:
    from app.wings.events.outbox import Outbox

MOST_EVENTS = 10_000  # That wait for the broker; the oldest are dropped beyond it.


def outbox(settings: Settings) -> "Outbox | None":
    """Return the outbox for RABBITMQ_URL, not opened yet. Raise ConfigurationError if its extra is not installed."""
    chosen = settings.events
    if chosen.rabbitmq_url is None or not chosen.enabled:
        return None
    with hooks.from_extra("events", "RABBITMQ_URL"):
        from app.wings.events.outbox import Outbox
    store = WaitingMessages(ledger_of(settings), capacity=MOST_EVENTS)
    return Outbox(store, chosen.rabbitmq_url.get_secret_value())


def trials(settings: Settings) -> Iterator[Trial]:
    opened = outbox(settings)
    if opened is None:
        yield Trial("rabbitmq", None, "RABBITMQ_URL")
        return
    yield Trial("events", opened.check, "check that the ledger can be written; events wait in memory meanwhile")
    ping = partial(opened.ping, timeout_s=TIMEOUT_S)
    remedy = "start RabbitMQ, check RABBITMQ_URL, or set EVENTS_ENABLED=false"
    yield Trial("rabbitmq", partial(answers, ping), remedy, required=False)
