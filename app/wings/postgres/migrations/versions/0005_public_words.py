"""The counts of public chunks beside those of all: what strangers are answered by must not tell of internal ones.

An index from before has no such counts. It is of an earlier format too, so it has to be ingested again, and says so.
"""

from alembic import op

revision = "0005"
down_revision = "0004"

CHANGES = """
ALTER TABLE waypoint.terms ADD COLUMN public_chunks integer NOT NULL DEFAULT 0;
ALTER TABLE waypoint.indexes ADD COLUMN public_chunks bigint NOT NULL DEFAULT 0;
ALTER TABLE waypoint.indexes ADD COLUMN public_tokens bigint NOT NULL DEFAULT 0;
UPDATE waypoint.indexes SET format = 3 WHERE chunks = 0;
"""


def upgrade() -> None:
    """Add the columns."""
    op.execute(CHANGES)
