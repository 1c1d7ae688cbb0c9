"""An index that keeps its version, its lock, its words and its records in files of a folder."""

import json
import os
import shutil
import sqlite3
import tempfile
import weakref
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from filelock import FileLock, Timeout

from app.adapters.private_files import FILE_MODE, make_private_file, make_private_folder, write_atomically
from app.adapters.stores.fts import LexicalIndex
from app.adapters.stores.index import Change, Recipe, Store, StoredIndex
from chains.errors import IndexBusyError, VectorStoreError

if TYPE_CHECKING:
    from langchain_classic.indexes import SQLRecordManager
    from langchain_core.indexing import RecordManager
    from sqlalchemy.engine import ExceptionContext

# In the folder of an index: the texts of the scope files of the folders that were ingested.
SCOPES = "scopes.json"
ROOM_BYTES = 2**20  # What SQLite and Chroma write into the files that they open to read.
MEMORY = "/dev/shm"  # noqa: S108 - the copy has a folder of its own.


@dataclass(frozen=True, eq=False)
class FolderSnapshot:
    """An index as it was opened: its store, the folder of its records, and the index of its words."""

    store: Store
    folder: Path
    words: LexicalIndex
    version: str | None

    def records(self) -> "tuple[RecordManager, RecordManager]":
        """Open the records: the chunks of each document, and the sources of the documents."""
        return open_records(self.folder, "chunks"), open_records(self.folder, "sources")

    def scopes(self) -> dict[str, str | None]:
        """Return the text of the scope file of each folder that was ingested; None where it has none."""
        try:
            kept: dict[str, str | None] = json.loads((self.folder / SCOPES).read_text(encoding="utf-8"))
        except (OSError, ValueError):  # An index from before there were any.
            return {}
        return kept

    def keep_scopes(self, scopes: Mapping[str, str | None]) -> None:
        """Remember the scope files with the chunks that they belong to."""
        write_atomically(self.folder / SCOPES, json.dumps(scopes, ensure_ascii=False, sort_keys=True))

    def source_times(self) -> dict[str, float]:
        """Return when each source was last written, by its key in the records, in seconds since 1970."""
        return read_times(self.folder, "sources")

    def keep_source_times(self, times: Mapping[str, float]) -> None:
        """Put other times to sources that are recorded."""
        write_times(self.folder, "sources", times)

    def transaction(self) -> AbstractContextManager[object]:
        """Files know no transaction: what a run that was killed left is put right by the next one."""
        return nullcontext()


class FileBackedIndex(StoredIndex):
    """An index whose `folder` holds its version and its lock."""

    def __init__(self, folder: Path, recipe: Recipe) -> None:
        super().__init__(recipe)
        self.folder = folder
        self._version = folder / "version"

    def version(self) -> str | None:
        """Return what changes whenever the index does, for any process; None where it cannot be kept."""
        try:
            return self._read_version() or self._renew_version()
        except OSError:
            return None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock of an ingestion while the body runs."""
        try:
            make_private_folder(self.folder)
            with FileLock(self.folder / "ingest.lock", timeout=0, mode=FILE_MODE):
                yield
        except Timeout as error:
            msg = "another ingestion into the same store is at work; wait until it is done"
            raise IndexBusyError(msg) from error
        except OSError as error:
            raise self._unwritable(error) from error

    def _words(self, folder: Path, *, to_write: bool = False) -> LexicalIndex:
        """Open the index of words; to read that of a folder which cannot be written, a copy, deleted with it."""
        readable = folder if to_write or _is_writable(folder) else _copied_aside(folder)
        try:
            words = LexicalIndex(readable / "words.sqlite3", fields=self.recipe.fields)
        except BaseException:
            _delete_copy(readable, of=folder)
            raise
        weakref.finalize(words, _delete_copy, readable, of=folder)
        return words

    def _read_version(self) -> str:
        try:
            return self._version.read_text(encoding="ascii", errors="replace")
        except FileNotFoundError:
            return ""

    def _write_version(self, version: str) -> str:
        write_atomically(self._version, version)
        return version

    def _renew_version(self) -> str:
        return self._write_version(str(uuid4()))

    def _unwritable(self, error: OSError) -> VectorStoreError:
        return VectorStoreError(
            f"the vector store in {str(self.folder)!r} cannot be written ({error.strerror}); "
            "check CHROMA_PATH and the disk"
        )


class ChangedInPlace(FileBackedIndex):
    """An index whose store is changed while others read it; only a reset is built beside it."""

    def open(self, *, to_write: bool = False) -> FolderSnapshot:
        """Open the index as it is now, the words in line with the store."""
        version, words = self.version(), self._words(self.folder, to_write=to_write)
        store = self._open_store(words)
        words.align(store)
        return FolderSnapshot(store, words.folder, words, version)

    def change(self, *, reset: bool) -> Change:
        """Begin an ingestion: in place, or beside the index for a `reset`."""
        if not reset:
            before = self.open(to_write=os.access(self.folder, os.W_OK))
            return Change(before, lambda: self._begin(before), lambda _: self._renew_version())
        building = self.folder / "building"
        shutil.rmtree(building, ignore_errors=True)
        make_private_folder(building)
        target = FolderSnapshot(self._open_beside(), building, self._words(building, to_write=True), None)
        return Change(target, lambda: target, self._replace, target)

    @abstractmethod
    def _open_store(self, words: LexicalIndex | None) -> Store:
        """Open the store that is in use, or make it."""

    @abstractmethod
    def _open_beside(self) -> Store:
        """Return an empty store beside the one in use."""

    @abstractmethod
    def _swap(self) -> None:
        """Put the store that was built beside in the place of the one in use."""

    def _begin(self, before: FolderSnapshot) -> FolderSnapshot:
        # What is kept while the index changes, or after a run that was killed, is of a version that the end replaces.
        self._renew_version()
        return before

    def _replace(self, target: FolderSnapshot) -> None:
        self._renew_version()
        target.records()  # They exist even if nothing was written.
        self._swap()
        target.keep_scopes(target.scopes())
        for name in (SCOPES, "records.sqlite3"):
            os.replace(target.folder / name, self.folder / name)
        shutil.rmtree(target.folder, ignore_errors=True)
        self.open()  # This brings the words in line.
        self._renew_version()


def _is_writable(folder: Path) -> bool:
    """Say whether a folder and the databases in it can be written; one that is not there yet is still to be made."""
    return not folder.exists() or (
        shutil.disk_usage(folder).free >= ROOM_BYTES
        and all(os.access(path, os.W_OK) for path in (folder, *folder.glob("*.sqlite3")))
    )


def _copied_aside(folder: Path) -> Path:
    """Copy a folder to read the copy: SQLite and Chroma write into what they open, even if only to read it."""
    copied = None
    try:
        copied = Path(tempfile.mkdtemp(prefix="waypoint-index-", dir=_room_aside(folder)))
        for path in folder.rglob("*"):
            target = copied / path.relative_to(folder)
            if path.is_dir():
                target.mkdir()
            else:
                shutil.copyfile(path, target)
    except OSError as error:
        if copied:
            shutil.rmtree(copied, ignore_errors=True)
        msg = (
            f"the index in {str(folder)!r} can neither be written nor be copied to be read ({error.strerror}); "
            "check who may read it, TMPDIR and the disk"
        )
        raise VectorStoreError(msg) from error
    return copied


def _room_aside(folder: Path) -> str | None:
    """Return memory, where Linux shows it as a folder and nothing else is left; else None: where temporary files go."""
    needed = ROOM_BYTES + sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    with suppress(FileNotFoundError):
        if shutil.disk_usage(tempfile.gettempdir()).free >= needed:
            return None
    return MEMORY if os.access(MEMORY, os.W_OK) else None


def _delete_copy(readable: Path, *, of: Path) -> None:
    if readable != of:
        shutil.rmtree(readable, ignore_errors=True)


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
