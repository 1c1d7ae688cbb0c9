"""Chunks with their vectors, terms and postings, records of what was ingested.

Every index has a partition of each table for its rows: it has an index of vectors of its own dimensions, and is dropped
as a whole once another index has taken its place. Queries name the partition, so its number is last in every key.
"""

from alembic import op

revision = "0001"
down_revision = None

TABLES = """
CREATE TABLE waypoint.indexes (
    index integer PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
    collection text NOT NULL,
    embedding_model text NOT NULL,
    format integer NOT NULL,
    dimensions integer,
    version bigint NOT NULL DEFAULT 1,
    chunks bigint NOT NULL DEFAULT 0,
    tokens bigint NOT NULL DEFAULT 0,
    scopes jsonb NOT NULL DEFAULT '{}'
);
CREATE TABLE waypoint.collections (
    name text PRIMARY KEY,
    index integer REFERENCES waypoint.indexes,
    own_documents boolean NOT NULL DEFAULT false
);
CREATE SEQUENCE waypoint.numbers AS integer;
CREATE TABLE waypoint.chunks (
    index integer NOT NULL,
    number integer NOT NULL DEFAULT nextval('waypoint.numbers'),
    id text NOT NULL,
    document text NOT NULL,
    position integer NOT NULL,
    section text NOT NULL,
    audience text,
    category text,
    jurisdiction text,
    content text NOT NULL,
    metadata json NOT NULL,
    embedding vector NOT NULL,
    terms integer[] NOT NULL,
    tokens integer NOT NULL,
    PRIMARY KEY (id, index)
) PARTITION BY LIST (index);
CREATE UNIQUE INDEX chunks_by_number ON waypoint.chunks (number, index);
CREATE INDEX chunks_by_document ON waypoint.chunks (document, position);
CREATE INDEX chunks_by_audience ON waypoint.chunks (audience);
CREATE INDEX chunks_by_category ON waypoint.chunks (category);
CREATE INDEX chunks_by_jurisdiction ON waypoint.chunks (jurisdiction);
CREATE TABLE waypoint.terms (
    index integer NOT NULL,
    term text COLLATE "C" NOT NULL,
    number integer NOT NULL DEFAULT nextval('waypoint.numbers'),
    chunks integer NOT NULL,
    PRIMARY KEY (term, index)
) PARTITION BY LIST (index);
CREATE UNIQUE INDEX terms_by_number ON waypoint.terms (number, index);
CREATE TABLE waypoint.postings (
    index integer NOT NULL,
    term integer NOT NULL,
    chunk integer NOT NULL,
    count smallint NOT NULL,
    tokens smallint NOT NULL,
    PRIMARY KEY (term, chunk, index) INCLUDE (count, tokens)
) PARTITION BY LIST (index);
CREATE TABLE waypoint.records (
    index integer NOT NULL REFERENCES waypoint.indexes ON DELETE CASCADE,
    namespace text NOT NULL,
    key text NOT NULL,
    group_id text,
    updated_at double precision NOT NULL,
    PRIMARY KEY (index, namespace, key)
);
CREATE INDEX records_by_group ON waypoint.records (index, namespace, group_id);
"""


def upgrade() -> None:
    """Make the tables."""
    op.execute(TABLES)
