"""The searched words of a chunk beside it: a question need not make them anew for every chunk that it finds.

Figures have been in one form in them since, and vectors are indexed as numbers of 16 bits: an index from before has to
be ingested again, and says so.
"""

from alembic import op

revision = "0003"
down_revision = "0002"

CHANGES = """
ALTER TABLE waypoint.chunks ADD COLUMN searched text NOT NULL DEFAULT '';
ALTER TABLE waypoint.chunks ALTER COLUMN searched DROP DEFAULT;
UPDATE waypoint.indexes SET format = 0 WHERE chunks > 0;
"""


def upgrade() -> None:
    """Add the column."""
    op.execute(CHANGES)
