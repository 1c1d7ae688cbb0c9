"""Parse a file: load its text and metadata, and cut the text into chunks."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Protocol

from chains.documents import versions
from chains.errors import IngestionError
from chains.ingestion.chunks import Chunk, Chunker
from chains.ingestion.source import FILE_DATE, Loader, SourceText, given, without_controls
from chains.ingestion.statements import audiences_in, mark_in, strictest

# Every chunk carries the metadata, so that a title of a megabyte would be stored thousands of times.
MAX_METADATA = 8000
MAX_CHUNKS = 20_000
# The days of the files with which python-docx, python-pptx, ZIP, Unix, reportlab and calibre begin.
OF_TEMPLATES = frozenset({"2013-12-23", "2013-01-27", "1980-01-01", "1970-01-01", "2000-01-01", "0101-01-01"})
# Formats whose rows may each say who they are for.
ROWS = frozenset({".csv", ".jsonl", ".ndjson", ".tsv", ".xlsm", ".xlsx"})


@dataclass(frozen=True, slots=True)
class Parsed:
    """The chunks of a file, its metadata, and in words what of it could not be read.

    `suspicious` are the places of the chunks that try to steer a language model, with the words that do. `mark` is
    the line by which the file says that it is not for everybody, if one does. `attached` are further documents in it.
    """

    chunks: list[Chunk]
    metadata: dict[str, str]
    warnings: tuple[str, ...] = ()
    suspicious: Mapping[int, str] = field(default_factory=dict)
    mark: str = ""
    attached: Mapping[str, "Parsed"] = field(default_factory=dict)


class Parser(Protocol):
    """Parses files that have one of the `endings` (in lower case)."""

    @property
    def endings(self) -> Collection[str]: ...

    def parse(self, path: Path) -> Parsed:
        """Return what a file holds. Raise IngestionError if it is unreadable, or has no text."""

    def close(self) -> None:
        """Stop what is being parsed, from any thread."""


def parse_file(path: Path, loaders: Mapping[str, Loader], chunker: Chunker) -> Parsed:
    """Load a file by the loader of its ending, and cut it. Raise IngestionError if it is unreadable, or has no text."""
    try:
        return _parsed(loaders[path.suffix.lower()](path), path.suffix.lower(), chunker)
    except (IngestionError, MemoryError):
        raise
    except Exception as error:  # Whatever a hostile file makes a library do, the run goes on.
        reason = "it is damaged, or not of the type that its extension says"
        raise IngestionError(f"the file cannot be read ({type(error).__name__}): {reason}") from error


def _parsed(source: SourceText, ending: str, chunker: Chunker) -> Parsed:
    """Cut a document and those attached to it, and check their sizes; what of these has no text is a warning."""
    chunks = chunker.split(source)
    if not chunks:
        raise IngestionError("the file contains headings only: there is no text to index")
    if len(chunks) > MAX_CHUNKS:
        raise IngestionError(f"the document has more than {MAX_CHUNKS} chunks; split it")
    audiences = audiences_in(source.text, rows=ending in ROWS)
    stated = strictest([source.metadata.get("audience", ""), *audiences])
    changed = source.metadata.get(FILE_DATE, "")
    about = given(last_updated="" if changed in OF_TEMPLATES else changed) | versions.stated(source.text)
    about |= source.metadata | given(audience=stated)
    metadata = {name: without_controls(value) for name, value in about.items() if name != FILE_DATE}
    if sum(map(len, metadata.values())) > MAX_METADATA:
        raise IngestionError(f"the metadata of the document is longer than {MAX_METADATA} characters; shorten it")
    attached, warnings = {}, list(source.warnings)
    for name, document in source.attached.items():
        try:
            attached[name] = _parsed(document, PurePath(name).suffix.lower(), chunker)
        except IngestionError as error:
            warnings.append(f"the attachment {name} is not read: {error}")
    mark = without_controls(mark_in(source.text))
    return Parsed(chunks, metadata, tuple(warnings), mark=mark, attached=attached)
