"""Mirror a remote source into a folder: fetch what changed, delete what is gone."""

import os
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from chains.errors import IngestionError
from chains.ingestion.files import Problem
from chains.ports import Progress

LONGEST_NAME = 255  # Bytes of a name in a folder, on most systems.


class Copy(NamedTuple):
    """A fetched file: its name in the folder, its address, and what identifies its version."""

    name: str
    address: str
    fingerprint: str
    path: Path


@dataclass(frozen=True, slots=True)
class RemoteDocument:
    """A document of a source. `content` is the file that was fetched; None where the copy is still right."""

    name: str
    address: str
    fingerprint: str
    content: Path | None


@dataclass(frozen=True, slots=True)
class Unread:
    """A document that could not be fetched (its copy stays) or was left out on purpose (its copy is deleted)."""

    address: str
    reason: str
    on_purpose: bool = False


class RemoteSource(Protocol):
    """Lists documents with their versions, and fetches those that changed."""

    @property
    def is_complete(self) -> bool:
        """Return whether the finished list named all documents; if not, nothing counts as deleted."""

    def documents(self, known: Mapping[str, Copy], folder: Path) -> Iterator[RemoteDocument | Unread]:
        """Yield the documents; what is fetched is a file in `folder`, which the caller moves.

        Args:
            known: The copies from before, by address.
            folder: Where fetched files may be put.

        Raises:
            IngestionError: the source cannot be listed.
        """


@dataclass
class Mirrored:
    """The result of a mirroring: the addresses of copies by path, and what was not fetched."""

    addresses: dict[Path, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)


def mirror(source: RemoteSource, folder: Path, records: Path, *, progress: Progress | None = None) -> Mirrored:
    """Bring `folder` in line with the source; `records` is the file that knows what was fetched.

    Raises:
        IngestionError: the source cannot be listed, or holds nothing; the folder stays as it is.
    """
    incoming = records.with_suffix(".incoming")
    shutil.rmtree(incoming, ignore_errors=True)  # What a run that was killed left.
    incoming.mkdir(parents=True)
    folder.mkdir(parents=True, exist_ok=True)
    with closing(_open(records)) as database:
        known = _known(database, folder)
        done, seen = Mirrored(), set()
        for number, found in enumerate(source.documents(known, incoming), start=1):
            if isinstance(found, Unread):
                kind = done.skipped if found.on_purpose else done.problems
                kind.append(Problem(found.address, found.reason))
            else:
                _keep(found, folder, database, done)
            if not (isinstance(found, Unread) and found.on_purpose):
                seen.add(found.address)
            if progress:
                progress(number, number, found.address)
        if not seen and not done.skipped:
            msg = "there are no documents; those in the index stay"
            raise IngestionError(msg)
        if source.is_complete:
            _delete([copy for address, copy in known.items() if address not in seen], database)
        done.addresses.update({copy.path: copy.address for copy in _known(database, folder).values()})
    return done


def is_safe_name(name: str) -> bool:
    """Return whether a source's path stays inside the folder it is copied to."""
    parts = name.split("/")
    return all(
        part not in {"", ".", ".."} and part.isprintable() and "\\" not in part and len(part.encode()) <= LONGEST_NAME
        for part in parts
    )


def _keep(found: RemoteDocument, folder: Path, database: sqlite3.Connection, done: Mirrored) -> None:
    path = folder / found.name
    if found.content is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            found.content.replace(path)
        except OSError as error:
            found.content.unlink(missing_ok=True)
            done.problems.append(Problem(found.address, f"it cannot be kept as {found.name!r}: {error.strerror}"))
            return
    row = (found.address, found.name, found.fingerprint)
    database.execute("INSERT OR REPLACE INTO copies VALUES (?, ?, ?)", row)


def _delete(copies: list[Copy], database: sqlite3.Connection) -> None:
    for copy in copies:
        copy.path.unlink(missing_ok=True)
        database.execute("DELETE FROM copies WHERE address = ?", (copy.address,))


def _open(records: Path) -> sqlite3.Connection:
    database = sqlite3.connect(records, isolation_level=None)
    database.execute("CREATE TABLE IF NOT EXISTS copies (address TEXT PRIMARY KEY, name TEXT, fingerprint TEXT)")
    return database


def _known(database: sqlite3.Connection, folder: Path) -> dict[str, Copy]:
    rows = database.execute("SELECT name, address, fingerprint FROM copies")
    copies = (Copy(name, address, fingerprint, folder / name) for name, address, fingerprint in rows)
    return {copy.address: copy for copy in copies if os.path.lexists(copy.path)}
