"""The words of an index in PostgreSQL: BM25 from terms and postings, equal to that of the index in SQLite."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

from sqlalchemy import Connection, text

from app.adapters.stores.index import HeldDocument
from app.adapters.stores.search_words import choose, correct, named
from app.wings.postgres.database import Database
from app.wings.postgres.partition import Partition, condition
from app.wings.postgres.vocabulary import PostgresVocabulary, Term, Tokenizer
from chains.ports import ChunkPlace

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
PLACES = "SELECT id, document, position, section, searched FROM {chunks} WHERE id = ANY(:ids)"
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


class _Known(NamedTuple):
    """Word statistics that a caller may see: the vocabulary, and the number of chunks behind it."""

    vocabulary: PostgresVocabulary
    size: Size

    def idf(self, term: Term) -> float:
        return max(LEAST_IDF, log((self.size.chunks - term.chunks + 0.5) / (term.chunks + 0.5)))


class PostgresWords:
    """The words of the chunks of one index; all of them and the public ones were so many when it was opened."""

    def __init__(
        self, database: Database, partition: Partition, *, size: Size, public: Size, tokenizer: Tokenizer
    ) -> None:
        self._database, self._partition = database, partition
        self._all = _Known(PostgresVocabulary(partition, "chunks", tokenizer), size)
        self._public = _Known(PostgresVocabulary(partition, "public_chunks", tokenizer), public)

    def count(self) -> int:
        """Return the number of chunks."""
        with self._database.transaction() as connection:
            return int(connection.execute(text(f"SELECT count(*) FROM {self._partition.chunks}")).scalar_one())

    def search(self, question: str, limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return BM25 by chunk id, best first, 0 and up; empty when no word of the question is known.

        A search of public chunks knows the words and the figures of those alone.
        """
        known = self._known(where)
        with self._database.transaction() as connection:
            vocabulary = known.vocabulary.over(connection)
            weights: defaultdict[int, float] = defaultdict(float)
            for term in vocabulary.terms_of(choose(question, vocabulary, budget=BUDGET)):
                weights[term.number] += known.idf(term)
            return self._found(connection, weights, known.size, limit, where) if weights else {}

    def corrected(self, question: str, where: Mapping[str, str], is_word: Callable[[str], bool]) -> str:
        """Return the question with the words of the index in place of its typing errors."""
        with self._database.transaction() as connection:
            return correct(question, self._known(where).vocabulary.over(connection), is_word)

    def named(self, question: str, where: Mapping[str, str]) -> dict[str, float]:
        """Return the long documents that the question names, by id the part of the named words they are named by."""
        with self._database.transaction() as connection:
            return named(question, self._known(where).vocabulary.over(connection))

    def _known(self, where: Mapping[str, str]) -> _Known:
        return self._public if where.get("audience") == "public" else self._all

    def places(self, ids: Sequence[str]) -> dict[str, ChunkPlace]:
        """Return the places of the given chunks by id; an unknown id is left out."""
        with self._database.transaction() as connection:
            rows = connection.execute(text(PLACES.format(chunks=self._partition.chunks)), {"ids": list(ids)})
            return {id_: ChunkPlace(*place) for id_, *place in rows}

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

    def _found(
        self, connection: Connection, weights: Mapping[int, float], size: Size, limit: int, where: Mapping[str, str]
    ) -> dict[str, float]:
        partition = self._partition
        filters, values = condition(where)
        query = (SEARCH_WHERE if where else SEARCH).format(
            postings=partition.postings, chunks=partition.chunks, where=filters
        )
        asked = {"terms": list(weights), "weights": list(weights.values()), "average": size.average}
        return dict(map(tuple, connection.execute(text(query), asked | {"limit": limit} | values)))
