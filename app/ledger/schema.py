"""The tables of the ledger: the same over SQLite and PostgreSQL, made in an empty database when it is first used.

A change of these tables is made here, for new databases, and as a step in `steps.py`, for those that are there.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.types import JSON, TypeDecorator, UserDefinedType

SERIAL = sa.BigInteger().with_variant(sa.Integer, "sqlite")  # SQLite counts by itself in integers only.

metadata = sa.MetaData()


class _PgVector(UserDefinedType[Any]):
    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "vector"


class Vector(TypeDecorator[bytes]):
    """A vector as little-endian 32-bit floats; in PostgreSQL a `vector` of pgvector, given and taken as text."""

    impl = sa.LargeBinary
    cache_ok = True

    def load_dialect_impl(self, dialect: Any) -> Any:
        return dialect.type_descriptor(_PgVector() if dialect.name == "postgresql" else sa.LargeBinary())


def _table(name: str, key: str, columns: dict[Any, str], *more: Any, number: bool = False, **options: Any) -> None:
    """Make a table of columns by type, those with a `?` optional; with `number` the key is counted by the database."""
    kind = SERIAL if number else sa.String
    keys = [sa.Column(part, kind, primary_key=True, autoincrement=number) for part in key.split()]
    names = ((kind, column) for kind, some in columns.items() for column in some.split())
    plain = [sa.Column(column.rstrip("?"), kind, nullable=column.endswith("?")) for kind, column in names]
    sa.Table(name, metadata, *keys, *plain, *more, **options)


# `facts` holds version, format and embedding model of the index, scope files, certificate, and the key of askers.
_table("facts", "name", {sa.Text: "value"})
# `path` is relative to the root; `written` and every `at` are seconds since 1970.
_table("sources", "doc_id", {sa.Text: "root path", sa.Float: "written"})
# The id of a passage is the SHA-256 of its words and metadata.
_table(
    "passages",
    "",
    {sa.String: "doc_id audience? category? jurisdiction?", sa.Integer: "number", sa.Text: "section content"}
    | {JSON: "meta", Vector: "vector"},
    sa.Column("row", SERIAL, primary_key=True, autoincrement=False),
    sa.Column("id", sa.String, nullable=False, unique=True),
    sa.Index("passages_by_document", "doc_id", "number"),
    sa.Index("passages_by_audience", "audience"),
)
# What an ingestion that goes on has read and embedded, by a model: it survives a kill, and becomes passages in one
# transaction.
_table("staged", "id", {sa.String: "model", sa.Text: "content", JSON: "meta", sa.LargeBinary: "vector"})
# Files fetched from a remote source.
_table("copies", "source address", {sa.Text: "name fingerprint"})
# Faults of steps beside answers and ingestions.
_table("faults", "step", {sa.Integer: "number", sa.Float: "at", sa.Text: "reason"})
_table(
    "turns",
    "id",
    {sa.String: "owner session role", sa.Float: "at", sa.Text: "text"},
    sa.Index("turns_by_session", "owner", "session", "id"),
    sa.Index("turns_by_time", "at"),
    number=True,
)
_table("jobs", "id", {sa.String: "state", sa.Float: "created_at", JSON: "value"})
_table(
    "outbox",
    "place",
    {sa.String: "routing_key correlation_id", sa.Text: "body"},
    sa.Column("id", sa.String, nullable=False, unique=True),
    number=True,
    sqlite_autoincrement=True,
)
_table("cache", "name", {sa.Float: "expires", sa.LargeBinary: "value"}, sa.Index("cache_by_end", "expires"))
_table(
    "answers",
    "id",
    {sa.String: "audience outcome language? level? model? index_version? asker?", sa.Float: "at confidence? score?"}
    | {sa.Text: "nearest question? search_query? comment?", sa.Integer: "size", sa.LargeBinary: "packed?"},
    sa.Column("trace_id", sa.String, nullable=False, unique=True),
    sa.Index("answers_by_asker", "asker"),
    sa.Index("answers_by_time", "at"),
    number=True,
    sqlite_autoincrement=True,
)
# The statements of passages that answers cite; the id is the hash of their letters. `passage` is one that holds it
# whole; empty where none is known, so that the next check looks; null where none holds it.
_table(
    "statements",
    "id",
    {sa.String: "doc_id passage?", sa.Text: "title table_head quote", sa.Float: "missing_since?"},
    sa.Index("statements_by_document", "doc_id"),
    sa.Index("statements_missing", "missing_since"),
)
sa.Table(
    "citations",
    metadata,
    sa.Column("answer", SERIAL, sa.ForeignKey("answers.id", ondelete="CASCADE"), nullable=False),
    sa.Column("statement", sa.String, sa.ForeignKey("statements.id"), nullable=False),
    sa.UniqueConstraint("statement", "answer"),
    sa.Index("citations_by_answer", "answer"),
)

# What of a passage is searched by words.
_table("words", "", {sa.Text: "title section text"}, sa.Column("row", SERIAL, primary_key=True, autoincrement=False))
# The postings of a term are packed, for blocks of so many passages, public and other ones: to score each as a row took
# some thirty times as long. What strangers are answered by is apart: of words that only internal passages hold, nothing
# may be told, not even by the scores and the order of public ones.
BLOCK = 1000
sa.Table(
    "postings",
    metadata,
    sa.Column("term", sa.Text().with_variant(sa.Text(collation="C"), "postgresql"), primary_key=True),
    sa.Column("public", sa.Boolean, primary_key=True),
    sa.Column("block", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("entries", sa.LargeBinary, nullable=False),
    sqlite_with_rowid=False,
)
# Beside its row a vector is read twice as fast: where a filter leaves few passages, all theirs are compared.
BESIDE = "ALTER TABLE passages ALTER vector SET STORAGE MAIN"
_beside = sa.DDL(BESIDE).execute_if(dialect="postgresql")  # type: ignore[no-untyped-call]  # SQLAlchemy's own.
sa.event.listen(metadata.tables["passages"], "after_create", _beside)
