"""The words of an index in PostgreSQL: BM25 from terms and postings, equal to that of the index in SQLite."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from typing import NamedTuple

from langchain_core.documents import Document
from sqlalchemy import Connection, text

from app.adapters.postgres.database import Database
from app.adapters.stores.fts import NEAR_WEIGHT
from app.adapters.stores.index import Fields, HeldDocument
from app.adapters.stores.postgres.filters import condition
from app.adapters.stores.postgres.partition import Partition
from app.adapters.stores.postgres.tokens import Tokenizer
from app.adapters.stores.search_words import choose, misspelt
from chains.ports import Place

# About how many postings a search reads.
BUDGET = 5000
# As FTS5 has them.
K1, B, LEAST_IDF = 1.2, 0.75, 1e-6
SCORED = f"""
SELECT posting.chunk, sum(asked.weight * posting.count * {K1 + 1}
    / (posting.count + {K1} * ({1 - B} + {B} * posting.tokens / :average))) AS score
FROM unnest(CAST(:terms AS integer[]), CAST(:weights AS float8[])) AS asked (term, weight)
JOIN {{postings}} AS posting ON posting.term = asked.term
"""
SEARCH = f"""
SELECT chunks.id, best.score FROM ({SCORED} GROUP BY posting.chunk ORDER BY score DESC LIMIT :limit) AS best
JOIN {{chunks}} AS chunks ON chunks.number = best.chunk ORDER BY best.score DESC, chunks.id
"""
SEARCH_WHERE = f"""
SELECT chunks.id, best.score FROM ({SCORED} GROUP BY posting.chunk) AS best
JOIN {{chunks}} AS chunks ON chunks.number = best.chunk WHERE {{where}} ORDER BY best.score DESC, chunks.id LIMIT :limit
"""
PLACES = "SELECT id, document, position, section, content, metadata FROM {chunks} WHERE id = ANY(:ids)"
DOCUMENTS = """
SELECT document, count(*), (array_agg(id ORDER BY position))[1], (array_agg(id ORDER BY position DESC))[1]
FROM {chunks} GROUP BY document
"""


class Size(NamedTuple):
    """How many chunks an index holds, and how many tokens they have in all."""

    chunks: int
    tokens: int

    @property
    def average(self) -> float:
        """The tokens of a chunk."""
        return self.tokens / self.chunks if self.chunks else 1.0


class _Term(NamedTuple):
    number: int
    chunks: int


class PostgresWords:
    """The words of the chunks of one index, as large as `size` when it was opened."""

    def __init__(
        self, database: Database, partition: Partition, *, fields: Fields, size: Size, tokenizer: Tokenizer
    ) -> None:
        self._database, self._partition = database, partition
        self._fields, self._size, self._tokenizer = fields, size, tokenizer

    def count(self) -> int:
        """Return the number of chunks."""
        with self._database.transaction() as connection:
            return int(connection.execute(text(f"SELECT count(*) FROM {self._partition.chunks}")).scalar_one())

    def search(self, question: str, limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return BM25 by chunk id, best first, 0 and up; empty when no word of the question is known.

        For a word that no chunk holds, the known word that is one typing error away is searched as well, if there is
        one; what it finds counts for less.
        """
        with self._database.transaction() as connection:
            vocabulary = self._vocabulary(connection)
            words, near = choose(question, vocabulary, budget=BUDGET)
            weights: Counter[int] = Counter()
            for chosen, share in ((words, 1.0), (near, NEAR_WEIGHT)):
                for term in vocabulary.terms_of(chosen):
                    weights[term.number] += share * self._idf(term)  # type: ignore[assignment] # Counter adds floats.
            return self._found(connection, weights, limit, where) if weights else {}

    def misspelt(self, question: str) -> list[str]:
        """Return the words of the question that no chunk holds, and that may be typing errors of words some hold."""
        with self._database.transaction() as connection:
            return misspelt(question, self._vocabulary(connection))

    def places(self, ids: Sequence[str]) -> dict[str, Place]:
        """Return the places of the given chunks by id; an unknown id is left out."""
        with self._database.transaction() as connection:
            rows = connection.execute(text(PLACES.format(chunks=self._partition.chunks)), {"ids": list(ids)})
            return {
                id_: Place(document, number, section, self._fields(Document(content, metadata=metadata))[2])
                for id_, document, number, section, content, metadata in rows
            }

    def documents(self) -> list[HeldDocument]:
        """Return what is held of every document."""
        with self._database.transaction() as connection:
            rows = connection.execute(text(DOCUMENTS.format(chunks=self._partition.chunks)))
            return [HeldDocument(*row) for row in rows]

    def chunks_of(self, document: str) -> list[str]:
        """Return the ids of a document's chunks, in order; empty where it is unknown."""
        query = f"SELECT id FROM {self._partition.chunks} WHERE document = :document ORDER BY position"
        with self._database.transaction() as connection:
            return [id_ for (id_,) in connection.execute(text(query), {"document": document})]

    def _vocabulary(self, connection: Connection) -> "_Vocabulary":
        return _Vocabulary(connection, self._partition, self._tokenizer)

    def _idf(self, term: _Term) -> float:
        return max(LEAST_IDF, log((self._size.chunks - term.chunks + 0.5) / (term.chunks + 0.5)))

    def _found(
        self, connection: Connection, weights: Mapping[int, float], limit: int, where: Mapping[str, str]
    ) -> dict[str, float]:
        partition = self._partition
        filters, values = condition(where)
        query = (SEARCH_WHERE if where else SEARCH).format(
            postings=partition.postings, chunks=partition.chunks, where=filters
        )
        asked = {"terms": list(weights), "weights": list(weights.values()), "average": self._size.average}
        return dict(map(tuple, connection.execute(text(query), asked | {"limit": limit} | values)))


@dataclass
class _Vocabulary:
    """What an index knows of its words, for one question."""

    connection: Connection
    partition: Partition
    tokenizer: Tokenizer
    _terms: dict[str, list[str]] = field(default_factory=dict)  # By word; one word may be several terms.
    _known: dict[str, _Term] = field(default_factory=dict)

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """Return the number of chunks that hold each word; 0 for one that none does."""
        if not words:
            return {}
        self._terms |= {word: list(counts) for word, counts in zip(words, self.tokenizer.counts(words), strict=True)}
        wanted = {term for word in words for term in self._terms[word]}
        query = f"SELECT term, number, chunks FROM {self.partition.terms} WHERE term = ANY(:terms) AND chunks > 0"
        rows = self.connection.execute(text(query), {"terms": list(wanted)})
        self._known |= {term: _Term(number, chunks) for term, number, chunks in rows}
        return {word: min((self._chunks(term) for term in self._terms[word]), default=0) for word in words}

    def most_frequent(self, stems: Collection[str]) -> str | None:
        """Return the stem that most chunks hold, of several the first by letters; None where none is known."""
        query = f"""
            SELECT term FROM {self.partition.terms} WHERE term = ANY(:terms) AND chunks > 0
            ORDER BY chunks DESC, term LIMIT 1
            """
        return self.connection.execute(text(query), {"terms": list(stems)}).scalar()

    def terms_of(self, words: Iterable[str]) -> list[_Term]:
        """Return the known terms of words that were looked up."""
        return [self._known[term] for word in words for term in self._terms[word] if term in self._known]

    def _chunks(self, term: str) -> int:
        return self._known[term].chunks if term in self._known else 0
