"""LangChain's record managers in an SQLite file: which chunks the store holds, and which files they come from."""

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from app.adapters.private_files import make_private_file, make_private_folder
from chains.errors import VectorStoreError

if TYPE_CHECKING:
    from langchain_classic.indexes import SQLRecordManager
    from sqlalchemy.engine import ExceptionContext

FILE = "records.sqlite3"


def open_records(folder: Path, namespace: str) -> "SQLRecordManager":
    """Open the records of `namespace` in the folder, or make them.

    Raises:
        VectorStoreError: the folder cannot be written; so does every method of the records.
    """
    from langchain_classic.indexes import SQLRecordManager  # noqa: PLC0415 - SQLAlchemy; questions do without it.
    from sqlalchemy import create_engine, event  # noqa: PLC0415 - as above.

    try:
        make_private_folder(folder)
        make_private_file(folder / FILE)
    except OSError as error:
        msg = f"the records of the vector store cannot be written ({error.strerror}); check CHROMA_PATH and the disk"
        raise VectorStoreError(msg) from error
    engine = create_engine(f"sqlite:///{folder / FILE}")
    event.listen(engine, "handle_error", _translate)
    records = SQLRecordManager(namespace, engine=engine)
    records.create_schema()
    return records


def read_times(folder: Path, namespace: str) -> dict[str, float]:
    """Return when each key of `namespace` was last written, in seconds since 1970; empty where there are no records.

    Raises:
        VectorStoreError: the records cannot be read.
    """
    file = folder / FILE
    if not file.exists():
        return {}
    try:
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            query = "SELECT key, updated_at FROM upsertion_record WHERE namespace = ?"
            return dict(connection.execute(query, (namespace,)).fetchall())
    except sqlite3.Error as error:
        msg = f"the records of the vector store cannot be read ({error}); check CHROMA_PATH and the disk"
        raise VectorStoreError(msg) from error


def write_times(folder: Path, namespace: str, times: Mapping[str, float]) -> None:
    """Put other times to keys of `namespace`; an unknown key is not an error.

    Raises:
        VectorStoreError: the records cannot be written.
    """
    query = "UPDATE upsertion_record SET updated_at = ? WHERE namespace = ? AND key = ?"
    try:
        with closing(sqlite3.connect(folder / FILE)) as connection, connection:
            connection.executemany(query, [(time, namespace, key) for key, time in times.items()])
    except sqlite3.Error as error:
        msg = f"the records of the vector store cannot be written ({error}); check CHROMA_PATH and the disk"
        raise VectorStoreError(msg) from error


def _translate(failure: "ExceptionContext") -> None:
    """Raise SQLAlchemy's errors as ours, with what to do."""
    msg = (
        f"the records of the vector store cannot be used ({failure.original_exception}); "
        "check that CHROMA_PATH can be written and that the disk is not full"
    )
    raise VectorStoreError(msg) from failure.original_exception
