"""What PostgreSQL offers: the index, conversations, events that wait, and logged answers."""

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from app.ports import AnswerDatabase, EventStore, Trial
from app.settings import Settings
from app.wings.postgres.answers import PostgresAnswers
from app.wings.postgres.conversations import PostgresConversations
from app.wings.postgres.database import Database
from app.wings.postgres.events import PostgresEvents
from app.wings.postgres.schema import migrate
from app.wings.postgres.settings import DatabaseSettings
from app.wiring.access import Access
from chains.clock import Clock
from chains.conversations import ConversationStore
from chains.errors import ConfigurationError

if TYPE_CHECKING:
    from app.wiring import Services

# How long an unresponsive database may delay shutdown.
EVENTS_TIMEOUT_S = 5


def conversations(settings: Settings, _access: Access, _clock: Clock) -> ConversationStore:
    """Return where all hosts keep the conversations of sessions."""
    return PostgresConversations(database_of(settings), ttl_s=settings.session.ttl, capacity=settings.session.capacity)


def events(settings: Settings) -> EventStore:
    """Return where the events of all hosts wait for the broker."""
    return PostgresEvents(database_of(settings, most_s=EVENTS_TIMEOUT_S), capacity=settings.of_variable("events_max"))


def answers(settings: Settings) -> AnswerDatabase:
    """Return the tables of logged answers."""
    return PostgresAnswers(database_of(settings))


def database_of(settings: Settings, *, most_s: float = math.inf) -> Database:
    """Return the database at DATABASE_URL, with a timeout of `most_s`; no connection is opened yet."""
    database = settings.wing(DatabaseSettings)
    url = database.url.get_secret_value() if database.url else ""
    timeout_s = min(settings.store.timeout_s, most_s)
    return Database(url, pool_size=database.pool_size, timeout_s=timeout_s)


def migrate_database(settings: Settings) -> str:
    """Upgrade the tables of the database, and return a message.

    Raises:
        ConfigurationError: no database is configured, or it lacks pgvector.
        VectorStoreError: it does not answer, or refuses.
    """
    if settings.wing(DatabaseSettings).url is None:
        msg = "no database is configured: set DATABASE_URL, like postgresql://user:password@host:5432/name"
        raise ConfigurationError(msg)
    database = database_of(settings)
    version = migrate(database)
    return f"The tables in {database.address} are up to date (version {version})."


def trials(services: "Services") -> Iterator[Trial]:
    """Yield what `waypoint doctor` tries: conversations; the index is tried as every vector store is."""
    if services.settings.session.backend == "postgres":
        check = cast("PostgresConversations", services.conversations).check
        yield Trial("conversations", check, "check DATABASE_URL", required=False)
