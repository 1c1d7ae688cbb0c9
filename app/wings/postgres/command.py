"""`waypoint migrate`: create or upgrade the tables in PostgreSQL."""

from app.cli.ingest import read_settings
from app.cli.rendering import show


def migrate() -> None:
    """Create or upgrade the tables in the database of DATABASE_URL."""
    from app.wings.postgres.plugin import migrate_database

    show(migrate_database(read_settings()))
