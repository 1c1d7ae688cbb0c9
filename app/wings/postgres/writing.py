"""Add chunks to an index and delete them: rows, vectors, terms and postings, within the transaction of the caller."""

import json
import struct
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from app.wings.postgres.database import Database
from app.wings.postgres.driver import as_json
from app.wings.postgres.partition import COLUMNS, Partition
from app.wings.postgres.schema import SCHEMA

# What a smallint holds: a longer chunk counts as one of this length.
MOST_TOKENS = 32_767
NUMBERS = f"SELECT nextval('{SCHEMA}.numbers') FROM generate_series(1, :count)"
CHUNK = {
    "index": "int4",
    "number": "int4",
    "id": "text",
    "document": "text",
    "position": "int4",
    "section": "text",
    "audience": "text",
    "category": "text",
    "jurisdiction": "text",
    "content": "text",
    "metadata": "text",
    "searched": "text",
    "embedding": "bytea",
    "terms": "int4[]",
    "tokens": "int4",
}
POSTING = {"index": "int4", "term": "int4", "chunk": "int4", "count": "int2", "tokens": "int2"}
COUNT_KNOWN = """
UPDATE {terms} AS known SET chunks = known.chunks + more.chunks, public_chunks = known.public_chunks + more.public
FROM unnest(CAST(:terms AS text[]), CAST(:counts AS integer[]), CAST(:public AS integer[]))
    AS more (term, chunks, public)
WHERE known.term = more.term RETURNING known.term, known.number
"""
ADD_TERMS = """
INSERT INTO {terms} (index, term, chunks, public_chunks)
SELECT :index, * FROM unnest(CAST(:terms AS text[]), CAST(:counts AS integer[]), CAST(:public AS integer[]))
RETURNING term, number
"""
DELETE = """
WITH gone AS (DELETE FROM {chunks} WHERE id = ANY(:ids)
    RETURNING number, terms, tokens, audience IS NOT DISTINCT FROM 'public' AS is_public),
pairs AS (SELECT unnest(terms) AS term, number AS chunk, is_public FROM gone),
posted AS (DELETE FROM {postings} AS posting USING pairs
    WHERE posting.term = pairs.term AND posting.chunk = pairs.chunk),
counted AS (UPDATE {terms} AS known
    SET chunks = known.chunks - less.chunks, public_chunks = known.public_chunks - less.public
    FROM (SELECT term, count(*) AS chunks, count(*) FILTER (WHERE is_public) AS public FROM pairs GROUP BY term) AS less
    WHERE known.number = less.term)
SELECT count(*), coalesce(sum(tokens), 0),
    count(*) FILTER (WHERE is_public), coalesce(sum(tokens) FILTER (WHERE is_public), 0)
FROM gone
"""
# Every change has a version of its own.
GROW = f"""
UPDATE {SCHEMA}.indexes SET chunks = chunks + :chunks, tokens = tokens + :tokens, version = version + 1,
    public_chunks = public_chunks + :public_chunks, public_tokens = public_tokens + :public_tokens
WHERE index = :index
"""


class Row(NamedTuple):
    """A chunk with its id, the words it is searched by, its vector, how often it holds each term, and their sum."""

    id: str
    document: Document
    searched: str
    vector: Sequence[float]
    counts: Counter[str]
    tokens: int

    @property
    def is_public(self) -> bool:
        """Whether strangers may see it."""
        return bool(self.document.metadata.get("audience") == "public")


def add_chunks(database: Database, partition: Partition, rows: Sequence[Row]) -> None:
    """Add chunks whose ids are new."""
    with database.transaction() as connection:
        terms = _count_terms(connection, partition, rows)
        numbers = connection.execute(text(NUMBERS), {"count": len(rows)}).scalars().all()
        numbered = list(zip(numbers, rows, strict=True))
        database.copy_rows(
            partition.chunks, CHUNK, (_values(row, partition.number, number, terms) for number, row in numbered)
        )
        postings = (
            (partition.number, terms[term], number, min(MOST_TOKENS, count), row.tokens)
            for number, row in numbered
            for term, count in row.counts.items()
        )
        database.copy_rows(partition.postings, POSTING, sorted(postings))  # Neighbours in the table's key.
        public = [row.tokens for row in rows if row.is_public]
        _change(connection, partition, len(rows), sum(row.tokens for row in rows), len(public), sum(public))


def delete_chunks(connection: Connection, partition: Partition, ids: Sequence[str]) -> None:
    """Delete chunks; an unknown id is not an error."""
    tables = {"chunks": partition.chunks, "terms": partition.terms, "postings": partition.postings}
    gone = connection.execute(text(DELETE.format(**tables)), {"ids": list(ids)}).one()
    if gone[0]:
        _change(connection, partition, *(-int(count) for count in gone))


def _change(connection: Connection, partition: Partition, *counts: int) -> None:
    """Add to the index's chunks, its tokens, and the same of its public chunks."""
    names = ("chunks", "tokens", "public_chunks", "public_tokens")
    connection.execute(text(GROW), dict(zip(names, counts, strict=True), index=partition.number))


def _count_terms(connection: Connection, partition: Partition, rows: Sequence[Row]) -> dict[str, int]:
    """Count the chunks of every term, and return the terms' numbers."""
    held = Counter(term for row in rows for term in row.counts)
    public = Counter(term for row in rows if row.is_public for term in row.counts)
    counted, names = [(term, held[term], public[term]) for term in sorted(held)], ("terms", "counts", "public")
    known = connection.execute(text(COUNT_KNOWN.format(terms=partition.terms)), _columns(names, counted))
    numbers: dict[str, int] = dict(map(tuple, known))
    new = [one for one in counted if one[0] not in numbers]
    added = connection.execute(
        text(ADD_TERMS.format(terms=partition.terms)), _columns(names, new) | {"index": partition.number}
    )
    return numbers | dict(map(tuple, added))


def _columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return dict(zip(names, columns or [[] for _ in names], strict=True))


def _values(row: Row, index: int, number: int, terms: Mapping[str, int]) -> tuple[Any, ...]:
    metadata = row.document.metadata
    return (
        index,
        number,
        row.id,
        str(metadata.get("doc_id") or row.id),
        int(metadata.get("chunk_index") or 0),
        str(metadata.get("section") or ""),
        *(None if metadata.get(name) is None else str(metadata[name]) for name in COLUMNS),
        row.document.page_content,
        as_json(metadata),
        row.searched,
        to_wire(row.vector),
        [terms[term] for term in row.counts],
        row.tokens,
    )


def as_vector(values: Sequence[float]) -> str:
    """Return a vector as pgvector reads it in a statement."""
    return json.dumps([float(value) for value in values])


def to_wire(vector: Sequence[float]) -> bytes:
    """Return a vector as pgvector receives it: two numbers of 16 bits, then its values, all big-endian."""
    return struct.pack(">hh", len(vector), 0) + np.asarray(vector, dtype=">f4").tobytes()


def from_wire(vector: bytes) -> NDArray[np.float32]:
    """Return the vector that pgvector sends in the same form."""
    return np.frombuffer(vector, dtype=">f4", offset=4).astype(np.float32)
