"""What PostgreSQL offers: the index."""

from app.adapters.stores.index import Recipe, StoredIndex
from app.settings import Settings
from app.wings.postgres.database import Database
from app.wings.postgres.index import PostgresIndex
from app.wings.postgres.schema import migrate
from chains.errors import ConfigurationError

# Of a statement; and connections of a process.
TIMEOUT_S, POOL_SIZE = 10, 10


def index(settings: Settings, recipe: Recipe) -> StoredIndex:
    """Return the index in the database."""
    return PostgresIndex(database_of(settings), settings.store.collection, recipe)


def database_of(settings: Settings) -> Database:
    """Return the database at DATABASE_URL; no connection is opened yet."""
    url = settings.database.url.get_secret_value() if settings.database.url else ""
    return Database(url, pool_size=POOL_SIZE, timeout_s=TIMEOUT_S)


def migrate_database(settings: Settings) -> str:
    """Upgrade the tables of the database, and return a message.

    Raises:
        ConfigurationError: no database is configured, or it lacks pgvector.
        VectorStoreError: it does not answer, or refuses.
    """
    if settings.database.url is None:
        msg = "no database is configured: set DATABASE_URL, like postgresql://user:password@host:5432/name"
        raise ConfigurationError(msg)
    database = database_of(settings)
    version = migrate(database)
    return f"The tables in {database.address} are up to date (version {version})."
