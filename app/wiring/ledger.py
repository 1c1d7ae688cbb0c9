"""Open the ledger that the settings name."""

from functools import lru_cache
from pathlib import Path

from app.ledger.connect import open_database
from app.ledger.database import Database
from app.settings import Settings

MOST_OPEN = 16  # Of ledgers that one process uses.


def ledger_of(settings: Settings) -> Database:
    """Return the database of the settings' collection, one for all who ask in this process.

    Raise ConfigurationError if DATABASE_URL is no address, or its driver is not installed.
    """
    url = settings.database.url
    file = ledger_file(settings)
    return _opened(file, url.get_secret_value() if url else None, settings.store.collection)


def ledger_file(settings: Settings) -> Path:
    """Return the file of the ledger, where no DATABASE_URL names a database: beside the index of vectors."""
    store = settings.store
    name = f"{store.collection}.ledger.sqlite3"
    if store.kind == "memory":
        return store.memory_path.expanduser().absolute().with_name(f"{store.memory_path.stem}.{name}")
    return settings.chroma.path.expanduser().absolute() / name


@lru_cache(maxsize=MOST_OPEN)
def _opened(file: Path, url: str | None, collection: str) -> Database:
    return open_database(file, url, collection=collection)
