"""Mirror a remote source into a folder: fetch what changed, delete what is gone."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
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
        """Yield all documents; `known` are the copies by address, what is fetched is a file in `folder`, to be moved.

        Raise IngestionError if the source cannot be listed.
        """


@dataclass
class Mirrored:
    """The result of a mirroring: the addresses of copies by path, and what was not fetched."""

    addresses: dict[Path, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)


class KnownCopies(Protocol):
    """The names, addresses and versions of what was fetched before."""

    def known(self) -> list[tuple[str, str, str]]:
        """Return the address, the name and the version of each copy."""

    def keep(self, address: str, name: str, fingerprint: str) -> None: ...

    def forget(self, addresses: Iterable[str]) -> None: ...


def mirror(
    source: RemoteSource, folder: Path, copies: KnownCopies, *, incoming: Path, progress: Progress | None = None
) -> Mirrored:
    """Bring `folder` in line with the source. Raise IngestionError if that cannot be listed, or holds nothing."""
    shutil.rmtree(incoming, ignore_errors=True)  # What a run that was killed left.
    incoming.mkdir(parents=True)
    folder.mkdir(parents=True, exist_ok=True)
    known = _known(copies, folder)
    done, seen = Mirrored(), set()
    for number, document in enumerate(source.documents(known, incoming), start=1):
        if isinstance(document, Unread):
            kind = done.skipped if document.on_purpose else done.problems
            kind.append(Problem(document.address, document.reason))
        else:
            _keep(document, folder, copies, done)
        if not (isinstance(document, Unread) and document.on_purpose):
            seen.add(document.address)
        if progress:
            progress(number, number, document.address)
    if not seen and not done.skipped:
        raise IngestionError("there are no documents; those in the index stay")
    if source.is_complete:
        gone = [copy for address, copy in known.items() if address not in seen]
        for copy in gone:
            copy.path.unlink(missing_ok=True)
        copies.forget(copy.address for copy in gone)
    done.addresses.update({copy.path: copy.address for copy in _known(copies, folder).values()})
    return done


def is_safe_name(name: str) -> bool:
    """Return whether a source's path stays inside the folder it is copied to."""
    parts = name.split("/")
    return all(
        part not in {"", ".", ".."} and part.isprintable() and "\\" not in part and len(part.encode()) <= LONGEST_NAME
        for part in parts
    )


def _keep(document: RemoteDocument, folder: Path, copies: KnownCopies, done: Mirrored) -> None:
    path = folder / document.name
    if document.content is not None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            document.content.replace(path)
        except OSError as error:
            document.content.unlink(missing_ok=True)
            done.problems.append(Problem(document.address, f"it cannot be kept as {document.name!r}: {error.strerror}"))
            return
    copies.keep(document.address, document.name, document.fingerprint)


def _known(copies: KnownCopies, folder: Path) -> dict[str, Copy]:
    known = (Copy(name, address, fingerprint, folder / name) for address, name, fingerprint in copies.known())
    return {copy.address: copy for copy in known if os.path.lexists(copy.path)}
