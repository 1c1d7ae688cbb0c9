"""The documents of a folder as `waypoint lint` reads them, and what it finds in them."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

from chains.errors import IngestionError
from chains.ingestion.chunks import Chunk
from chains.ingestion.files import SourceFile, find_files
from chains.ingestion.parsing import Parsed, Parser
from chains.ingestion.text_files import FRONT_MATTER, LOADERS
from chains.ports import Progress
from chains.regular_files import read_any_text

Kind = Literal["conflict", "unreadable", "link", "old", "duplicate", "passage", "title", "version"]
ERRORS: Final[frozenset[Kind]] = frozenset({"conflict", "unreadable", "link"})


@dataclass(frozen=True, order=True)
class Finding:
    """Something that an owner of documents should look at; `line` is 0 where a file has no lines."""

    file: str
    line: int
    kind: Kind
    message: str
    other_file: str = ""
    other_line: int = 0

    @property
    def level(self) -> Literal["error", "warning"]:
        """Return whether it is wrong for sure or may be meant so."""
        return "error" if self.kind in ERRORS else "warning"

    def __str__(self) -> str:
        return f"{place(self.file, self.line)}: {self.kind}: {self.message}"


def shown(path: Path) -> str:
    """Return a path as it is opened from the working directory."""
    here = Path.cwd()
    return path.relative_to(here).as_posix() if path.is_relative_to(here) else str(path)


def place(file: str, line: int) -> str:
    """Return a file and a line as compilers and editors write them."""
    return f"{file}:{line}" if line else file


@dataclass(frozen=True, eq=False)
class Document:
    """A file that was read; `text` is empty but for Markdown and plain text, whose lines can be named."""

    file: SourceFile
    parsed: Parsed
    text: str = ""

    @cached_property
    def name(self) -> str:
        return shown(self.file.path)

    @cached_property
    def metadata(self) -> dict[str, str]:
        """Return what it says of itself, with its place and an id, as the index has them."""
        place = self.file.relative
        return {"doc_id": place} | self.parsed.metadata | {"file_path": place}

    @property
    def chunks(self) -> Sequence[Chunk]:
        return self.parsed.chunks

    @cached_property
    def _lines(self) -> list[int]:
        return [place for place, character in enumerate(self.text) if character == "\n"]

    def line(self, offset: int) -> int:
        """Return the line of an offset, from 1; 0 where the file has no lines."""
        return bisect_right(self._lines, offset - 1) + 1 if self.text else 0


def read_documents(
    parser: Parser,
    paths: Sequence[Path],
    findings: list[Finding],
    progress: Progress | None = None,
    *,
    endings: Collection[str] | None = None,
) -> Iterator[Document]:
    """Yield the documents below the paths, in the order of their names; files that cannot be read go to `findings`.

    Raise IngestionError if a path is neither a folder nor a file that a loader reads.
    """
    found = find_files(paths, endings or parser.endings)
    findings += [Finding(one.path, 0, "unreadable", one.reason) for one in found.problems]
    for number, file in enumerate(found.files, start=1):
        try:
            parsed = parser.parse(file.path)
            faults = [warning for warning in parsed.warnings if warning.startswith(FRONT_MATTER)]
            findings += [Finding(shown(file.path), 0, "unreadable", fault) for fault in faults]
            yield Document(file, parsed, read_any_text(file.path)[0] if file.path.suffix.lower() in LOADERS else "")
            yield from (Document(file.attachment(name), more, "") for name, more in parsed.attached.items())
        except IngestionError as error:
            findings.append(Finding(shown(file.path), 0, "unreadable", str(error)))
        if progress:
            progress(number, len(found.files), file.relative)
