"""What belongs to an index in PostgreSQL: its store, LangChain's record managers, the scope files of its folders."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from langchain_core.indexing import RecordManager
from langchain_core.runnables import run_in_executor
from sqlalchemy import text

from app.wings.postgres.database import Database
from app.wings.postgres.driver import as_json
from app.wings.postgres.partition import Partition
from app.wings.postgres.schema import SCHEMA
from app.wings.postgres.store import PostgresStore
from app.wings.postgres.words import PostgresWords

UPDATE = f"""
INSERT INTO {SCHEMA}.records (index, namespace, key, group_id, updated_at)
SELECT :index, :namespace, given.*, :now FROM unnest(CAST(:keys AS text[]), CAST(:groups AS text[])) AS given
ON CONFLICT (index, namespace, key) DO UPDATE SET group_id = excluded.group_id, updated_at = excluded.updated_at
"""
KEEP_TIMES = f"""
UPDATE {SCHEMA}.records SET updated_at = given.time
FROM unnest(CAST(:keys AS text[]), CAST(:times AS float8[])) AS given (key, time)
WHERE index = :index AND namespace = :namespace AND records.key = given.key
"""
OURS = f"FROM {SCHEMA}.records WHERE index = :index AND namespace = :namespace"


class PostgresRecords(RecordManager):
    """The records of one namespace of an index."""

    def __init__(self, database: Database, index: int, namespace: str) -> None:
        super().__init__(namespace)
        self._database, self._index = database, index

    def create_schema(self) -> None:
        """Do nothing: the tables are there once the index is."""

    def get_time(self) -> float:
        """Return the server's time, in seconds since 1970."""
        return float(self._rows("SELECT extract(epoch FROM clock_timestamp())")[0][0])

    def update(
        self, keys: Sequence[str], *, group_ids: Sequence[str | None] | None = None, time_at_least: float | None = None
    ) -> None:
        """Keep the keys, with their groups and the time.

        Raises:
            ValueError: the clock of the server is behind `time_at_least`.
        """
        now = self.get_time()
        if time_at_least is not None and now < time_at_least:
            msg = f"the clock of the database is behind: {now} < {time_at_least}"
            raise ValueError(msg)
        groups = dict(zip(keys, group_ids or [None] * len(keys), strict=True))
        self._rows(UPDATE, keys=list(groups), groups=list(groups.values()), now=now)

    def exists(self, keys: Sequence[str]) -> list[bool]:
        """Return which of the keys are there."""
        known = {key for (key,) in self._rows(f"SELECT key {OURS} AND key = ANY(:keys)", keys=list(keys))}
        return [key in known for key in keys]

    def list_keys(
        self,
        *,
        before: float | None = None,
        after: float | None = None,
        group_ids: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """Return the keys, of some groups or of all, and written within a time."""
        query = f"SELECT key {OURS}"
        values: dict[str, Any] = {"before": before, "after": after, "groups": group_ids and list(group_ids)}
        terms = {"before": "updated_at < :before", "after": "updated_at > :after", "groups": "group_id = ANY(:groups)"}
        given = {name: value for name, value in values.items() if value is not None}
        query += "".join(f" AND {terms[name]}" for name in given)
        return [key for (key,) in self._rows(f"{query} LIMIT :limit", **given, limit=limit)]

    def delete_keys(self, keys: Sequence[str]) -> None:
        """Delete the keys; an unknown one is not an error."""
        self._rows(f"DELETE {OURS} AND key = ANY(:keys)", keys=list(keys))

    def times(self) -> dict[str, float]:
        """Return when each key was last written, in seconds since 1970."""
        return dict(map(tuple, self._rows(f"SELECT key, updated_at {OURS}")))

    def keep_times(self, times: Mapping[str, float]) -> None:
        """Put other times to keys that are there."""
        self._rows(KEEP_TIMES, keys=list(times), times=list(times.values()))

    async def acreate_schema(self) -> None:
        """Do nothing."""

    async def aget_time(self) -> float:
        """Return the server's time, in seconds since 1970."""
        return await run_in_executor(None, self.get_time)

    async def aupdate(self, keys: Sequence[str], **options: Any) -> None:
        """Keep the keys, with their groups and the time."""
        await run_in_executor(None, self.update, keys, **options)

    async def aexists(self, keys: Sequence[str]) -> list[bool]:
        """Return which of the keys are there."""
        return await run_in_executor(None, self.exists, keys)

    async def alist_keys(self, **options: Any) -> list[str]:
        """Return the keys, of some groups or of all, and written within a time."""
        return await run_in_executor(None, self.list_keys, **options)

    async def adelete_keys(self, keys: Sequence[str]) -> None:
        """Delete the keys; an unknown one is not an error."""
        await run_in_executor(None, self.delete_keys, keys)

    def _rows(self, query: str, **values: Any) -> Sequence[Any]:
        with self._database.transaction() as connection:
            found = connection.execute(text(query), {"index": self._index, "namespace": self.namespace} | values)
            return found.all() if found.returns_rows else ()


SCOPES = f"SELECT scopes FROM {SCHEMA}.indexes WHERE index = :index"
KEEP_SCOPES = f"""
UPDATE {SCHEMA}.indexes SET scopes = CAST(:scopes AS jsonb), version = version + 1 WHERE index = :index
"""


@dataclass(frozen=True, eq=False)
class PostgresSnapshot:
    """An index as it was opened: its chunks, their words, their records and their scope files, in one database."""

    database: Database
    partition: Partition
    store: PostgresStore
    words: PostgresWords
    version: str | None

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
