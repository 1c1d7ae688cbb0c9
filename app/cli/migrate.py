"""`waypoint migrate`: the tables of PostgreSQL for this version of the program."""

from app.cli.ingest import read_settings
from app.cli.rendering import show


def migrate() -> None:
    """Make the tables in the database of DATABASE_URL, or bring those of an earlier version up to date."""
    from app.wiring.storage import migrate_database

    show(migrate_database(read_settings()))
