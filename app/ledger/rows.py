"""Add passages to the ledger with their words, and delete them, within the transaction of the caller."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, cast

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray

from app.ledger.database import Database
from app.ledger.schema import FTS
from app.ledger.vectors import from_vector, to_wire
from app.ledger.words import FILTERED, count_terms

Fields = Callable[[Document], tuple[str, str, str]]
_ESCAPED_NUL: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
# The columns of `passages`, as COPY sends them.
COLUMNS = {"row": "int8", "id": "text", "doc_id": "text", "number": "int4", "section": "text"}
COLUMNS |= dict.fromkeys((*FILTERED, "content", "meta"), "text") | {"vector": "bytea"}


class Row(NamedTuple):
    """A passage with its id and its vector."""

    id: str
    document: Document
    vector: NDArray[np.float32]


def as_json(value: Any) -> str:
    """Return a value as JSON whose strings hold no NUL, which PostgreSQL refuses."""
    return _ESCAPED_NUL.sub(r"\1 ", json.dumps(value, ensure_ascii=False))


def add(database: Database, rows: Sequence[Row], first: int, fields: Fields) -> None:
    """Add passages whose ids are new, under numbers from `first` on."""
    is_postgres = database.dialect == "postgresql"
    encode = to_wire if is_postgres else from_vector
    values = [_values(number, row) | {"vector": encode(row.vector)} for number, row in enumerate(rows, start=first)]
    searched = [fields(row.document) for row in rows]
    if is_postgres:
        _add_to_postgres(database, values, searched)
        return
    places = ", ".join(f":{name}" for name in COLUMNS)
    database.run(f"INSERT INTO passages ({', '.join(COLUMNS)}) VALUES ({places})", values)
    words = [
        {"row": number, "title": title, "section": section, "text": text}
        for number, (title, section, text) in enumerate(searched, start=first)
    ]
    public = [word for word, row in zip(words, rows, strict=True) if row.document.metadata.get("audience") == "public"]
    for table, some in (("words", words), ("public_words", public)):
        if some:
            database.run(
                f"INSERT INTO {table} (rowid, title, section, text) VALUES (:row, :title, :section, :text)", some
            )


def delete(database: Database, ids: Sequence[str]) -> None:
    """Delete passages; an unknown id is not an error."""
    if not ids:
        return
    if database.dialect == "postgresql":
        database.run(DELETE, {"ids": list(ids)})
        return
    for statement in (DROP_PUBLIC, DROP_WORDS, "DELETE FROM passages WHERE id = ANY(:ids)"):
        database.run(statement, {"ids": list(ids)})
    for table in ("words", "public_words"):  # No word of what was deleted stays in the file.
        database.run(f"INSERT INTO {table} ({table}) VALUES ('optimize')")


def clear(database: Database) -> None:
    tables = ["passages", "sources"]
    if database.dialect == "postgresql":
        tables += ["words", "terms", "postings"]
    else:
        for table in ("public_words_terms", "words_terms", "public_words", "words"):
            database.run(f"DROP TABLE {table}")
        for statement in FTS:
            database.run(statement)
    for table in tables:
        database.run(f"DELETE FROM {table}")
    database.run("DELETE FROM facts WHERE name IN ('dimensions', 'scopes')")


# An index over another table's rows must be given the deleted content.
DROP_PUBLIC = """
INSERT INTO public_words (public_words, rowid, title, section, text)
SELECT 'delete', words.rowid, title, words.section, text FROM passages JOIN words ON words.rowid = row
WHERE id = ANY(:ids) AND audience = 'public'
"""
DROP_WORDS = "DELETE FROM words WHERE rowid IN (SELECT row FROM passages WHERE id = ANY(:ids))"
DELETE = """
WITH gone AS (DELETE FROM passages WHERE id = ANY(:ids)
    RETURNING row, audience IS NOT DISTINCT FROM 'public' AS public),
said AS (DELETE FROM words USING gone WHERE rowid = gone.row RETURNING rowid, terms, public),
pairs AS (SELECT unnest(terms) AS term, rowid AS passage, public FROM said),
posted AS (DELETE FROM postings AS posting USING pairs
    WHERE posting.term = pairs.term AND posting.passage = pairs.passage)
UPDATE terms AS known SET passages = known.passages - less.passages,
    public_passages = known.public_passages - less.public
FROM (SELECT term, count(*) AS passages, count(*) FILTER (WHERE public) AS public FROM pairs GROUP BY term) AS less
WHERE known.number = less.term
"""
COUNT_KNOWN = """
UPDATE terms AS known SET passages = known.passages + more.passages,
    public_passages = known.public_passages + more.public
FROM unnest(CAST(:terms AS text[]), CAST(:counts AS integer[]), CAST(:public AS integer[]))
    AS more (term, passages, public)
WHERE known.term = more.term RETURNING known.term, known.number
"""
ADD_TERMS = """
INSERT INTO terms (term, passages, public_passages)
SELECT * FROM unnest(CAST(:terms AS text[]), CAST(:counts AS integer[]), CAST(:public AS integer[]))
RETURNING term, number
"""
# What a smallint holds: a longer passage counts as one of this length.
MOST_TOKENS = 32_767
WORDS = {"rowid": "int8", "text": "text", "terms": "int4[]", "tokens": "int4"}
POSTING = {"term": "int4", "passage": "int8", "count": "int2", "tokens": "int2"}


def _values(number: int, row: Row) -> dict[str, Any]:
    metadata = row.document.metadata
    filtered = {name: None if metadata.get(name) is None else str(metadata[name]) for name in FILTERED}
    place = {"row": number, "id": row.id, "doc_id": str(metadata.get("doc_id") or row.id)}
    place |= {"number": int(metadata.get("chunk_index") or 0), "section": str(metadata.get("section") or "")}
    return place | filtered | {"content": row.document.page_content, "meta": as_json(metadata)}


def _add_to_postgres(
    database: Database, values: Sequence[dict[str, Any]], searched: Sequence[tuple[str, str, str]]
) -> None:
    from app.ledger.postgres import PostgresDatabase  # noqa: PLC0415 - An extra; most do without.

    copy: Callable[[str, Mapping[str, str], Iterable[Any]], None] = cast("PostgresDatabase", database).copy_rows
    copy("passages", COLUMNS, (list(value.values()) for value in values))
    counts = count_terms(["\n".join(texts) for texts in searched])
    numbers = _count_terms(database, counts, [value["audience"] == "public" for value in values])
    lengths = [min(MOST_TOKENS, count.total()) for count in counts]
    rows = list(zip([value["row"] for value in values], searched, counts, lengths, strict=True))
    words = ((row, texts[2], [numbers[term] for term in count], length) for row, texts, count, length in rows)
    copy("words", WORDS, words)
    postings = (
        (numbers[term], row, min(MOST_TOKENS, times), length)
        for row, _, count, length in rows
        for term, times in count.items()
    )
    copy("postings", POSTING, sorted(postings))  # Neighbours in the table's key.


def _count_terms(database: Database, counts: Sequence[Counter[str]], is_public: Sequence[bool]) -> dict[str, int]:
    """Count the passages of every term, and return the terms' numbers."""
    passages = Counter(term for count in counts for term in count)
    public = Counter(term for count, seen in zip(counts, is_public, strict=True) if seen for term in count)

    def columns(terms: list[str]) -> dict[str, Any]:
        return {
            "terms": terms,
            "counts": [passages[term] for term in terms],
            "public": [public[term] for term in terms],
        }

    numbers: dict[str, int] = dict(map(tuple, database.rows(COUNT_KNOWN, **columns(sorted(passages)))))
    new = [term for term in sorted(passages) if term not in numbers]
    return numbers | dict(map(tuple, database.rows(ADD_TERMS, **columns(new))))
