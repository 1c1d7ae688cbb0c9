"""LangChain's record managers in an SQLite file: which chunks the store holds, and which files they come from."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from langchain_classic.indexes import SQLRecordManager
from sqlalchemy.exc import SQLAlchemyError

from chains.errors import VectorStoreError

FILE = "records.sqlite3"


class Records(SQLRecordManager):
    """A record manager whose failures say what to do."""

    def update(
        self,
        keys: Sequence[str],
        *,
        group_ids: Sequence[str | None] | None = None,
        time_at_least: float | None = None,
    ) -> None:
        """Remember the keys, each in its group."""
        with _errors_translated():
            super().update(keys, group_ids=group_ids, time_at_least=time_at_least)

    def exists(self, keys: Sequence[str]) -> list[bool]:
        """Return whether each key is remembered."""
        with _errors_translated():
            return super().exists(keys)

    def list_keys(
        self,
        *,
        before: float | None = None,
        after: float | None = None,
        group_ids: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[str]:
        """Return the keys of the groups, or all."""
        with _errors_translated():
            return super().list_keys(before=before, after=after, group_ids=group_ids, limit=limit)

    def delete_keys(self, keys: Sequence[str]) -> None:
        """Forget the keys."""
        with _errors_translated():
            super().delete_keys(keys)


def open_records(folder: Path, namespace: str) -> Records:
    """Open the records of `namespace` in the folder, or make them.

    Raises:
        VectorStoreError: the folder cannot be written; so does every method of the records.
    """
    folder.mkdir(parents=True, exist_ok=True)
    records = Records(namespace, db_url=f"sqlite:///{folder / FILE}")
    with _errors_translated():
        records.create_schema()
    return records


@contextmanager
def _errors_translated() -> Iterator[None]:
    try:
        yield
    except SQLAlchemyError as error:
        reason = getattr(error, "orig", None) or type(error).__name__
        msg = (
            f"the records of the vector store cannot be used ({reason}); "
            "check that CHROMA_PATH can be written and that the disk is not full"
        )
        raise VectorStoreError(msg) from error
