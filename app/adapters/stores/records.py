"""LangChain's record managers in an SQLite file: which chunks the store holds, and which files they come from."""

from pathlib import Path

from langchain_classic.indexes import SQLRecordManager
from sqlalchemy import create_engine, event
from sqlalchemy.engine import ExceptionContext

from chains.errors import VectorStoreError

FILE = "records.sqlite3"


def open_records(folder: Path, namespace: str) -> SQLRecordManager:
    """Open the records of `namespace` in the folder, or make them.

    Raises:
        VectorStoreError: the folder cannot be written; so does every method of the records.
    """
    folder.mkdir(parents=True, exist_ok=True)
    engine = create_engine(f"sqlite:///{folder / FILE}")
    event.listen(engine, "handle_error", _translate)
    records = SQLRecordManager(namespace, engine=engine)
    records.create_schema()
    return records


def _translate(failure: ExceptionContext) -> None:
    """Raise SQLAlchemy's errors as ours, with what to do."""
    msg = (
        f"the records of the vector store cannot be used ({failure.original_exception}); "
        "check that CHROMA_PATH can be written and that the disk is not full"
    )
    raise VectorStoreError(msg) from failure.original_exception
