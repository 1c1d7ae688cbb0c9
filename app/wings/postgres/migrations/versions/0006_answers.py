"""Logged answers, the quotes that they rest on, and the key of the hashes that stand for who asked."""

from alembic import op

revision = "0006"
down_revision = "0005"

TABLES = """
CREATE TABLE waypoint.answers (
    id bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    collection text NOT NULL,
    size integer NOT NULL,
    trace_id text NOT NULL UNIQUE,
    at double precision NOT NULL,
    question text,
    search_query text,
    language text,
    audience text NOT NULL,
    outcome text NOT NULL,
    level text,
    confidence double precision,
    model text,
    index_version text,
    asker text,
    nearest text NOT NULL,
    packed bytea,
    score double precision,
    comment text
);
CREATE INDEX answers_by_asker ON waypoint.answers (asker) WHERE asker IS NOT NULL;
CREATE TABLE waypoint.quotes (
    id bigint PRIMARY KEY,
    collection text NOT NULL,
    doc_id text NOT NULL,
    title text NOT NULL,
    table_head text NOT NULL,
    quote text NOT NULL,
    found_in text,
    fingerprint text,
    missing_since double precision
);
CREATE INDEX quotes_by_place ON waypoint.quotes (collection, found_in, fingerprint);
CREATE TABLE waypoint.answer_quotes (
    answer bigint NOT NULL REFERENCES waypoint.answers ON DELETE CASCADE,
    quote bigint NOT NULL REFERENCES waypoint.quotes,
    PRIMARY KEY (quote, answer)
);
CREATE INDEX quotes_of_answers ON waypoint.answer_quotes (answer);
CREATE TABLE waypoint.answer_key (one integer PRIMARY KEY CHECK (one = 1), value bytea NOT NULL);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(TABLES)
