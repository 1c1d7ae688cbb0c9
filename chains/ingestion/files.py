"""Paths -> the files in them that are knowledge, each with its document id; and what was left out, and why."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from chains.errors import IngestionError

# At the top of a corpus: what of it is no knowledge, in the syntax of .gitignore.
IGNORE_FILE = ".waypointignore"

# Folders of a knowledge base that stand for a category; any other folder stands for itself.
CATEGORIES = {
    "01_regulatory": "regulatory",
    "02_carriers": "carrier",
    "03_reference": "reference",
    "04_internal_synthetic": "internal",
}


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the corpus: `path` is `root / relative`."""

    root: Path
    path: Path

    @property
    def relative(self) -> str:
        """Return the path below the corpus folder, with forward slashes."""
        return self.path.relative_to(self.root).as_posix()

    @property
    def folder(self) -> str:
        """Return the folders between the corpus and the file joined by underscores, or the corpus folder's name."""
        parts = self.path.relative_to(self.root).parent.parts or (self.root.name,)
        return "_".join(parts)

    @property
    def doc_id(self) -> str:
        """Return the folder and the file's name without its ending, joined by an underscore."""
        return f"{self.folder}_{self.path.stem}"

    @property
    def category(self) -> str:
        """Return the category that the folder stands for."""
        return CATEGORIES.get(self.folder, self.folder)


@dataclass(frozen=True, slots=True)
class Problem:
    """A file that could not be used, or was left out on purpose, and the reason in words."""

    path: str
    reason: str


def find_files(paths: Collection[Path], endings: Collection[str]) -> tuple[list[SourceFile], list[Problem]]:
    """Return the files below `paths` that have one of the `endings`, and those left out.

    Raises:
        IngestionError: a path does not exist, a file given by name has an ending that no loader reads, or a
            `.waypointignore` cannot be read.
    """
    found: list[SourceFile] = []
    skipped: list[Problem] = []
    for path in (given.expanduser().resolve() for given in paths):
        if not path.exists():
            msg = f"{str(path)!r} does not exist; give a folder or a file with one of the endings {_list(endings)}"
            raise IngestionError(msg)
        if path.is_file():
            found.append(_named(path, endings))
            continue
        ignored = _ignored(path)
        for file in _walk(path):
            reason = _reason_to_skip(file, path, endings) or ignored(file.relative_to(path).as_posix())
            if reason:
                skipped.append(Problem(file.relative_to(path).as_posix(), reason))
            else:
                found.append(SourceFile(path, file))
    return list(dict.fromkeys(found)), skipped


def _named(path: Path, endings: Collection[str]) -> SourceFile:
    if path.suffix.lower() not in endings:
        msg = f"{path.name!r} has no ending that can be read; the endings are {_list(endings)}"
        raise IngestionError(msg)
    return SourceFile(path.parent, path)


def _walk(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def _reason_to_skip(file: Path, root: Path, endings: Collection[str]) -> str | None:
    if any(part.startswith(".") for part in file.relative_to(root).parts):
        return "hidden"
    if file.stem.upper() == "README":
        return "a README describes the folder and is no knowledge"
    if file.suffix.lower() not in endings:
        return f"no loader reads {file.suffix or 'files without an ending'}"
    return None


def _ignored(root: Path) -> Callable[[str], str | None]:
    """Return what tells for a path below the folder why it is ignored, if it is."""
    file = root / IGNORE_FILE
    if not file.is_file():
        return lambda _: None
    try:
        lines = list(filter(None, file.read_text(encoding="utf-8").splitlines()))
        patterns = GitIgnoreSpec.from_lines(lines)
    except (OSError, ValueError) as error:
        msg = f"{IGNORE_FILE} in {str(root)!r} cannot be read ({error}); its lines are those of a .gitignore"
        raise IngestionError(msg) from error

    def reason(path: str) -> str | None:
        found = patterns.check_file(path)
        return f"{lines[found.index]!r} in {IGNORE_FILE}" if found.include and found.index is not None else None

    return reason


def _list(endings: Collection[str]) -> str:
    return ", ".join(sorted(endings))
