"""The schema of the database: made in an empty one, brought up to date by `waypoint migrate`, checked before use."""

from pathlib import Path

from sqlalchemy import Connection, text

from app.wings.postgres.database import Database
from chains.errors import ConfigurationError, VectorStoreError

SCHEMA = "waypoint"
HEAD = "0006"
# Filters that leave few rows need the iterative scans of this version.
LEAST_PGVECTOR = (0, 8)
VERSION = f"SELECT version_num FROM {SCHEMA}.alembic_version"
AVAILABLE = "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'"
USED = "SELECT extversion FROM pg_extension WHERE extname = 'vector'"
# Of all processes that find an empty database, one makes the tables.
ALONE = "SELECT pg_advisory_xact_lock(hashtext('waypoint.migrate'))"


def version_of(connection: Connection) -> str | None:
    """Return the version of the schema; None where there is none."""
    known = connection.execute(text("SELECT to_regclass(:table)"), {"table": f"{SCHEMA}.alembic_version"}).scalar()
    return str(connection.execute(text(VERSION)).scalar()) if known else None


def check_schema(database: Database) -> None:
    """Make the tables in a database that has none, and refuse those of another version.

    Raises:
        ConfigurationError: the tables are of another version, or pgvector is not there.
        VectorStoreError: the database does not answer, or refuses.
    """
    with database.transaction() as connection:
        version = version_of(connection)
    if version is None:
        migrate(database)
    elif version < HEAD:
        msg = f"the tables in {database.address} are of version {version}, not {HEAD}; run `waypoint migrate`"
        raise ConfigurationError(msg)
    else:
        _refuse_later(version, database)


def migrate(database: Database) -> str:
    """Bring the tables up to date in one transaction, and return their version.

    Raises:
        ConfigurationError: pgvector is not there, or too old; or the tables are of a later version.
        VectorStoreError: the database does not answer, or refuses.
    """
    from alembic import command  # noqa: PLC0415 - Only who makes or changes the tables needs it.
    from alembic.config import Config  # noqa: PLC0415

    with database.unhurried(), database.transaction() as connection:
        connection.execute(text(ALONE))
        _refuse_later(version_of(connection) or "", database)
        _require_pgvector(connection, database)
        connection.execute(text(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))
        config = Config()
        config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return HEAD


def _refuse_later(version: str, database: Database) -> None:
    if version > HEAD:
        remedy = "install a later version of this program"
        msg = f"the tables in {database.address} are of version {version}, later than {HEAD}; {remedy}"
        raise ConfigurationError(msg)


def _require_pgvector(connection: Connection, database: Database) -> None:
    if not connection.execute(text(AVAILABLE)).scalar():
        msg = f"the server of {database.address} has no pgvector; install it there (package postgresql-NN-pgvector)"
        raise ConfigurationError(msg)
    try:
        with connection.begin_nested():
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS vector"))
    except VectorStoreError as error:
        msg = (
            f"pgvector is not switched on in {database.address}; as an administrator run there: CREATE EXTENSION vector"
        )
        raise ConfigurationError(msg) from error
    used = str(connection.execute(text(USED)).scalar())
    if tuple(int(part) for part in used.split(".")[:2]) < LEAST_PGVECTOR:
        remedy = "install 0.8 or later, and run there: ALTER EXTENSION vector UPDATE"
        msg = f"pgvector {used} in {database.address} is too old; {remedy}"
        raise ConfigurationError(msg)
