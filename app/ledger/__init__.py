"""The ledger: one database that holds all durable state of a deployment, a SQLite file or PostgreSQL."""

from pathlib import Path

from app.ledger.database import Database
from app.ledger.sqlite import SqliteDatabase
from app.ledger.steps import STEPS


def open_database(
    file: Path, url: str | None = None, *, collection: str, pool_size: int = 10, timeout_s: float = 10
) -> Database:
    """Return the database of a collection at a PostgreSQL `url`, or else in a SQLite `file`; it is not opened yet."""
    if not url:
        return SqliteDatabase(file, STEPS)
    from app.ledger.postgres import PostgresDatabase, schema_of  # noqa: PLC0415 - An extra; most do without.

    return PostgresDatabase(url, STEPS, schema=schema_of(collection), pool_size=pool_size, timeout_s=timeout_s)
