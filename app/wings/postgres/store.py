"""LangChain's interface to the chunks of an index in PostgreSQL."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any
from uuid import uuid4

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.vectorstores import VectorStore
from numpy.typing import NDArray
from sqlalchemy import Connection, text

from app.adapters.stores.index import REBUILD, Recipe
from app.wings.postgres.database import Database
from app.wings.postgres.partition import Partition, condition, half
from app.wings.postgres.schema import SCHEMA
from app.wings.postgres.vocabulary import Tokenizer
from app.wings.postgres.writing import MOST_TOKENS, Row, add_chunks, as_vector, delete_chunks, from_wire
from chains.errors import ConfigurationError

NEAREST = """
SELECT id, 1 - (embedding <=> CAST(:vector AS vector)) AS similarity FROM (
    SELECT id, embedding FROM {chunks} AS chunks WHERE {where} ORDER BY {embedding} <=> {asked} LIMIT :limit
) AS near ORDER BY similarity DESC
"""
# All that a filter lets through, each compared: a search by the index goes through many others to find them, and gives
# up at some point.
NEAREST_OF_FEW = """
WITH allowed AS MATERIALIZED (SELECT id, embedding FROM {chunks} AS chunks WHERE {where})
SELECT id, 1 - (embedding <=> CAST(:vector AS vector)) AS similarity FROM allowed ORDER BY similarity DESC LIMIT :limit
"""
# Of so many it takes about as long as a search by the index does.
MOST_COMPARED = 20_000
ALLOWED = "SELECT count(*) FROM (SELECT FROM {chunks} AS chunks WHERE {where} LIMIT :most) AS allowed"
# Filters whose numbers of chunks are remembered: callers may name any category.
MOST_REMEMBERED = 1000
# Counted with every change: to count a million rows takes a while.
COUNT = f"SELECT chunks FROM {SCHEMA}.indexes WHERE index = :index"
DIMENSIONS = f"SELECT dimensions FROM {SCHEMA}.indexes WHERE index = :index"
STATE_DIMENSIONS = f"UPDATE {SCHEMA}.indexes SET dimensions = :dimensions WHERE index = :index"


class PostgresStore(VectorStore):
    """The chunks of one index, with their vectors and words.

    `indexed` says whether their vectors are indexed from the first one on; else `index_vectors` does it for all.
    """

    gone = False

    def __init__(
        self,
        database: Database,
        partition: Partition,
        recipe: Recipe,
        *,
        tokenizer: Tokenizer,
        indexed: bool = True,
    ) -> None:
        self._database, self._partition, self._recipe = database, partition, recipe
        self._tokenizer, self._indexed = tokenizer, indexed
        self._dimensions: int | None = None
        self._few: dict[frozenset[tuple[str, str]], bool] = {}  # By filter; an index that has changed is opened anew.

    @property
    def embeddings(self) -> Embeddings:
        """The model that makes the vectors."""
        return self._recipe.embeddings

    @property
    def generation(self) -> str:
        """Identifies this index; one that replaces it has another value."""
        return str(self._partition.number)

    def add_documents(self, documents: list[Document], *, ids: list[str] | None = None, **kwargs: Any) -> list[str]:
        """Embed and keep the documents under their `ids`; one that is there already is replaced."""
        ids = ids or [document.id or str(uuid4()) for document in documents]
        vectors = self.embeddings.embed_documents([self._recipe.text(document) for document in documents])
        fields = list(map(self._recipe.fields, documents))
        counts = self._tokenizer.counts(list(map("\n".join, fields)))
        tokens = (min(MOST_TOKENS, count.total()) for count in counts)
        rows = map(Row, ids, documents, (words for _, _, words in fields), vectors, counts, tokens)
        unique = dict(zip(ids, rows, strict=True))
        if unique:
            with self._database.transaction() as connection:
                self._fit(connection, len(vectors[0]))
                delete_chunks(connection, self._partition, ids)
                add_chunks(self._database, self._partition, list(unique.values()))
        return ids

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> None:
        """Delete the documents with these `ids`; an unknown one is not an error."""
        if ids:
            with self._database.transaction() as connection:
                delete_chunks(connection, self._partition, ids)

    def index_vectors(self, connection: Connection) -> None:
        """Index the vectors that are there."""
        if dimensions := self._known_dimensions(connection):
            self._partition.index_vectors(connection, dimensions)

    def reading(self) -> AbstractContextManager[object]:
        """Let all that the body reads be of one moment."""
        return self._database.reading()

    def count(self) -> int:
        """Return the number of documents."""
        with self._database.transaction() as connection:
            return int(connection.execute(text(COUNT), {"index": self._partition.number}).scalar() or 0)

    def ids(self) -> list[str]:
        """Return the ids of all documents."""
        return [id_ for (id_,) in self._rows("SELECT id FROM {chunks}")]

    def nearest(self, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return the similarities of the documents nearest to `vector` by id, the nearest first."""
        with self._database.transaction() as connection:
            if self._known_dimensions(connection) is None:
                return {}
            self._fit(connection, len(vector))
            found = {} if self._leaves_few(where) else self._nearest(NEAREST, vector, limit, where)
            return self._nearest(NEAREST_OF_FEW, vector, limit, where) if where and len(found) < limit else found

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of the given documents by id, without those that are not there."""
        rows = self._rows("SELECT id, vector_send(embedding) FROM {chunks} WHERE id = ANY(:ids)", ids=list(ids))
        return {id_: from_wire(vector) for id_, vector in rows}

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return the given documents, in any order, without those that are not there."""
        rows = self._rows("SELECT id, content, metadata FROM {chunks} WHERE id = ANY(:ids)", ids=list(ids))
        return [Document(id=id_, page_content=content, metadata=metadata) for id_, content, metadata in rows]

    def similarity_search_with_score(
        self, query: str, k: int = 4, *, filter: Mapping[str, str] | None = None, **kwargs: Any
    ) -> list[tuple[Document, float]]:
        """Return the documents nearest to a text, with their similarities."""
        scores = self.nearest(self.embeddings.embed_query(query), k, filter or {})
        documents = {document.id: document for document in self.get_by_ids(list(scores))}
        return [(documents[id_], score) for id_, score in scores.items() if id_ in documents]

    def similarity_search(self, query: str, k: int = 4, **kwargs: Any) -> list[Document]:
        """Return the documents nearest to a text."""
        return [document for document, _ in self.similarity_search_with_score(query, k, **kwargs)]

    @classmethod
    def from_texts(cls, *args: Any, **kwargs: Any) -> "PostgresStore":
        """Refuse: a store belongs to an index, which makes it."""
        raise NotImplementedError

    def _leaves_few(self, where: Mapping[str, str]) -> bool:
        if not where:
            return False
        if len(self._few) > MOST_REMEMBERED:
            self._few.clear()
        key = frozenset(where.items())
        few = self._few.get(key)
        if few is None:
            filters, values = condition(where)
            [[allowed]] = self._rows(ALLOWED, where=filters, most=MOST_COMPARED, **values)
            self._few[key] = few = allowed < MOST_COMPARED
        return few

    def _nearest(self, query: str, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> dict[str, float]:
        filters, values = condition(where)
        expressions = {name: half(value, len(vector)) for name, value in _VALUES.items()}
        rows = self._rows(query, **expressions, where=filters, vector=as_vector(vector), limit=limit, **values)
        return {id_: min(1.0, max(0.0, similarity)) for id_, similarity in rows}

    def _rows(self, query: str, **values: Any) -> Any:
        shape = {"chunks": self._partition.chunks, **{name: values.pop(name, "") for name in (*_VALUES, "where")}}
        with self._database.transaction() as connection:
            return connection.execute(text(query.format(**shape)), values).all()

    def _known_dimensions(self, connection: Connection) -> int | None:
        if self._dimensions is None:
            self._dimensions = connection.execute(text(DIMENSIONS), {"index": self._partition.number}).scalar()
        return self._dimensions

    def _fit(self, connection: Connection, dimensions: int) -> None:
        """Check vectors of so many dimensions; the first ones say how many the index has.

        Raises:
            ConfigurationError: the index has vectors of another number of dimensions.
        """
        known = self._known_dimensions(connection)
        if known is None:
            values = {"dimensions": dimensions, "index": self._partition.number}
            connection.execute(text(STATE_DIMENSIONS), values)
            if self._indexed:
                self._partition.index_vectors(connection, dimensions)
        elif known != dimensions:
            msg = f"the index has vectors of {known} dimensions, and the embedding model makes {dimensions}; {REBUILD}"
            raise ConfigurationError(msg)


_VALUES = {"embedding": "embedding", "asked": ":vector"}
