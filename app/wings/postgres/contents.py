"""What belongs to an index in PostgreSQL: its store, its records and the scope files of its folders."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from sqlalchemy import text

from app.wings.postgres.characters import as_json
from app.wings.postgres.database import Database
from app.wings.postgres.partition import Partition
from app.wings.postgres.records import PostgresRecords
from app.wings.postgres.schema import SCHEMA
from app.wings.postgres.store import PostgresStore
from app.wings.postgres.words import PostgresWords

SCOPES = f"SELECT scopes FROM {SCHEMA}.indexes WHERE index = :index"
KEEP_SCOPES = f"""
UPDATE {SCHEMA}.indexes SET scopes = CAST(:scopes AS jsonb), version = version + 1 WHERE index = :index
"""


@dataclass(frozen=True, eq=False)
class PostgresContents:
    """The chunks of an index, the records of them and their scope files, in one database."""

    database: Database
    partition: Partition
    store: PostgresStore

    def records(self) -> tuple[PostgresRecords, PostgresRecords]:
        """Open the records: the chunks of each document, and the sources of the documents."""
        return self._records("chunks"), self._records("sources")

    def scopes(self) -> dict[str, str | None]:
        """Return the text of the scope file of each folder that was ingested; None where it has none."""
        with self.database.transaction() as connection:
            return dict(connection.execute(text(SCOPES), {"index": self.partition.number}).scalar() or {})

    def keep_scopes(self, scopes: Mapping[str, str | None]) -> None:
        """Remember the scope files with the chunks that they belong to."""
        kept = as_json(dict(scopes))
        with self.database.transaction() as connection:
            connection.execute(text(KEEP_SCOPES), {"index": self.partition.number, "scopes": kept})

    def source_times(self) -> dict[str, float]:
        """Return when each source was last written, by its key in the records, in seconds since 1970."""
        return self._records("sources").times()

    def keep_source_times(self, times: Mapping[str, float]) -> None:
        """Put other times to sources that are recorded."""
        self._records("sources").keep_times(times)

    def transaction(self) -> AbstractContextManager[object]:
        """Make what the body writes one change: readers see all of it or nothing."""
        return self.database.transaction()

    def _records(self, namespace: str) -> PostgresRecords:
        return PostgresRecords(self.database, self.partition.number, namespace)


@dataclass(frozen=True, eq=False)
class PostgresSnapshot(PostgresContents):
    """An index as it was opened, with the index of its words."""

    words: PostgresWords
    version: str | None
