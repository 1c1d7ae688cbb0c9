"""The tables of the ledger: the same over SQLite and PostgreSQL, made in an empty database when it is first used.

A change of these tables is made here, for new databases, and as a step in `STEPS`, for those that are there.
"""

from collections.abc import Callable
from typing import Any, Literal

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import JSON, TypeDecorator, UserDefinedType

# Each brings tables of one version to the next, the first those of version 1, within the transaction of `migrate`.
STEPS: tuple[Callable[[Connection], None], ...] = ()
HEAD = 1 + len(STEPS)  # The version of these tables.
SERIAL = BigInteger().with_variant(Integer, "sqlite")  # SQLite counts by itself in integers only.

metadata = MetaData()


class _PgVector(UserDefinedType[Any]):
    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "vector"


class Vector(TypeDecorator[bytes]):
    """A vector as little-endian 32-bit floats; in PostgreSQL a `vector` of pgvector, given and taken as text."""

    impl = LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> Any:
        return dialect.type_descriptor(_PgVector() if dialect.name == "postgresql" else LargeBinary())


facts = Table(
    "facts",  # version of the index, label of the embedding model, format, scope files, certificate, key of askers
    metadata,
    Column("name", String, primary_key=True),
    Column("value", Text, nullable=False),
)

sources = Table(
    "sources",
    metadata,
    Column("doc_id", String, primary_key=True),
    Column("root", Text, nullable=False),
    Column("path", Text, nullable=False),  # relative to the root
    Column("written", Float, nullable=False),  # seconds since 1970
)

passages = Table(
    "passages",
    metadata,
    Column("row", SERIAL, primary_key=True, autoincrement=False),
    Column("id", String, nullable=False, unique=True),  # SHA-256 of words and metadata
    Column("doc_id", String, nullable=False),
    Column("number", Integer, nullable=False),
    Column("section", Text, nullable=False),
    Column("audience", String),
    Column("category", String),
    Column("jurisdiction", String),
    Column("content", Text, nullable=False),
    Column("meta", JSON, nullable=False),
    Column("vector", Vector, nullable=False),
    Index("passages_by_document", "doc_id", "number"),
    Index("passages_by_audience", "audience"),
)

# What an ingestion that goes on has read and embedded: it survives a kill, and becomes passages in one transaction.
staged = Table(
    "staged",
    metadata,
    Column("id", String, primary_key=True),
    Column("model", String, nullable=False),  # that has embedded it
    Column("content", Text, nullable=False),
    Column("meta", JSON, nullable=False),
    Column("vector", LargeBinary, nullable=False),
)

copies = Table(  # files fetched from a remote source
    "copies",
    metadata,
    Column("source", Text, primary_key=True),
    Column("address", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("fingerprint", Text, nullable=False),
)

faults = Table(  # of steps beside answers and ingestions
    "faults",
    metadata,
    Column("step", String, primary_key=True),
    Column("number", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Column("reason", Text, nullable=False),
)

turns = Table(
    "turns",
    metadata,
    Column("id", SERIAL, primary_key=True, autoincrement=True),
    Column("owner", String, nullable=False),
    Column("session", String, nullable=False),
    Column("at", Float, nullable=False),
    Column("role", String, nullable=False),
    Column("text", Text, nullable=False),
    Index("turns_by_session", "owner", "session", "id"),
    Index("turns_by_time", "at"),
)

jobs = Table(
    "jobs",
    metadata,
    Column("id", String, primary_key=True),
    Column("state", String, nullable=False),
    Column("created_at", Float, nullable=False),
    Column("value", JSON, nullable=False),
)

outbox = Table(
    "outbox",
    metadata,
    Column("place", SERIAL, primary_key=True, autoincrement=True),
    Column("id", String, nullable=False, unique=True),
    Column("routing_key", String, nullable=False),
    Column("correlation_id", String, nullable=False),
    Column("body", Text, nullable=False),
    sqlite_autoincrement=True,
)

cache = Table(
    "cache",
    metadata,
    Column("name", String, primary_key=True),
    Column("expires", Float, nullable=False),
    Column("value", LargeBinary, nullable=False),
    Index("cache_by_end", "expires"),
)

answers = Table(
    "answers",
    metadata,
    Column("id", SERIAL, primary_key=True, autoincrement=True),
    Column("trace_id", String, nullable=False, unique=True),
    Column("size", Integer, nullable=False),
    Column("at", Float, nullable=False),
    Column("question", Text),
    Column("search_query", Text),
    Column("language", String),
    Column("audience", String, nullable=False),
    Column("outcome", String, nullable=False),
    Column("level", String),
    Column("confidence", Float),
    Column("model", String),
    Column("index_version", String),
    Column("asker", String),
    Column("nearest", Text, nullable=False),
    Column("packed", LargeBinary),
    Column("score", Float),
    Column("comment", Text),
    Index("answers_by_asker", "asker"),
    Index("answers_by_time", "at"),
    sqlite_autoincrement=True,
)

statements = Table(  # the statements of passages that answers cite; the id is the hash of their letters
    "statements",
    metadata,
    Column("id", String, primary_key=True),
    Column("doc_id", String, nullable=False),
    Column("title", Text, nullable=False),
    Column("table_head", Text, nullable=False),
    Column("quote", Text, nullable=False),
    # A passage that holds it whole; empty where none is known, so that the next check looks; null where none holds it.
    Column("passage", String),
    Column("missing_since", Float),
    Index("statements_by_document", "doc_id"),
    Index("statements_missing", "missing_since"),
)

citations = Table(
    "citations",
    metadata,
    Column("answer", SERIAL, ForeignKey("answers.id", ondelete="CASCADE"), nullable=False),
    Column("statement", String, ForeignKey("statements.id"), nullable=False),
    UniqueConstraint("statement", "answer"),
    Index("citations_by_answer", "answer"),
)

TOKENIZER = "porter unicode61"
# What strangers are answered by: of words that only internal passages hold, nothing may be told, not even by the scores
# and the order of public ones. It indexes rows of `words`, and keeps no text itself.
FTS = (
    f"CREATE VIRTUAL TABLE words USING fts5(title, section, text, tokenize = '{TOKENIZER}')",
    f"CREATE VIRTUAL TABLE public_words USING fts5(title, section, text, content = words, tokenize = '{TOKENIZER}')",
    "CREATE VIRTUAL TABLE words_terms USING fts5vocab(words, 'row')",
    "CREATE VIRTUAL TABLE public_words_terms USING fts5vocab(public_words, 'row')",
)
# `rowid` is the passage's row, as in FTS5; its terms stand there too: they are counted down when it is deleted.
POSTINGS = (
    "CREATE TABLE words (rowid bigint PRIMARY KEY, text text NOT NULL, terms integer[] NOT NULL, "
    "tokens integer NOT NULL)",
    'CREATE TABLE terms (term text COLLATE "C" PRIMARY KEY, number integer GENERATED ALWAYS AS IDENTITY UNIQUE, '
    "passages integer NOT NULL, public_passages integer NOT NULL)",
    "CREATE TABLE postings (term integer, passage bigint, count smallint NOT NULL, tokens smallint NOT NULL, "
    "PRIMARY KEY (term, passage) INCLUDE (count, tokens))",
)


def tables_of_words(dialect: Literal["sqlite", "postgresql"]) -> tuple[str, ...]:
    return FTS if dialect == "sqlite" else POSTINGS
