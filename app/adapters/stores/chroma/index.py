"""Indexes in Chroma: in a folder, where each change is made in a copy, or on a server, where it is made in place."""

import shutil
import sqlite3
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import cast
from uuid import uuid4

from filelock import FileLock

from app.adapters.private_files import FILE_MODE, FOLDER_MODE, make_private_file, make_private_folder, write_atomically
from app.adapters.stores.chroma.client import Server, connected
from app.adapters.stores.chroma.store import (
    SAVE_EVERY,
    DocumentChroma,
    delete_collection,
    existing_collection,
    open_chroma,
    rename_collection,
)
from app.adapters.stores.folder import ChangedInPlace, FileBackedIndex, FolderSnapshot
from app.adapters.stores.fts import LexicalIndex
from app.adapters.stores.index import REBUILD, Change, Recipe
from chains.errors import ConfigurationError, VectorStoreError

# Chroma's file in a folder; earlier versions kept it in CHROMA_PATH itself.
DATABASE = "chroma.sqlite3"
# How often an index is saved while it is made anew, or doubles.
SAVES = 10


class FolderIndex(FileBackedIndex):
    """An index in a folder of generations, each whole: Chroma's files, the words, the records.

    Chroma's files bear no second process while they change, so an ingestion changes a copy and then names it in the
    version file. A copy that was not finished is gone on with by the next ingestion of the same index.
    """

    def __init__(self, path: Path, collection: str, recipe: Recipe) -> None:
        super().__init__(path / collection, recipe)
        self._collection = collection
        self._earlier = path / DATABASE
        self._building = self.folder / "building"

    @property
    def place(self) -> str:
        """Return where the index is, for messages."""
        return f"chroma in {self._earlier.parent}"

    def version(self) -> str | None:
        """Return the name of the generation in use; None before there is one."""
        return self._read_version() or None

    def open(self) -> FolderSnapshot:
        """Open the generation in use."""
        version = self.version() or self._make_first()
        try:
            return self._opened(version)
        except VectorStoreError:
            if self.version() == version:
                raise
        return self.open()  # It was replaced meanwhile.

    def change(self, *, reset: bool) -> Change:
        """Begin an ingestion: nothing is copied before the first write."""
        if reset:
            target = self._begin(uuid4().hex, after="", save_every=self._seldom())
            return Change(target, lambda: target, self._publish, target)
        before = self.open()
        generation, _, after = self._read_building().partition(" ")
        if generation and after == before.version and (self.folder / generation).is_dir():
            target = self._opened(generation, save_every=SAVE_EVERY)
            return Change(target, lambda: target, self._publish, target)
        begin = partial(self._begin, after=str(before.version), save_every=self._seldom())
        return Change(before, lambda: begin(self._copied(before)), self._publish)

    def abandon(self) -> None:
        """Forget the copy that was written into; the next ingestion starts from the generation in use."""
        self._building.unlink(missing_ok=True)

    def _seldom(self) -> int:
        """Return after how many changes a growing index is saved: to write a large one each time takes hours."""
        try:
            held = self._words(self.folder / version).count() if (version := self.version()) else 0
        except VectorStoreError:
            held = 0
        return max(SAVE_EVERY, held // SAVES)

    def _opened(self, generation: str, *, create: bool = False, save_every: int | None = None) -> FolderSnapshot:
        folder, recipe = self.folder / generation, self.recipe
        if not create and not (folder / DATABASE).exists():
            msg = f"the index in {str(folder)!r} is missing; {REBUILD}"
            raise VectorStoreError(msg)
        words = self._words(folder, to_write=create or save_every is not None)
        if create:
            make_private_file(folder / DATABASE)
        store = open_chroma(
            words.folder,
            self._collection,
            recipe.embeddings,
            embedding_model=recipe.embedding_model,
            indexed_text=recipe.text,
            words=words,
            create=create,
            save_every=save_every,
        )
        words.align(store)
        return FolderSnapshot(store, words.folder, words, generation)

    def _make_first(self) -> str:
        if self._made_by_an_earlier_version():
            msg = f"the index {self._collection!r} was made by an earlier version of this program; {REBUILD}"
            raise ConfigurationError(msg)
        try:
            make_private_folder(self.folder)
            with FileLock(self.folder / "first.lock", timeout=60, mode=FILE_MODE):
                return self.version() or self._write_version(self._made_empty())
        except OSError as error:
            raise self._unwritable(error) from error

    def _made_empty(self) -> str:
        generation = uuid4().hex
        self._opened(generation, create=True)
        return generation

    def _copied(self, before: FolderSnapshot) -> str:
        generation = uuid4().hex
        try:
            shutil.copytree(
                before.folder,
                self.folder / generation,
                copy_function=_copy,
                ignore=shutil.ignore_patterns("*-wal", "*-shm", "*-journal"),
            )
            (self.folder / generation).chmod(FOLDER_MODE)  # One that an earlier version made was open to others.
        except (OSError, sqlite3.Error) as error:
            shutil.rmtree(self.folder / generation, ignore_errors=True)
            reason = getattr(error, "strerror", None) or str(error)
            msg = f"the index in {str(self.folder)!r} cannot be copied to be changed ({reason}); check the disk"
            raise VectorStoreError(msg) from error
        return generation

    def _begin(self, generation: str, *, after: str, save_every: int) -> FolderSnapshot:
        """Open a generation to write into; what is neither in use nor written into is deleted."""
        write_atomically(self._building, f"{generation} {after}")
        with FileLock(self.folder / "first.lock", timeout=60, mode=FILE_MODE):
            self._clean(keep={generation, self._read_version()})
        return self._opened(generation, create=True, save_every=save_every)

    def _publish(self, target: FolderSnapshot) -> None:
        if target.words.has_deleted:
            target.words.forget_deleted()
        store = cast("DocumentChroma", target.store)
        store.count()  # Chroma applies what it has only logged so far; then readers have nothing to write.
        if store.save_every > SAVE_EVERY:
            store.close()
            self._opened(target.folder.name, save_every=SAVE_EVERY).store.count()  # It is saved.
        self._write_version(target.folder.name)
        self._building.unlink(missing_ok=True)
        self._clean(keep={target.folder.name})
        self._delete_earlier()

    def _clean(self, *, keep: set[str]) -> None:
        for folder in self.folder.iterdir():
            if folder.is_dir() and folder.name not in keep:
                shutil.rmtree(folder, ignore_errors=True)

    def _read_building(self) -> str:
        try:
            return self._building.read_text(encoding="ascii", errors="replace")
        except FileNotFoundError:
            return ""

    def _made_by_an_earlier_version(self) -> bool:
        if self._version.exists() or not self._earlier.exists():
            return False
        try:
            with closing(sqlite3.connect(self._earlier)) as connection:
                query = "SELECT count(*) FROM collections WHERE name = ?"
                return bool(connection.execute(query, (self._collection,)).fetchone()[0])
        except sqlite3.Error:
            return True  # What cannot be read may hold anything.

    def _delete_earlier(self) -> None:
        """Delete what an earlier version kept in CHROMA_PATH itself, once a new index has taken its place."""
        parent = self._earlier.parent
        if not self._earlier.exists():
            return
        with suppress(VectorStoreError):
            delete_collection(parent, self._collection)
        for file in parent.glob(f"{self._collection}.words.sqlite3*"):
            file.unlink(missing_ok=True)


class ServerIndex(ChangedInPlace):
    """An index in a collection on a Chroma server, its words and records in a folder of this machine."""

    def __init__(self, server: Server, collection: str, folder: Path, recipe: Recipe) -> None:
        super().__init__(folder / f"{server.host}-{server.port}_{collection}", recipe)
        self._server = server
        self._collection = collection

    @property
    def place(self) -> str:
        """Return where the index is, for messages."""
        return f"chroma at {self._server.host}:{self._server.port}"

    def _open_store(self, words: LexicalIndex | None) -> DocumentChroma:
        with connected(self._server) as client:
            if existing_collection(client, self._collection) is None:
                rename_collection(client, f"{self._collection}.ready", self._collection)
        return self._opened(self._collection, words)

    def _open_beside(self) -> DocumentChroma:
        for ending in ("building", "ready", "replaced"):
            delete_collection(self._server, f"{self._collection}.{ending}")
        return self._opened(f"{self._collection}.building", None)

    def _swap(self) -> None:
        """Rename the collections. A run that is cut off between two steps is completed by whoever opens the index."""
        name = self._collection
        self._rename(f"{name}.building", f"{name}.ready")
        self._rename(name, f"{name}.replaced")
        self._rename(f"{name}.ready", name)
        delete_collection(self._server, f"{name}.replaced")

    def _rename(self, name: str, new: str) -> None:
        with connected(self._server) as client:
            rename_collection(client, name, new)

    def _opened(self, collection: str, words: LexicalIndex | None) -> DocumentChroma:
        return open_chroma(
            self._server,
            collection,
            self.recipe.embeddings,
            embedding_model=self.recipe.embedding_model,
            indexed_text=self.recipe.text,
            words=words,
        )


def _copy(source: str, target: str) -> str:
    """Copy a file; a database through SQLite, so that the copy is whole whatever other connections do."""
    if not source.endswith(".sqlite3"):
        return str(shutil.copy2(source, target))
    make_private_file(Path(target))
    with closing(sqlite3.connect(source)) as original, closing(sqlite3.connect(target)) as copy:
        original.backup(copy)
    return target
