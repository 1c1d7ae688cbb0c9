"""Conversations by the hash of their session, with who began them."""

from alembic import op

revision = "0002"
down_revision = "0001"

TABLES = """
CREATE SEQUENCE waypoint.uses;
CREATE TABLE waypoint.conversations (
    key text PRIMARY KEY,
    owner text NOT NULL,
    turns json NOT NULL DEFAULT '[]',
    expires_at timestamptz NOT NULL,
    used bigint NOT NULL DEFAULT nextval('waypoint.uses')
);
CREATE INDEX conversations_by_use ON waypoint.conversations (used);
CREATE INDEX conversations_by_end ON waypoint.conversations (expires_at);
"""


def upgrade() -> None:
    """Make the table."""
    op.execute(TABLES)
