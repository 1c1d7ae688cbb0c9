"""Identify source files across runs: their document ids, and which have vanished.

A source is identified by its absolute path. It keeps the document id, the root and the relative path under which it was
first indexed, whichever folder above it is ingested later.
"""

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from chains.errors import IngestionError
from chains.ingestion.files import SourceFile


@dataclass(frozen=True, slots=True)
class Source:
    """A document id and the file that it stands for, `root / relative`."""

    doc_id: str
    root: str
    relative: str

    @property
    def path(self) -> Path:
        return Path(self.root, self.relative)

    @property
    def is_gone(self) -> bool:
        """Return whether the file was deleted; one in an unreadable folder was not."""
        try:
            os.lstat(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return True
        except OSError:
            return False
        return False


class Sources:
    """The sources of an index: those that it names, and those that this run adds."""

    def __init__(self, recorded: Collection[Source]) -> None:
        self._recorded = set(recorded)
        self._by_id: dict[str, Source] = {}
        self._by_path: dict[Path, Source] = {}
        self._claimed: set[str] = set()
        self._moved: set[tuple[str, str]] = set()
        for source in recorded:
            self._add(source)

    def _add(self, source: Source) -> None:
        self._by_id[source.doc_id] = self._by_path[source.path] = source

    def is_deleted(self, path: Path) -> bool:
        """Return whether a file of the index was deleted while its folder exists."""
        source = self._by_path.get(path)
        return source is not None and source.is_gone and path.parent.is_dir()

    def claim(self, file: SourceFile) -> tuple[Source, str]:
        """Return the source that a file is, and a warning where its document id is not what its path says.

        A new file whose id belongs to a file of another root gets the names of the folders above its root as a prefix.
        A new file takes the place of one that is gone: that is how a corpus moves. Raise IngestionError if two files of
        one root have the same id.
        """
        source = self._by_path.get(file.path) or self._identify(file)
        before, warning = self._by_id.get(source.doc_id), ""
        if before is None and source.doc_id != file.doc_id:
            owner = self._by_id[file.doc_id].path
            warning = f"the document id {file.doc_id!r} belongs to {str(owner)!r}; this document is {source.doc_id!r}"
        elif before and before.root != source.root and (before.root, source.root) not in self._moved:
            self._moved.add((before.root, source.root))
            warning = f"documents of this folder take the place of those of {before.root!r}, which are gone"
        self._add(source)
        self._claimed.add(source.doc_id)
        return source, warning

    def is_recorded(self, source: Source) -> bool:
        return source in self._recorded

    def _identify(self, file: SourceFile) -> Source:
        wanted = Source(file.doc_id, str(file.root), file.relative)
        for doc_id in _ids(file):
            owner = self._by_id.get(doc_id)
            if owner is None or (doc_id not in self._claimed and owner.is_gone):
                break
            if owner.root == wanted.root and doc_id == wanted.doc_id:
                msg = f"it has the same document id, {doc_id!r}, as {owner.relative!r}; rename one of the two"
                raise IngestionError(msg)
        return replace(wanted, doc_id=doc_id)

    def vanished(
        self, folder: Path, present: Collection[Path], unlisted: Iterable[Path], *, unread: Collection[Path] = ()
    ) -> list[Source]:
        """Return the sources below `folder` that are gone, and those of this very root that are now left out.

        What lies in an `unlisted` folder, or is attached to an `unread` file, counts as present.
        """
        unknown = tuple(unlisted)
        return [
            source
            for source in self._by_id.values()
            if source.path.is_relative_to(folder)
            and source.path not in present
            and source.path.parent not in unread
            and source.doc_id not in self._claimed
            and not any(source.path.is_relative_to(one) for one in unknown)
            and (source.root == str(folder) or source.is_gone)
        ]


def _ids(file: SourceFile) -> Iterator[str]:
    """Yield the ids that a file may have, the best first; the last one is taken by no other file."""
    doc_id = file.doc_id
    yield doc_id
    for name in reversed(file.root.parts[1:]):
        doc_id = f"{name}_{doc_id}"
        yield doc_id
    yield f"{file.doc_id}_{hashlib.sha256(str(file.path).encode()).hexdigest()[:12]}"
