"""The tables of one index: its rows of chunks, terms and postings, and its index of vectors."""

from collections.abc import Mapping
from dataclasses import dataclass

from sqlalchemy import Connection, text

from app.wings.postgres.schema import SCHEMA
from chains.errors import ConfigurationError

# These have columns of their own, with indexes; others are looked up in the metadata.
COLUMNS = ("audience", "category", "jurisdiction")


def condition(where: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the condition on a table `chunks`, and its values; without any, one that is always true."""
    terms, values = [], {}
    for place, (name, value) in enumerate(where.items()):
        if name in COLUMNS:
            terms.append(f"chunks.{name} = :value{place}")
        else:
            terms.append(f"chunks.metadata ->> :name{place} = :value{place}")
            values[f"name{place}"] = name
        values[f"value{place}"] = value
    return " AND ".join(terms) or "true", values


TABLES = ("chunks", "terms", "postings")
# Most dimensions that pgvector indexes. It does so as numbers of 16 bits: half the memory to build and to search.
MOST_DIMENSIONS = 4000
# How many neighbours are compared for each vector that is put in: with the usual 64, a search of 100,000 chunks misses
# 35 in 1,000 of the true neighbours, with 200 it misses 13.
BUILD_BREADTH = 200


@dataclass(frozen=True, slots=True)
class Partition:
    """The tables of the index with this number."""

    number: int

    @property
    def chunks(self) -> str:
        """The table of its chunks."""
        return self.table("chunks")

    @property
    def terms(self) -> str:
        """The table of its terms."""
        return self.table("terms")

    @property
    def postings(self) -> str:
        """The table that says which chunk holds which term how often."""
        return self.table("postings")

    def table(self, name: str) -> str:
        """Return the name of one of its tables."""
        return f"{SCHEMA}.{name}_{self.number}"

    def create(self, connection: Connection) -> None:
        """Make its tables."""
        for name in TABLES:
            made = f"CREATE TABLE {self.table(name)} PARTITION OF {SCHEMA}.{name} FOR VALUES IN ({self.number})"
            connection.execute(text(made))

    def drop(self, connection: Connection) -> None:
        """Delete its tables; they may be gone."""
        for name in TABLES:
            connection.execute(text(f"DROP TABLE IF EXISTS {self.table(name)}"))

    def index_vectors(self, connection: Connection, dimensions: int) -> None:
        """Make the index of its vectors, which is looked up by cosine."""
        name = f"vectors_{self.number}"
        operators = f"({half('embedding', dimensions)}) halfvec_cosine_ops"
        options = f"ef_construction = {BUILD_BREADTH}"
        connection.execute(
            text(f"CREATE INDEX IF NOT EXISTS {name} ON {self.chunks} USING hnsw ({operators}) WITH ({options})")
        )

    def analyze(self, connection: Connection) -> None:
        """Let the server count the rows, so that it plans for as many."""
        for name in TABLES:
            connection.execute(text(f"ANALYZE {self.table(name)}"))


def half(value: str, dimensions: int) -> str:
    """Return a value of so many dimensions as it is indexed.

    Raises:
        ConfigurationError: there are too many.
    """
    if dimensions > MOST_DIMENSIONS:
        most = f"PostgreSQL indexes vectors of {MOST_DIMENSIONS} dimensions at most"
        msg = f"{most}, not {dimensions}; set EMBEDDING_MODEL"
        raise ConfigurationError(msg)
    return f"CAST({value} AS halfvec({dimensions}))"
