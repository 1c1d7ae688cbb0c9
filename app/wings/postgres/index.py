"""An index in PostgreSQL, shared by all hosts: opened, locked, changed in transactions, and replaced as a whole."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection, text

from app.adapters.stores.index import FORMAT, Change, Recipe, StoredIndex, check_label
from app.wings.postgres.contents import PostgresSnapshot
from app.wings.postgres.database import Database
from app.wings.postgres.partition import Partition
from app.wings.postgres.schema import SCHEMA, check_schema
from app.wings.postgres.store import PostgresStore
from app.wings.postgres.vocabulary import Tokenizer
from app.wings.postgres.words import PostgresWords, Size
from chains.errors import IndexBusyError, VectorStoreError

CURRENT = f"""
SELECT indexes.index AS number, version, embedding_model, format, chunks, tokens, public_chunks, public_tokens
FROM {SCHEMA}.collections
JOIN {SCHEMA}.indexes ON indexes.index = collections.index WHERE name = :name
"""
MAKE = f"""
INSERT INTO {SCHEMA}.indexes (collection, embedding_model, format) VALUES (:name, :model, :format) RETURNING index
"""
USE = f"""
INSERT INTO {SCHEMA}.collections (name, index) VALUES (:name, :index)
ON CONFLICT (name) DO UPDATE SET index = excluded.index
"""
UNUSED = f"""
SELECT index FROM {SCHEMA}.indexes WHERE collection = :name
AND index NOT IN (SELECT index FROM {SCHEMA}.collections WHERE index IS NOT NULL)
"""
FORGET = f"DELETE FROM {SCHEMA}.indexes WHERE index = :index"
# Of all processes that find no index, one makes it; of all that ingest, one does so at a time.
MAKE_ALONE = "SELECT pg_advisory_xact_lock(hashtext('waypoint.make'), hashtext(:name))"
INGEST_ALONE = "SELECT pg_try_advisory_lock(hashtext('waypoint.ingest'), hashtext(:name))"
LET_OTHERS_INGEST = "SELECT pg_advisory_unlock(hashtext('waypoint.ingest'), hashtext(:name))"
# By what share the chunks have to grow or shrink before the server counts them anew.
GROWTH = 0.1


class _State(NamedTuple):
    number: int
    version: int
    embedding_model: str
    format: int
    chunks: int
    tokens: int
    public_chunks: int
    public_tokens: int


class PostgresIndex(StoredIndex):
    """The index of a collection; every change is a transaction, after which all hosts see it."""

    def __init__(self, database: Database, collection: str, recipe: Recipe) -> None:
        super().__init__(recipe)
        self._database, self._collection = database, collection
        self._tokenizer = Tokenizer()
        self._is_checked = False

    @property
    def place(self) -> str:
        """Return the address of the database, without the password."""
        return f"postgres at {self._database.address}"

    def version(self) -> str | None:
        """Return the number of the index and of its last change; None where it was never made."""
        with self._checked().transaction() as connection:
            state = self._state(connection)
            return f"{state.number}.{state.version}" if state else None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of an ingestion, over one connection: it is released however the process ends."""
        with self._checked().unhurried() as connection:
            with connection.begin():
                ours = connection.execute(text(INGEST_ALONE), {"name": self._collection}).scalar()
            if not ours:
                msg = "another ingestion into the same store is at work, here or on another host; wait until it is done"
                raise IndexBusyError(msg)
            try:
                yield
            finally:
                # The end of the connection does it as well, but a moment later.
                with suppress(VectorStoreError), self._database.transaction():
                    connection.execute(text(LET_OTHERS_INGEST), {"name": self._collection})

    def open(self) -> PostgresSnapshot:
        """Open the index as it is now; one that was never made is made, empty."""
        with self._checked().transaction() as connection:
            state = self._state(connection) or self._make_first(connection)
        check_label(
            self._collection,
            made_format=state.format,
            made_with=state.embedding_model,
            embedding_model=self.recipe.embedding_model,
        )
        return self._opened(state)

    def change(self, *, reset: bool) -> Change:
        """Begin an ingestion: in place, or beside the index for a `reset`."""
        self._clean()
        if not reset:
            before = self.open()
            return Change(before, lambda: before, partial(self._count_anew, before.store.count()))
        with self._checked().transaction() as connection:
            made = self._make(connection)
        # The vectors are indexed when all are there, which takes a fraction of the time.
        target = self._opened(made, indexed=False)
        return Change(target, lambda: target, self._publish, target)

    def _checked(self) -> Database:
        if not self._is_checked:
            check_schema(self._database)
            self._is_checked = True
        return self._database

    def _state(self, connection: Connection) -> _State | None:
        row = connection.execute(text(CURRENT), {"name": self._collection}).one_or_none()
        return _State(*row) if row else None

    def _opened(self, state: _State, **options: bool) -> PostgresSnapshot:
        partition = Partition(state.number)
        store = PostgresStore(self._database, partition, self.recipe, tokenizer=self._tokenizer, **options)
        words = PostgresWords(
            self._database,
            partition,
            size=Size(state.chunks, state.tokens),
            public=Size(state.public_chunks, state.public_tokens),
            tokenizer=self._tokenizer,
        )
        return PostgresSnapshot(self._database, partition, store, words, f"{state.number}.{state.version}")

    def _make_first(self, connection: Connection) -> _State:
        connection.execute(text(MAKE_ALONE), {"name": self._collection})
        if state := self._state(connection):  # Another process was faster.
            return state
        made = self._make(connection)
        connection.execute(text(USE), {"name": self._collection, "index": made.number})
        return made

    def _make(self, connection: Connection) -> _State:
        made = {"name": self._collection, "model": self.recipe.embedding_model, "format": FORMAT}
        partition = Partition(connection.execute(text(MAKE), made).scalar_one())
        partition.create(connection)
        return _State(partition.number, 1, self.recipe.embedding_model, FORMAT, 0, 0, 0, 0)

    def _publish(self, target: PostgresSnapshot) -> None:
        with self._database.transaction() as connection:
            target.store.index_vectors(connection)
            target.partition.analyze(connection)
            connection.execute(text(USE), {"name": self._collection, "index": target.partition.number})
        self._clean()

    def _count_anew(self, before: int, target: PostgresSnapshot) -> None:
        """Let the server plan for as many rows as there are, where they have become much more or fewer."""
        if abs(target.store.count() - before) > GROWTH * before:
            with self._database.transaction() as connection:
                target.partition.analyze(connection)

    def _clean(self) -> None:
        """Delete the indexes that were replaced, and those of runs that were cut off."""
        with self._checked().transaction() as connection:
            for index in connection.execute(text(UNUSED), {"name": self._collection}).scalars().all():
                Partition(index).drop(connection)
                connection.execute(text(FORGET), {"index": index})
