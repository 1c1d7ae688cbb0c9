"""Which dialect the ledger is in: PostgreSQL where DATABASE_URL names one, a file otherwise."""

import hashlib
from pathlib import Path

from app.ledger.database import Database
from app.ledger.sqlite import SqliteDatabase

LONGEST_NAME = 63


def open_database(
    file: Path, url: str | None = None, *, collection: str, pool_size: int = 10, timeout_s: float = 10
) -> Database:
    """Return the database of a collection at a PostgreSQL `url`, or else in a SQLite `file`; nothing is opened yet.

    Raise ConfigurationError if the address is none, or the driver is not installed.
    """
    if url:
        from app.ledger.postgres import PostgresDatabase  # noqa: PLC0415 - An extra; most do without.

        return PostgresDatabase(url, schema=schema_of(collection), pool_size=pool_size, timeout_s=timeout_s)
    return SqliteDatabase(file)


def schema_of(collection: str) -> str:
    """Return the name of a collection's schema; PostgreSQL would cut a long one, so that two might be alike."""
    name = f"waypoint_{collection}"
    return name if len(name) <= LONGEST_NAME else f"{name[:40]}_{hashlib.sha256(name.encode()).hexdigest()[:16]}"
