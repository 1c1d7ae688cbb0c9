"""A folder -> LangChain record managers in an SQLite file: which chunks the vector store holds, and from where."""

from pathlib import Path

from langchain_classic.indexes import SQLRecordManager

FILE = "records.sqlite3"


def open_records(folder: Path, namespace: str) -> SQLRecordManager:
    """Open the records of `namespace` in the folder, or make them."""
    folder.mkdir(parents=True, exist_ok=True)
    records = SQLRecordManager(namespace, db_url=f"sqlite:///{folder / FILE}")
    records.create_schema()
    return records
