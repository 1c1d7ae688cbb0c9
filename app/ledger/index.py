"""The index of passages as an ingestion changes it: new ones are staged, and a change is one transaction.

Passages are added and deleted with their words, in the form of each dialect.
"""

import json
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from struct import Struct
from typing import Any, Final, NamedTuple, cast
from uuid import uuid4

import numpy as np
from langchain_core.documents import Document
from numpy.typing import NDArray

from app.ledger.database import Database
from app.ledger.passages import AT_ONCE, Held, Passages, Recipe
from app.ledger.schema import BLOCK, FTS
from app.ledger.vectors import VectorIndex, Vectors, from_vector, index_vectors, to_vector, to_wire
from app.ledger.words import ENTRY, FILTERED, count_terms, metadata_of
from chains.errors import ConfigurationError, IndexBusyError, VectorStoreError
from chains.ingestion.files import Source
from chains.ingestion.writing import Change
from chains.logs import get_logger

log = get_logger(__name__)

# Raised whenever an older index would answer wrongly. 3: more of what a document says of its audience is understood,
# so that an older index may show strangers what is internal.
FORMAT = 3
REBUILD = "rebuild it with `waypoint ingest --reset PATH`, where PATH is the folder of your documents"
STAGE = """
INSERT INTO staged (id, model, content, meta, vector) VALUES (:id, :model, :content, :meta, :vector)
ON CONFLICT (id) DO UPDATE SET model = excluded.model, vector = excluded.vector
"""
WRITE_SOURCE = """
INSERT INTO sources (doc_id, root, path, written) VALUES (:doc_id, :root, :path, :written)
ON CONFLICT (doc_id) DO UPDATE SET root = excluded.root, path = excluded.path, written = excluded.written
"""
# By what share the passages have to grow or shrink before the server counts its rows anew, to plan for as many.
GROWTH = 0.1
Fields = Callable[[Document], tuple[str, str, str]]
Counts = Counter[tuple[int, bool]]  # Of passages in PostgreSQL, by term and by whether they are public.
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


class PassageIndex(Held):
    """The index in a ledger, whose passages are made by a recipe; `follower` is a second index of their vectors."""

    def __init__(self, database: Database, recipe: Recipe, follower: Callable[[], VectorIndex | None]) -> None:
        super().__init__(database)
        self.recipe = recipe
        self.vectors = Vectors(database, follower)
        self.place = f"{'postgres at' if database.dialect == 'postgresql' else 'the ledger'} {database.place}"

    def version(self) -> str | None:
        """Return what changes whenever the index does, for any process; None before anything was ingested."""
        return self.database.fact("version")

    def open(self) -> Passages:
        """Return the passages as they are now.

        Raise ConfigurationError if they are of another format, or were made with another embedding model;
        VectorStoreError if the ledger cannot be read.
        """
        with self.database.reading():
            made_with, made_format = self.database.fact("embedding_model"), self.database.fact("format")
            if made_format not in {None, str(FORMAT)}:
                msg = f"the index in {self.place} was made by an earlier version, in another form; {REBUILD}"
                raise ConfigurationError(msg)
            if made_with not in {None, self.recipe.embedding_model}:
                msg = (
                    f"the index in {self.place} was made with the embedding model {made_with!r}, "
                    f"not {self.recipe.embedding_model!r}; {REBUILD}, or set EMBEDDING_MODEL"
                )
                raise ConfigurationError(msg)
            return Passages(self.database, self.recipe, self.vectors, self.version())

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of an ingestion while the body runs. Raise IndexBusyError if another ingestion holds it."""
        with self.database.lock("ingest") as ours:
            if not ours:
                msg = "another ingestion into the same store is at work, here or on another host; wait until it is done"
                raise IndexBusyError(msg)
            yield

    def ids_of(self, doc_id: str) -> set[str]:
        return {id_ for (id_,) in self.database.rows("SELECT id FROM passages WHERE doc_id = :id", id=doc_id)}

    def staged(self, ids: Sequence[str]) -> set[str]:
        query = "SELECT id FROM staged WHERE model = :model AND id = ANY(:ids)"
        return {id_ for (id_,) in self.database.rows(query, model=self.recipe.embedding_model, ids=list(ids))}

    def stage(self, chunks: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        def row(chunk: Document, vector: Sequence[float]) -> dict[str, Any]:
            said = {"id": chunk.id, "content": chunk.page_content, "meta": as_json(chunk.metadata)}
            return said | {"model": self.recipe.embedding_model, "vector": from_vector(np.asarray(vector))}

        self.database.run(STAGE, [row(*pair) for pair in zip(chunks, vectors, strict=True)])

    def publish(
        self, change: Change, rows: Iterable[Row] | None = None, *, written: Mapping[Source, float] | None = None
    ) -> None:
        """Make a change in one transaction, under the lock of an ingestion; readers see all of it or nothing.

        The new passages are the staged ones, or else `rows`; `written` says when sources were written, where that is
        not now. Raise ConfigurationError if the vectors have another number of dimensions than those of the index;
        VectorStoreError if the ledger cannot be written, and it is as before.
        """
        with self.database.changing():
            self.database.take_time()
            before, version = self.count(), uuid4().hex
            if change.reset:
                clear(self.database)
            counts = delete(self.database, sorted(change.stale))
            added = self._add(self._staged_rows(change.new) if rows is None else iter(rows), counts)
            if changed := [(term, public, more) for (term, public), more in counts.items() if more]:
                terms, public, more = zip(*changed, strict=True)
                self.database.run(COUNT_TERMS, {"terms": list(terms), "public": list(public), "more": list(more)})
            self.database.run("DELETE FROM staged")
            if not (self._write_sources(change, written or {}) or added or change.stale or change.reset):
                return
            self.database.state("version", version)
            self.database.state("embedding_model", self.recipe.embedding_model)
            self.database.state("format", str(FORMAT))
        if self.database.dialect == "postgresql" and abs(self.count() - before) > GROWTH * before:
            with self.database.changing():
                self.database.take_time()
                self.database.run("ANALYZE passages, words, terms, postings")
        with suppress(VectorStoreError):  # Who reads now keeps the log; the next change empties it.
            self.database.scrub()
        self.follow(version)

    def follow(self, version: str) -> None:
        """Bring the follower to a version; where that fails, questions are answered without it."""
        try:
            self.vectors.fill(version)
        except Exception as error:  # Whatever a stranger's package raises.
            log.warning("exact_search", index=getattr(self.vectors.follower, "place", ""), reason=str(error)[:200])

    def close(self) -> None:
        self.vectors.close()

    def _add(self, rows: Iterator[Row], counts: Counts) -> int:
        first = int(self.database.value("SELECT coalesce(max(row), 0) FROM passages")) + 1
        number, stated = first, self.database.fact("dimensions")
        while batch := list(islice(rows, BLOCK - number % BLOCK)):  # The words of a block are written once.
            sizes = {len(row.vector) for row in batch} | ({int(stated)} if stated else set())
            if len(sizes) > 1:
                msg = f"the index has vectors of {stated} dimensions, and the embedding model makes others; {REBUILD}"
                raise ConfigurationError(msg)
            stated = str(*sizes)
            add(self.database, batch, number, self.recipe.fields, counts)
            number += len(batch)
        if number > first and stated:
            index_vectors(self.database, int(stated))
            self.database.state("dimensions", stated)
        return number - first

    def _staged_rows(self, ids: Sequence[str]) -> Iterator[Row]:
        query = "SELECT id, content, meta, vector FROM staged WHERE id = ANY(:ids)"
        for start in range(0, len(ids), AT_ONCE):
            some = list(ids[start : start + AT_ONCE])
            rows = {row[0]: row for row in self.database.rows(query, ids=some)}
            if missing := len(some) - len(rows):
                msg = f"{missing} staged passages are gone: another process has changed {self.place}; run it again"
                raise VectorStoreError(msg)
            for id_, content, meta, vector in map(rows.__getitem__, some):
                document = Document(id=id_, page_content=content, metadata=metadata_of(meta))
                yield Row(id_, document, to_vector(vector))

    def _write_sources(self, change: Change, times: Mapping[Source, float]) -> bool:
        """Write the sources and scope files of a change; return whether they differ from those before."""
        forgotten, now = sorted(change.forgotten), time.time()
        if forgotten:
            self.database.run("DELETE FROM sources WHERE doc_id = ANY(:ids)", {"ids": forgotten})
        written = [
            {"doc_id": source.doc_id, "root": source.root, "path": source.relative, "written": times.get(source, now)}
            for source in change.sources.values()
        ]
        if written:
            self.database.run(WRITE_SOURCE, written)
        scopes = None if change.scopes is None else json.dumps(change.scopes, ensure_ascii=False, sort_keys=True)
        differs = scopes is not None and scopes != (self.database.fact("scopes") or "{}")
        if differs:
            self.database.state("scopes", scopes)
        return bool(forgotten or written or differs)


def add(database: Database, rows: Sequence[Row], first: int, fields: Fields, counts: Counts) -> None:
    """Add passages whose ids are new, under numbers from `first` on, and to the counts what `delete` returns."""
    is_postgres = database.dialect == "postgresql"
    encode = to_wire if is_postgres else from_vector
    values = [_values(number, row) | {"vector": encode(row.vector)} for number, row in enumerate(rows, start=first)]
    searched = [fields(row.document) for row in rows]
    if is_postgres:
        _add_to_postgres(database, values, searched, counts)
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


def delete(database: Database, ids: Sequence[str]) -> Counts:
    """Delete passages, and return by how many those with each term become more; an unknown id is not an error."""
    counts = Counts()
    if not ids:
        return counts
    if database.dialect == "postgresql":
        for public, block, terms, passages in database.rows(DELETE, ids=list(ids)):
            rows = database.rows(UNPACK, terms=terms, public=public, block=block)
            held = {term: np.frombuffer(entries, ENTRY) for term, entries in rows}
            left = {term: entries[~np.isin(entries["passage"], passages)] for term, entries in held.items()}
            counts.update({(term, public): len(left[term]) - len(entries) for term, entries in held.items()})
            _pack(database, {term: entries.tobytes() for term, entries in left.items() if len(entries)}, public, block)
        return counts
    for statement in (DROP_PUBLIC, DROP_WORDS, "DELETE FROM passages WHERE id = ANY(:ids)"):
        database.run(statement, {"ids": list(ids)})
    for table in ("words", "public_words"):  # No word of what was deleted stays in the file.
        database.run(f"INSERT INTO {table} ({table}) VALUES ('optimize')")
    return counts


def clear(database: Database) -> None:
    tables = ["passages", "sources"]
    if database.dialect == "postgresql":
        tables += ["words", "terms", "postings"]
    else:
        names = ("public_words_terms", "words_terms", "public_words", "words")
        for statement in (*(f"DROP TABLE {name}" for name in names), *FTS):
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
# Returns what is to be taken from the postings.
DELETE = f"""
WITH gone AS (DELETE FROM passages WHERE id = ANY(:ids)
    RETURNING row, audience IS NOT DISTINCT FROM 'public' AS public),
said AS (DELETE FROM words USING gone WHERE rowid = gone.row RETURNING rowid, terms, public)
SELECT public, rowid / {BLOCK}, array_agg(DISTINCT term), array_agg(DISTINCT rowid)
FROM said CROSS JOIN unnest(terms) AS term GROUP BY 1, 2
"""
UNPACK = "DELETE FROM postings WHERE block = :block AND public = :public AND term = ANY(:terms) RETURNING term, entries"
PACK = """
INSERT INTO postings SELECT term, :public, :block,
    substr(:packed, CAST(1 + sum(size) OVER (ORDER BY place) - size AS integer), size)
FROM unnest(CAST(:terms AS integer[]), CAST(:sizes AS integer[])) WITH ORDINALITY AS new (term, size, place)
ON CONFLICT (term, public, block) DO UPDATE SET entries = postings.entries || excluded.entries
"""
NUMBERS = "SELECT term, number FROM terms WHERE term = ANY(:terms)"
ADD_TERMS = """
INSERT INTO terms (term, passages, public_passages) SELECT unnest(CAST(:terms AS text[])), 0, 0 RETURNING term, number
"""
# Once for a change, in which most of what a new version of a document adds makes up for what goes with the old one.
COUNT_TERMS = """
UPDATE terms SET passages = passages + of_all, public_passages = public_passages + of_public FROM (
    SELECT term, sum(more) AS of_all, coalesce(sum(more) FILTER (WHERE public), 0) AS of_public
    FROM unnest(CAST(:terms AS integer[]), CAST(:public AS boolean[]), CAST(:more AS integer[]))
        AS new (term, public, more) GROUP BY term
) AS changed WHERE number = changed.term
"""
PACKED_ENTRY: Final = Struct(">ihh")
# What 16 bits hold: a longer passage counts as one of this length.
MOST_TOKENS = 32_767
WORDS = {"rowid": "int8", "text": "text", "terms": "int4[]", "tokens": "int4"}


def _values(number: int, row: Row) -> dict[str, Any]:
    metadata = row.document.metadata
    filtered = {name: None if metadata.get(name) is None else str(metadata[name]) for name in FILTERED}
    place = {"row": number, "id": row.id, "doc_id": str(metadata.get("doc_id") or row.id)}
    place |= {"number": int(metadata.get("chunk_index") or 0), "section": str(metadata.get("section") or "")}
    return place | filtered | {"content": row.document.page_content, "meta": as_json(metadata)}


def _add_to_postgres(
    database: Database, values: Sequence[dict[str, Any]], searched: Sequence[tuple[str, str, str]], counts: Counts
) -> None:
    copy = cast("Any", database).copy_rows
    copy("passages", COLUMNS, (list(value.values()) for value in values))
    held = count_terms(["\n".join(texts) for texts in searched])
    terms, numbers = {term for count in held for term in count}, dict[str, int]()
    for query in (NUMBERS, ADD_TERMS):
        numbers |= dict(map(tuple, database.rows(query, terms=sorted(terms - numbers.keys()))))
    lengths = [min(MOST_TOKENS, count.total()) for count in held]
    rows = list(zip([value["row"] for value in values], searched, held, lengths, strict=True))
    words = ((row, texts[2], [numbers[term] for term in count], length) for row, texts, count, length in rows)
    copy("words", WORDS, words)
    postings: defaultdict[tuple[bool, int], defaultdict[int, bytearray]] = defaultdict(lambda: defaultdict(bytearray))
    for (row, _, count, length), value in zip(rows, values, strict=True):
        of_term = postings[value["audience"] == "public", row // BLOCK]
        for term, times in count.items():
            of_term[numbers[term]] += PACKED_ENTRY.pack(row, min(MOST_TOKENS, times), length)
    for (public, block), entries in postings.items():
        counts.update({(term, public): len(packed) // ENTRY.itemsize for term, packed in entries.items()})
        _pack(database, entries, public, block)


def _pack(database: Database, entries: Mapping[int, bytes | bytearray], public: bool, block: int) -> None:
    values = {"terms": list(entries), "sizes": list(map(len, entries.values())), "packed": b"".join(entries.values())}
    database.run(PACK, values | {"public": public, "block": block})
