"""Find the files of a corpus, and report why others are left out."""

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import accumulate
from pathlib import Path

from pathspec import GitIgnoreSpec

from chains.documents.audience import Audience
from chains.errors import IngestionError
from chains.regular_files import read_text

# At the top of a corpus: what of it is no knowledge, in the syntax of .gitignore.
IGNORE_FILE = ".waypointignore"
WILDCARDS = re.compile(r"\*+")
MAX_WILDCARDS = 4  # Each further one multiplies the time of matching a long name by fifty.
# What stands beside the documents and is read for something else.
BESIDE = {
    "scope.yaml": "a scope file: what is declined before the search",
    "teams.yaml": "teams to contact, for PAGE_PATH",
    "examples.yaml": "example questions, for PAGE_PATH",
    "page.yaml": "name and greeting, for PAGE_PATH",
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """What a user chose for an added file; the document id is the path below `root`. An empty category is none."""

    audience: Audience
    category: str
    root: Path


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the corpus at `root`. `given` is the folder as the user wrote it, before links were followed."""

    root: Path
    path: Path
    given: Path
    chosen: Chosen | None = None

    @property
    def relative(self) -> str:
        return self.path.relative_to(self.root).as_posix()

    @property
    def doc_id(self) -> str:
        """Return the path below the root without the file's ending, joined by underscores."""
        return "_".join(self.path.relative_to(self.root).with_suffix("").parts)

    def attachment(self, name: str) -> "SourceFile":
        """Return a document within this file as one below it."""
        return replace(self, path=self.path / name)

    @property
    def folders(self) -> tuple[str, ...]:
        """Return the names of all folders that the file lies in, as given and with links followed, outermost first."""
        return (*self.given.parts, *self.path.parent.parts, *self.path.resolve().parent.parts)


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be used, or was left out on purpose, and the reason in words."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class FoundFiles:
    """The files of a corpus, the paths left out on purpose, those that cannot be used, and the folders not listed."""

    files: list[SourceFile] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    unlisted: list[Path] = field(default_factory=list)


def real_path(path: Path) -> Path:
    """Return the absolute path with links followed. Raise IngestionError if there is none, or it is not UTF-8."""
    try:
        real = path.expanduser().resolve()
        real.exists()
        str(real).encode()
    except (OSError, RuntimeError, ValueError) as error:
        msg = f"{printable(path)!r} cannot be read: {getattr(error, 'strerror', None) or error}"
        raise IngestionError(msg) from error
    return real


def find_files(paths: Iterable[Path], endings: Collection[str]) -> FoundFiles:
    """Return the files below `paths` that have one of the `endings`, and what was left out.

    Hidden files, READMEs and what `.waypointignore` names are left out. So are links that lead out of the folder, links
    to folders, and whatever is no regular file. Raise IngestionError if a path is neither a folder nor a file that a
    loader reads, or `.waypointignore` cannot be read.
    """
    found = FoundFiles()
    for given in paths:
        path, as_given = real_path(given), given.expanduser().absolute()
        if path.is_dir():
            _search(path, as_given, endings, found)
            continue
        if not path.is_file():
            raise IngestionError(f"{str(path)!r} does not exist, or is neither a file nor a folder")
        if path.suffix.lower() not in endings:
            msg = f"{path.name!r} has no ending that can be read; the endings are {', '.join(sorted(endings))}"
            raise IngestionError(msg)
        found.files.append(SourceFile(path.parent, path, as_given.parent))
    unique = {file.path: file for file in reversed(found.files)}
    found.files[:] = reversed(unique.values())
    return found


def printable(path: os.PathLike[str] | str) -> str:
    r"""Return a path with the bytes of its name that are not UTF-8 written as `\udcff`."""
    return os.fspath(path).encode("utf-8", "backslashreplace").decode()


def _search(root: Path, given: Path, endings: Collection[str], found: FoundFiles) -> None:
    ignored = _ignored(root)

    def reason_to_skip(path: Path) -> str | None:
        return _no_knowledge(path, root, endings) or ignored(path.relative_to(root).as_posix())

    unlisted: dict[Path, str] = {}
    for entry in sorted(_walk(root, found, unlisted), key=lambda entry: Path(entry.path)):
        path = Path(entry.path)
        reason = reason_to_skip(path)
        if not reason and entry.is_symlink():
            reason = _reason_not_to_follow(path, root, reason_to_skip)
        elif not reason and not entry.is_file():
            reason = "it is not a regular file"
        if reason:
            found.skipped.append(Problem(path.relative_to(root).as_posix(), reason))
        else:
            found.files.append(SourceFile(root, path, given))
    for folder, error in unlisted.items():
        found.unlisted.append(folder)
        relative = folder.relative_to(root).as_posix()
        if reason := ignored(f"{relative}/"):
            found.skipped.append(Problem(relative, reason))
        else:
            found.problems.append(Problem(relative, f"the folder cannot be read: {error}; its documents stay"))


def _walk(root: Path, found: FoundFiles, unlisted: dict[Path, str]) -> Iterator[os.DirEntry[str]]:
    """Yield what is neither hidden nor a folder. Folders wait in a list: a recursion would fail on a very deep tree."""
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError as error:
            unlisted[folder] = str(error.strerror)
            continue
        for entry in entries:
            relative = printable(Path(entry.path).relative_to(root).as_posix())
            if entry.name.startswith("."):
                found.skipped.append(Problem(relative, "hidden"))
            elif printable(entry.name) != entry.name:
                found.problems.append(Problem(relative, "its name is not UTF-8; rename it"))
            elif entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            else:
                yield entry


def _no_knowledge(file: Path, root: Path, endings: Collection[str]) -> str | None:
    if any(part.startswith(".") for part in file.relative_to(root).parts):
        return "hidden"
    if file.stem.upper() == "README":
        return "a README describes the folder and is no knowledge"
    if file.name.endswith(".tests.yaml"):
        return "tests of the documents, for `waypoint test`"
    if file.name in BESIDE:
        return BESIDE[file.name]
    return f"no loader reads {file.suffix or 'files without an ending'}" if file.suffix.lower() not in endings else None


def _reason_not_to_follow(link: Path, root: Path, reason_to_skip: Callable[[Path], str | None]) -> str | None:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):
        return "a symbolic link that leads nowhere"
    if not target.is_relative_to(root):
        return "a symbolic link out of the folder is not followed"
    if not target.is_file():
        return "a symbolic link is followed to regular files only"
    return f"a symbolic link to {target.relative_to(root).as_posix()!r}" if reason_to_skip(target) is None else None


def _ignored(root: Path) -> Callable[[str], str | None]:
    """Return a function that gives the line of `.waypointignore` that matches a path below the folder."""
    file = root / IGNORE_FILE
    try:
        if not file.is_file():
            return lambda _: None
        lines = list(filter(None, read_text(file).splitlines()))
        if slow := next((line for line in lines if len(WILDCARDS.findall(line)) > MAX_WILDCARDS), None):
            raise ValueError(f"more than {MAX_WILDCARDS} wildcards in {slow!r}")
        patterns = GitIgnoreSpec.from_lines(lines)
    except (OSError, ValueError, IngestionError) as error:
        msg = f"{IGNORE_FILE} in {str(root)!r} cannot be read ({error}); its lines are those of a .gitignore"
        raise IngestionError(msg) from error

    def reason(path: str) -> str | None:
        found = patterns.check_file(path)
        return f"{lines[found.index]!r} in {IGNORE_FILE}" if found.include and found.index is not None else None

    return reason


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
        self.recorded = set(recorded)
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

    def _identify(self, file: SourceFile) -> Source:
        wanted = Source(file.doc_id, str(file.root), file.relative)
        ids = accumulate(reversed(file.root.parts[1:]), lambda doc_id, name: f"{name}_{doc_id}", initial=file.doc_id)
        unique = f"{file.doc_id}_{hashlib.sha256(str(file.path).encode()).hexdigest()[:12]}"
        for doc_id in (*ids, unique):
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
            and not any(source.path.is_relative_to(place) for place in unknown)
            and (source.root == str(folder) or source.is_gone)
        ]
