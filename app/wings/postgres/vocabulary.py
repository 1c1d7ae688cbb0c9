"""The terms of texts, as SQLite has them, and what was read of the words of an index since it was opened."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeVar

from sqlalchemy import Connection, text

from app.adapters.stores.search_words import LONG, LongDocument, closest, words_of
from app.wings.postgres.driver import keepable
from app.wings.postgres.partition import Partition
from chains.text.words import one_error_away, stem

TOKENIZER = "porter unicode61"
_TABLES = f"""
CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = '{TOKENIZER}');
CREATE VIRTUAL TABLE tokens USING fts5vocab(texts, 'instance');
"""


class Tokenizer:
    """Counts the terms of texts in an FTS5 table in memory, so that both word indexes hold the same; thread-safe."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection.executescript(_TABLES)
        self._lock = threading.Lock()

    def counts(self, texts: Sequence[str]) -> list[Counter[str]]:
        """Return how often each text holds each of its terms."""
        found: list[Counter[str]] = [Counter() for _ in texts]
        with self._lock:
            self._connection.execute("DELETE FROM texts")
            rows = ((place, keepable(text)) for place, text in enumerate(texts, start=1))
            self._connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
            for term, place, count in self._connection.execute("SELECT term, doc, count(*) FROM tokens GROUP BY 1, 2"):
                found[place - 1][term] = count
        return found


# Words that are remembered: a question may hold any.
MOST_REMEMBERED = 10_000
TERMS = "SELECT term, number, {count} FROM {table} WHERE term = ANY(:terms) AND {count} > 0"
MOST_FREQUENT = """
SELECT term FROM {table} WHERE term = ANY(:terms) AND {count} > 0 ORDER BY {count} DESC, term LIMIT 1
"""
EXAMPLE = """
SELECT chunks.searched FROM {table} AS known JOIN {postings} AS posting ON posting.term = known.number
JOIN {chunks} AS chunks ON chunks.number = posting.chunk
WHERE known.term = :term AND {shown} ORDER BY posting.chunk LIMIT 1
"""
LONG_DOCUMENTS = f"""
SELECT long.document, long.size, coalesce(chunks.metadata ->> 'title', '') FROM (
    SELECT document, count(*) AS size, min(position) AS first FROM {{chunks}} AS chunks
    WHERE {{shown}} GROUP BY document HAVING count(*) >= {LONG}
) AS long JOIN {{chunks}} AS chunks ON chunks.document = long.document AND chunks.position = long.first
"""
T = TypeVar("T")


class Term(NamedTuple):
    """The number of a term, and how many chunks hold it: none, of one that the index does not know."""

    number: int
    chunks: int


class PostgresVocabulary:
    """The words in a table of terms, for any number of threads; an index that changes is opened anew.

    `count` is the column that says how many chunks hold a term: of all chunks, or of the public ones alone.

    Raises:
        VectorStoreError: the database does not answer. So does what `over` returns.
    """

    def __init__(self, partition: Partition, count: Literal["chunks", "public_chunks"], tokenizer: Tokenizer) -> None:
        self.shape = {"table": partition.terms, "count": count}
        shown = "chunks.audience = 'public'" if count == "public_chunks" else "true"
        tables = {"table": partition.terms, "postings": partition.postings, "chunks": partition.chunks}
        self.example = EXAMPLE.format(**tables, shown=shown)
        self.long_documents = LONG_DOCUMENTS.format(chunks=partition.chunks, shown=shown)
        self.tokenizer = tokenizer
        self.names: dict[str, list[str]] = {}  # The terms of a word: it may be several, or none.
        self.terms: dict[str, Term] = {}
        self.nearest: dict[str, str] = {}
        self.long: list[LongDocument] | None = None

    def over(self, connection: Connection) -> "Reading":
        """Return the words as a question reads them, over this connection."""
        memories: tuple[dict[Any, Any], ...] = (self.names, self.terms, self.nearest)
        for memory in memories:
            if len(memory) > MOST_REMEMBERED:
                memory.clear()
        return Reading(self, connection)


@dataclass(frozen=True)
class Reading:
    """One question's look at the words of an index."""

    vocabulary: PostgresVocabulary
    connection: Connection

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """Return the number of chunks that hold each word; 0 for one that none does."""
        terms = self._terms(words)
        return {word: min((term.chunks for term in terms[word]), default=0) for word in words}

    def nearest(self, word: str) -> str | None:
        """Return a known word whose stem is one typing error away, of several that which most chunks hold, or None."""
        memory = self.vocabulary.nearest
        found = memory.get(word)
        if found is None:
            found = memory[word] = self._nearest(word) or ""
        return found or None

    def long_documents(self) -> list[LongDocument]:
        """Return the documents of at least `LONG` chunks."""
        found = self.vocabulary.long
        if found is None:
            rows = self.connection.execute(text(self.vocabulary.long_documents))
            found = [LongDocument(id_, chunks, frozenset(words_of(title))) for id_, chunks, title in rows]
            self.vocabulary.long = found
        return found

    def _nearest(self, word: str) -> str | None:
        query, stems = MOST_FREQUENT.format(**self.vocabulary.shape), {"terms": list(one_error_away(stem(word)))}
        term = self.connection.execute(text(query), stems).scalar()
        example = self.connection.execute(text(self.vocabulary.example), {"term": term}).scalar() if term else None
        return closest(word, example) if example else None

    def terms_of(self, words: Sequence[str]) -> list[Term]:
        """Return the terms of the words that the index holds."""
        return [term for terms in self._terms(words).values() for term in terms if term.chunks]

    def _terms(self, words: Sequence[str]) -> dict[str, list[Term]]:
        names = _remembered(self.vocabulary.names, words, self._names)
        terms = _remembered(self.vocabulary.terms, sorted({*chain.from_iterable(names.values())}), self._read)
        return {word: [terms[name] for name in names[word]] for word in words}

    def _names(self, words: Sequence[str]) -> dict[str, list[str]]:
        return dict(zip(words, map(list, self.vocabulary.tokenizer.counts(words)), strict=True))

    def _read(self, names: Sequence[str]) -> dict[str, Term]:
        rows = self.connection.execute(text(TERMS.format(**self.vocabulary.shape)), {"terms": list(names)})
        return dict.fromkeys(names, Term(0, 0)) | {name: Term(*counts) for name, *counts in rows}


def _remembered(
    memory: dict[str, T], names: Sequence[str], read: Callable[[Sequence[str]], dict[str, T]]
) -> dict[str, T]:
    """Return the values by name, reading those that are not in the memory, which another thread may clear."""
    known = {name: value for name in names if (value := memory.get(name)) is not None}
    if new := [name for name in names if name not in known]:
        found = read(new)
        memory |= found
        known |= found
    return known
