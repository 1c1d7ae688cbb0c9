"""Full-text index of chunks in an SQLite file: FTS5, BM25, English stems.

The vector store passes on every change. Everything in the index comes from the store, so a file that is missing,
broken, of another version or out of date is rebuilt from the store.
"""

import json
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.utils import batch_iterate

from app.adapters.private_files import make_private_file, make_private_folder
from app.adapters.stores.index import Fields, HeldDocument
from app.adapters.stores.search_words import FtsVocabulary, choose, correct, named
from chains.errors import VectorStoreError
from chains.ports import ChunkPlace, ChunkStore

VERSION = 4  # 4: public chunks have a table of their own.
# What strangers are answered by: of words that only internal chunks hold, nothing may be told, not even by the scores
# and the order of public ones. It indexes rows of `words`, and keeps no text itself.
SCHEMA = f"""
PRAGMA journal_mode = WAL;
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5(title, section, text, tokenize = 'porter unicode61');
CREATE VIRTUAL TABLE IF NOT EXISTS public_words USING fts5(
    title, section, text, content = words, tokenize = 'porter unicode61'
);
CREATE TABLE IF NOT EXISTS chunks (
    id TEXT PRIMARY KEY, row INTEGER NOT NULL UNIQUE, document TEXT NOT NULL, number INTEGER NOT NULL,
    section TEXT NOT NULL, audience TEXT, category TEXT, jurisdiction TEXT
);
CREATE INDEX IF NOT EXISTS chunks_by_document ON chunks (document, number);
CREATE VIRTUAL TABLE IF NOT EXISTS words_terms USING fts5vocab(words, 'row');
CREATE VIRTUAL TABLE IF NOT EXISTS public_words_terms USING fts5vocab(public_words, 'row');
CREATE TABLE IF NOT EXISTS state (generation TEXT NOT NULL);
PRAGMA user_version = {VERSION};
"""
SEARCH = """
SELECT id, -score FROM (
    SELECT rowid AS found, bm25({words}) AS score FROM {words} WHERE {words} MATCH :match ORDER BY score LIMIT :limit
) JOIN chunks ON row = found ORDER BY score
"""
SEARCH_WHERE = """
SELECT id, -bm25({words}) AS score FROM {words} JOIN chunks ON row = {words}.rowid
WHERE {words} MATCH :match
  AND (:audience IS NULL OR audience = :audience)
  AND (:category IS NULL OR category = :category)
  AND (:jurisdiction IS NULL OR jurisdiction = :jurisdiction)
ORDER BY score DESC LIMIT :limit
"""
ADD_PUBLIC = "INSERT INTO public_words (rowid, title, section, text) VALUES (?, ?, ?, ?)"
# An index over another table's rows must be given the deleted content.
DROP_PUBLIC = """
INSERT INTO public_words (public_words, rowid, title, section, text)
SELECT 'delete', rowid, title, section, text FROM words WHERE rowid = ?
"""
PLACES = """
SELECT id, document, number, chunks.section, text FROM chunks JOIN words ON words.rowid = row
WHERE id IN (SELECT value FROM json_each(?))
"""
# A column beside min() or max() is that of the row which has it.
DOCUMENTS = """
SELECT first.document, first.chunks, first.id, last.id
FROM (SELECT document, count(*) AS chunks, min(number), id FROM chunks GROUP BY document) AS first
JOIN (SELECT document, max(number), id FROM chunks GROUP BY document) AS last ON last.document = first.document
"""
FILTERED = ("audience", "category", "jurisdiction")
# How many chunks one statement names, or one read of the store returns.
BATCH = 1000


class LexicalIndex:
    """BM25 over chunks in an SQLite file, for any number of threads, each with a connection of its own.

    `fields` returns the searched parts of a chunk: its title, its section path and its text. A search reads at most
    about `budget` matching rows: it uses the question's rarest words first, and leaves out frequent words once they
    would exceed the budget. In a small collection it uses every word. `has_deleted` says whether chunks were deleted.
    """

    def __init__(self, path: Path, *, fields: Fields, budget: int = 5000) -> None:
        self.folder = path.parent
        self._path = path
        self._fields = fields
        self._budget = budget
        self._local = _Local()
        self.has_deleted = False
        self._open()

    def add(self, ids: Sequence[str], documents: Sequence[Document]) -> None:
        """Add the chunks in one transaction; a chunk replaces the one with its id."""
        with self._changing() as connection:
            _drop(connection, ids)
            for id_, document in zip(ids, documents, strict=True):
                fields = self._fields(document)
                row = connection.execute("INSERT INTO words VALUES (?, ?, ?)", fields).lastrowid
                if document.metadata.get("audience") == "public":
                    connection.execute(ADD_PUBLIC, (row, *fields))
                values = (id_, row, *_labels(id_, document))
                connection.execute("INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def delete(self, ids: Sequence[str]) -> None:
        """Delete the chunks in one transaction; an unknown id is not an error."""
        self.has_deleted = True
        with self._changing() as connection:
            _drop(connection, ids)

    def forget_deleted(self) -> None:
        """Merge the index, so that no word of deleted chunks stays in the file: takes as long as to copy the index."""
        with self._reading() as connection:
            for table in ("words", "public_words"):
                connection.execute(f"INSERT INTO {table} ({table}) VALUES ('optimize')")  # noqa: S608 - names of ours.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def count(self) -> int:
        """Return the number of chunks."""
        with self._reading() as connection:
            return int(connection.execute("SELECT count(*) FROM chunks").fetchone()[0])

    def search(self, question: str, limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return BM25 by chunk id, best first, 0 and up; empty when no word of the question is known.

        A search of public chunks knows the words and the figures of those alone.
        """
        with self._reading() as connection:
            vocabulary = self._local.vocabulary(connection, public=where.get("audience") == "public")
            return _search(
                connection, vocabulary.table, choose(question, vocabulary, budget=self._budget), limit, where
            )

    def corrected(self, question: str, where: Mapping[str, str], is_word: Callable[[str], bool]) -> str:
        """Return the question with the words of the index in place of its typing errors."""
        with self._reading() as connection:
            vocabulary = self._local.vocabulary(connection, public=where.get("audience") == "public")
            return correct(question, vocabulary, is_word)

    def named(self, question: str, where: Mapping[str, str]) -> dict[str, float]:
        """Return the long documents that the question names, by id the part of the named words they are named by."""
        with self._reading() as connection:
            return named(question, self._local.vocabulary(connection, public=where.get("audience") == "public"))

    def places(self, ids: Sequence[str]) -> dict[str, ChunkPlace]:
        """Return the places of the given chunks by id; an unknown id is left out."""
        found: dict[str, ChunkPlace] = {}
        with self._reading() as connection:
            for batch in batch_iterate(BATCH, ids):
                rows = connection.execute(PLACES, (json.dumps(batch),))
                found |= {id_: ChunkPlace(*place) for id_, *place in rows}
        return found

    def documents(self) -> list[HeldDocument]:
        """Return what is held of every document."""
        with self._reading() as connection:
            return [HeldDocument(*row) for row in connection.execute(DOCUMENTS)]

    def chunks_of(self, document: str) -> list[str]:
        """Return the ids of a document's chunks, in order; empty where it is unknown."""
        with self._reading() as connection:
            rows = connection.execute("SELECT id FROM chunks WHERE document = ? ORDER BY number", (document,))
            return [id_ for (id_,) in rows]

    def align(self, store: ChunkStore) -> None:
        """Bring the index in line with the store, unless generation and number of chunks are already the same.

        The ids of the index are read before those of the store. The store adds to itself first and deletes from itself
        last, so a chunk that another process adds meanwhile is never deleted here.
        """
        with self._reading() as connection:
            generations = connection.execute("SELECT generation FROM state").fetchall()
            if generations == [(store.generation,)] and self.count() == store.count():
                return
            known = {id_ for (id_,) in connection.execute("SELECT id FROM chunks")}
        present = store.ids()
        self.delete(sorted(known.difference(present)))
        for batch in batch_iterate(BATCH, (id_ for id_ in present if id_ not in known)):
            documents = store.get_by_ids(batch)
            self.add([str(document.id) for document in documents], documents)
        with self._changing() as connection:
            connection.execute("DELETE FROM state")
            connection.execute("INSERT INTO state VALUES (?)", (store.generation,))

    def _open(self) -> None:
        try:
            make_private_folder(self._path.parent)
            make_private_file(self._path)
            version = self._local.connect(self._path).execute("PRAGMA user_version").fetchone()[0]
            broken = version not in {0, VERSION}
        except sqlite3.OperationalError as error:
            raise VectorStoreError(self._explain(error)) from error
        except sqlite3.DatabaseError:
            broken = True
        except OSError as error:
            raise VectorStoreError(self._explain(error)) from error
        if broken:
            self._discard()
        with self._reading() as connection:
            connection.executescript(SCHEMA)

    def _discard(self) -> None:
        self._local.close()
        for ending in ("", "-wal", "-shm"):
            self._path.with_name(self._path.name + ending).unlink(missing_ok=True)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        try:
            yield self._local.connect(self._path)
        except sqlite3.Error as error:
            raise VectorStoreError(self._explain(error)) from error

    @contextmanager
    def _changing(self) -> Iterator[sqlite3.Connection]:
        with self._reading() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")  # Take the write lock before anything is read.
            self._local.forget()
            yield connection

    def _explain(self, error: Exception) -> str:
        return (
            f"the word index {str(self._path)!r} cannot be used ({error}); "
            "check that it can be written and that the disk is not full"
        )


class _Local(threading.local):
    """A thread's own connection, and what it knows of words."""

    def __init__(self) -> None:
        self.connection: sqlite3.Connection | None = None
        self._vocabularies = {False: FtsVocabulary("words"), True: FtsVocabulary("public_words", "public")}

    def connect(self, path: Path) -> sqlite3.Connection:
        if self.connection is None:
            self.connection = sqlite3.connect(path, timeout=30, isolation_level=None)
            self.connection.execute("PRAGMA synchronous = NORMAL")
            self.connection.execute("PRAGMA secure_delete = ON")  # What is deleted is overwritten with zeros.
        return self.connection

    def vocabulary(self, connection: sqlite3.Connection, *, public: bool) -> FtsVocabulary:
        return self._vocabularies[public].over(connection)

    def forget(self) -> None:
        for vocabulary in self._vocabularies.values():
            vocabulary.forget()

    def close(self) -> None:
        if self.connection is not None:
            self.connection.close()
            self.connection = None


def _search(
    connection: sqlite3.Connection, table: str, words: Sequence[str], limit: int, where: Mapping[str, str]
) -> dict[str, float]:
    """Return BM25 of these words by chunk id, best first."""
    if not words:
        return {}
    wanted = {name: where.get(name) for name in FILTERED}
    values = {"match": " OR ".join(f'"{word}"' for word in words), "limit": limit, **wanted}
    query = (SEARCH_WHERE if where else SEARCH).format(words=table)
    return dict(connection.execute(query, values).fetchall())


def _drop(connection: sqlite3.Connection, ids: Sequence[str]) -> None:
    for id_ in ids:
        found = connection.execute("DELETE FROM chunks WHERE id = ? RETURNING row, audience", (id_,)).fetchall()
        for row, audience in found:
            if audience == "public":
                connection.execute(DROP_PUBLIC, (row,))
            connection.execute("DELETE FROM words WHERE rowid = ?", (row,))


def _labels(id_: str, document: Document) -> tuple[str, int, str, str | None, str | None, str | None]:
    metadata = document.metadata
    audience, category, jurisdiction = (metadata.get(name) for name in FILTERED)
    return (
        str(metadata.get("doc_id") or id_),
        int(metadata.get("chunk_index") or 0),
        str(metadata.get("section") or ""),
        audience,
        category,
        jurisdiction,
    )
