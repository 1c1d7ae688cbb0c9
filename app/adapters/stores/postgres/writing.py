"""Add chunks to an index and delete them: rows, vectors, terms and postings, within the transaction of the caller."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from langchain_core.documents import Document
from sqlalchemy import Connection, text

from app.adapters.postgres.schema import SCHEMA
from app.adapters.stores.postgres.partition import Partition

CHANNEL = "waypoint"
# What a smallint holds: a longer chunk counts as one of this length.
MOST_TOKENS = 32_767
NUMBERS = f"SELECT nextval('{SCHEMA}.numbers') FROM generate_series(1, :count)"
ADD_CHUNK = """
INSERT INTO {chunks} (index, number, id, document, position, section, audience, category, jurisdiction, content,
    metadata, embedding, terms, tokens)
VALUES (:index, :number, :id, :document, :position, :section, :audience, :category, :jurisdiction, :content,
    :metadata, :embedding, :terms, :tokens)
"""
COUNT_KNOWN = """
UPDATE {terms} AS known SET chunks = known.chunks + more.chunks
FROM unnest(CAST(:terms AS text[]), CAST(:counts AS integer[])) AS more (term, chunks)
WHERE known.term = more.term RETURNING known.term, known.number
"""
ADD_TERMS = """
INSERT INTO {terms} (index, term, chunks)
SELECT :index, * FROM unnest(CAST(:terms AS text[]), CAST(:counts AS integer[])) RETURNING term, number
"""
ADD_POSTINGS = """
INSERT INTO {postings} (index, term, chunk, count, tokens)
SELECT :index, * FROM unnest(CAST(:terms AS integer[]), CAST(:chunks AS integer[]), CAST(:counts AS smallint[]),
    CAST(:tokens AS smallint[]))
"""
DELETE = """
WITH gone AS (DELETE FROM {chunks} WHERE id = ANY(:ids) RETURNING number, terms, tokens),
pairs AS (SELECT unnest(terms) AS term, number AS chunk FROM gone),
posted AS (DELETE FROM {postings} AS posting USING pairs
    WHERE posting.term = pairs.term AND posting.chunk = pairs.chunk),
counted AS (UPDATE {terms} AS known SET chunks = known.chunks - less.chunks
    FROM (SELECT term, count(*) AS chunks FROM pairs GROUP BY term) AS less WHERE known.number = less.term)
SELECT count(*), coalesce(sum(tokens), 0) FROM gone
"""
# Every change has a version of its own, which is told to all processes when the transaction ends.
GROW = f"""
UPDATE {SCHEMA}.indexes SET chunks = chunks + :chunks, tokens = tokens + :tokens, version = version + 1
WHERE index = :index
"""
TELL = f"SELECT pg_notify('{CHANNEL}', :index)"


class Row(NamedTuple):
    """A chunk with its id, its vector, and how often it holds each term."""

    id: str
    document: Document
    vector: Sequence[float]
    counts: Counter[str]

    @property
    def tokens(self) -> int:
        """The number of its tokens."""
        return min(MOST_TOKENS, self.counts.total())


def add_chunks(connection: Connection, partition: Partition, rows: Sequence[Row]) -> None:
    """Add chunks whose ids are new."""
    terms = _count_terms(connection, partition, rows)
    numbers = connection.execute(text(NUMBERS), {"count": len(rows)}).scalars().all()
    connection.execute(
        text(ADD_CHUNK.format(chunks=partition.chunks)),
        [_values(row, partition.number, number, terms) for row, number in zip(rows, numbers, strict=True)],
    )
    postings = [
        (terms[term], number, min(MOST_TOKENS, count), row.tokens)
        for row, number in zip(rows, numbers, strict=True)
        for term, count in row.counts.items()
    ]
    columns = _columns(("terms", "chunks", "counts", "tokens"), postings)
    connection.execute(text(ADD_POSTINGS.format(postings=partition.postings)), columns | {"index": partition.number})
    _change(connection, partition, chunks=len(rows), tokens=sum(row.tokens for row in rows))


def delete_chunks(connection: Connection, partition: Partition, ids: Sequence[str]) -> None:
    """Delete chunks; an unknown id is not an error."""
    tables = {"chunks": partition.chunks, "terms": partition.terms, "postings": partition.postings}
    chunks, tokens = connection.execute(text(DELETE.format(**tables)), {"ids": list(ids)}).one()
    if chunks:
        _change(connection, partition, chunks=-int(chunks), tokens=-int(tokens))


def _change(connection: Connection, partition: Partition, *, chunks: int, tokens: int) -> None:
    connection.execute(text(GROW), {"index": partition.number, "chunks": chunks, "tokens": tokens})
    tell(connection, partition)


def tell(connection: Connection, partition: Partition) -> None:
    """Tell all processes at the end of the transaction that the index has changed."""
    connection.execute(text(TELL), {"index": str(partition.number)})


def _count_terms(connection: Connection, partition: Partition, rows: Sequence[Row]) -> dict[str, int]:
    """Count the chunks of every term, and return the terms' numbers."""
    held = Counter(term for row in rows for term in row.counts)
    known = connection.execute(
        text(COUNT_KNOWN.format(terms=partition.terms)), _columns(("terms", "counts"), sorted(held.items()))
    )
    numbers: dict[str, int] = dict(map(tuple, known))
    new = [(term, count) for term, count in sorted(held.items()) if term not in numbers]
    added = connection.execute(
        text(ADD_TERMS.format(terms=partition.terms)),
        _columns(("terms", "counts"), new) | {"index": partition.number},
    )
    return numbers | dict(map(tuple, added))


def _columns(names: Sequence[str], rows: Iterable[Sequence[Any]]) -> dict[str, Any]:
    columns = [list(column) for column in zip(*rows, strict=True)]
    return dict(zip(names, columns or [[] for _ in names], strict=True))


def _values(row: Row, index: int, number: int, terms: dict[str, int]) -> dict[str, Any]:
    metadata = row.document.metadata
    return {
        "index": index,
        "number": number,
        "id": row.id,
        "document": str(metadata.get("doc_id") or row.id),
        "position": int(metadata.get("chunk_index") or 0),
        "section": str(metadata.get("section") or ""),
        **{name: metadata.get(name) for name in ("audience", "category", "jurisdiction")},
        "content": row.document.page_content,
        "metadata": json.dumps(metadata, ensure_ascii=False),
        "embedding": as_vector(row.vector),
        "terms": [terms[term] for term in row.counts],
        "tokens": row.tokens,
    }


def as_vector(values: Sequence[float]) -> str:
    """Return a vector as pgvector reads it."""
    return json.dumps([float(value) for value in values])
