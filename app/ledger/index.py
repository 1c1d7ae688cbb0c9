"""The index of passages as an ingestion changes it: new ones are staged, and a change is one transaction."""

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, Final, NamedTuple
from uuid import uuid4

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.ledger.database import Database
from app.ledger.passages import AT_ONCE, Held, Passages
from app.ledger.schema import BLOCK
from app.ledger.vectors import VectorIndex, Vectors, from_vector, index_vectors, to_vector, to_wire
from app.ledger.words import Searched, add_words, delete_words, metadata_of
from chains.documents.audience import FILTERS
from chains.errors import ConfigurationError, IndexBusyError, VectorStoreError
from chains.ingestion.files import Source
from chains.ingestion.index import Change, indexed_fields
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
_ESCAPED_NUL: Final = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
# The columns of `passages`, as COPY sends them.
COLUMNS = {"row": "int8", "id": "text", "doc_id": "text", "number": "int4", "section": "text"}
COLUMNS |= dict.fromkeys((*FILTERS, "content", "meta"), "text") | {"vector": "bytea"}


class Row(NamedTuple):
    """A passage with its id and its vector."""

    id: str
    document: Document
    vector: NDArray[np.float32]


def as_json(value: Any) -> str:
    """Return a value as JSON whose strings hold no NUL, which PostgreSQL refuses."""
    return _ESCAPED_NUL.sub(r"\1 ", json.dumps(value, ensure_ascii=False))


class PassageIndex(Held):
    """The index in a ledger, by the vectors of one embedding model; `follower` is a second index of them."""

    def __init__(
        self,
        database: Database,
        embeddings: Embeddings,
        embedding_model: str,
        follower: Callable[[], VectorIndex | None],
    ) -> None:
        super().__init__(database)
        self.embeddings, self.embedding_model = embeddings, embedding_model
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
            if made_with not in {None, self.embedding_model}:
                msg = (
                    f"the index in {self.place} was made with the embedding model {made_with!r}, "
                    f"not {self.embedding_model!r}; {REBUILD}, or set EMBEDDING_MODEL"
                )
                raise ConfigurationError(msg)
            return Passages(self.database, self.embeddings, self.vectors, self.version())

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
        return {id_ for (id_,) in self.database.rows(query, model=self.embedding_model, ids=list(ids))}

    def stage(self, chunks: Sequence[Document], vectors: Sequence[Sequence[float]]) -> None:
        def row(chunk: Document, vector: Sequence[float]) -> dict[str, Any]:
            said = {"id": chunk.id, "content": chunk.page_content, "meta": as_json(chunk.metadata)}
            return said | {"model": self.embedding_model, "vector": from_vector(np.asarray(vector))}

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
            delete_words(self.database, stale := sorted(change.stale))
            self.database.run("DELETE FROM passages WHERE id = ANY(:ids)", {"ids": stale})
            added = self._add(self._staged_rows(change.new) if rows is None else iter(rows))
            self.database.run("DELETE FROM staged")
            if not (self._write_sources(change, written or {}) or added or change.stale or change.reset):
                return
            self.database.state("version", version)
            self.database.state("embedding_model", self.embedding_model)
            self.database.state("format", str(FORMAT))
        if self.database.dialect == "postgresql" and abs(self.count() - before) > GROWTH * before:
            with self.database.changing():
                self.database.take_time()
                self.database.run("ANALYZE passages, words, postings")
        with suppress(VectorStoreError):  # Who reads now keeps the log; the next change empties it.
            self.database.scrub()
        self.follow(version)

    def follow(self, version: str) -> None:
        """Bring the follower to a version; where that fails, questions are answered without it."""
        try:
            self.vectors.fill(version)
        except Exception as error:  # Whatever a stranger's package raises.
            log.warning("exact_search", index=getattr(self.vectors.follower, "place", ""), reason=str(error)[:200])

    def _add(self, rows: Iterator[Row]) -> int:
        first = int(self.database.value("SELECT coalesce(max(row), 0) FROM passages")) + 1
        number, stated = first, self.database.fact("dimensions")
        encode = to_wire if self.database.dialect == "postgresql" else from_vector
        while batch := list(islice(rows, BLOCK - number % BLOCK)):  # The words of a block are written once.
            sizes = {len(row.vector) for row in batch} | ({int(stated)} if stated else set())
            if len(sizes) > 1:
                msg = f"the index has vectors of {stated} dimensions, and the embedding model makes others; {REBUILD}"
                raise ConfigurationError(msg)
            stated = str(*sizes)
            numbered = list(enumerate(batch, start=number))
            self.database.add_rows("passages", COLUMNS, (_values(*each, encode(each[1].vector)) for each in numbered))
            words = [
                Searched(place, document.metadata.get("audience") == "public", *indexed_fields(document))
                for place, (_, document, _) in numbered
            ]
            add_words(self.database, words)
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


def clear(database: Database) -> None:
    for table in ("passages", "words", "postings", "sources"):
        database.run(f"DELETE FROM {table}")
    database.run("DELETE FROM facts WHERE name IN ('dimensions', 'scopes')")


def _values(number: int, row: Row, vector: bytes) -> list[Any]:
    """Return what the columns of a passage hold."""
    metadata = row.document.metadata
    filtered = (None if metadata.get(name) is None else str(metadata[name]) for name in FILTERS)
    place = int(metadata.get("chunk_index") or 0), str(metadata.get("section") or "")
    content = row.document.page_content, as_json(metadata), vector
    return [number, row.id, str(metadata.get("doc_id") or row.id), *place, *filtered, *content]
