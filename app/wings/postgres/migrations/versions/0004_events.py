"""Events that wait for the broker, in the order in which they were stored."""

from alembic import op

revision = "0004"
down_revision = "0003"

TABLES = """
CREATE TABLE waypoint.events (
    place bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    id text NOT NULL UNIQUE,
    routing_key text NOT NULL,
    correlation_id text NOT NULL,
    body text NOT NULL
);
"""


def upgrade() -> None:
    """Make the table."""
    op.execute(TABLES)
