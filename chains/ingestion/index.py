"""Files of a corpus -> chunks in the vector store, and a report: what is unchanged is not embedded again."""

import hashlib
import json
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from langchain_core.documents import Document

from chains.errors import IngestionError
from chains.ingestion.chunks import Chunker
from chains.ingestion.files import Problem, SourceFile, find_files
from chains.ingestion.source import Loader, SourceText
from chains.ingestion.writing import DOC_ID, Changes, Index, Writer, mend
from chains.ports import Progress

_INTERNAL_SOURCES = ("internal", "synthetic_internal")


@dataclass(frozen=True, slots=True)
class Report:
    """What an ingestion did, counted in chunks.

    `problems` could not be used, `skipped` was left out on purpose, `warnings` tell what may be missing.
    """

    files: int = 0
    chunks: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    @property
    def changed(self) -> bool:
        """Say whether the index holds anything else than before."""
        return bool(self.added or self.updated or self.deleted)


def ingest(
    paths: Collection[Path],
    *,
    into: Index,
    loaders: Mapping[str, Loader],
    chunker: Chunker,
    progress: Progress | None = None,
    dry_run: bool = False,
    min_chunks: int = 0,
) -> Report:
    """Bring the store in line with the files below `paths`, and return what changed.

    Args:
        paths: folders or files; what vanished from a folder is removed, other documents stay.
        into: the store and its records.
        loaders: how to read a file, by its ending in lower case.
        chunker: how to cut a text.
        progress: told after each file how many are in the store.
        dry_run: count what would change, and change nothing.
        min_chunks: warn where the whole index holds fewer.

    Raises:
        IngestionError: a path does not exist. A file that cannot be read is reported, and what the store holds of
            it stays.
    """
    started = time.perf_counter()
    files, skipped = find_files(paths, loaders.keys())
    report = Report(skipped=skipped)
    writer = Writer(into, mend(into, dry_run=dry_run), dry_run=dry_run)
    taken: dict[str, SourceFile] = {}
    for number, file in enumerate(files, start=1):
        try:
            report = _add(report, file, loaders=loaders, chunker=chunker, taken=taken, writer=writer)
        except IngestionError as error:
            report.problems.append(Problem(file.relative, str(error)))
        if progress:
            progress(number - writer.waiting, len(files), file.relative)
    writer.flush()
    if progress:
        progress(len(files), len(files), "done")
    for folder in _folders(paths):
        report = _count(report, writer.remove_vanished(str(folder), {file.doc_id for file in files}))
    report.warnings.extend(_few(len(writer.held), min_chunks))
    return replace(report, seconds=round(time.perf_counter() - started, 3))


def _add(
    report: Report,
    file: SourceFile,
    *,
    loaders: Mapping[str, Loader],
    chunker: Chunker,
    taken: dict[str, SourceFile],
    writer: Writer,
) -> Report:
    _claim(file, taken)
    source = loaders[file.path.suffix.lower()](file.path)
    chunks = _chunks(file, source, chunker)
    changes = writer.write(file.doc_id, chunks, folder=str(file.root))
    report.warnings.extend(Problem(file.relative, warning) for warning in source.warnings)
    return _count(replace(report, files=report.files + 1, chunks=report.chunks + len(chunks)), changes)


def _claim(file: SourceFile, taken: dict[str, SourceFile]) -> None:
    twin = taken.setdefault(file.doc_id, file)
    if twin is not file:
        msg = f"it has the same document id, {file.doc_id!r}, as {twin.relative!r}; rename one of the two"
        raise IngestionError(msg)


def _count(report: Report, changes: Changes) -> Report:
    so_far = Changes(report.added, report.updated, report.unchanged, report.deleted)
    return replace(report, **asdict(so_far + changes))


def _few(chunks: int, least: int) -> Iterator[Problem]:
    if chunks < least:
        yield Problem("the index", f"it holds {chunks} chunks, fewer than MIN_CHUNKS={least}; are documents missing?")


def _folders(paths: Collection[Path]) -> list[Path]:
    return sorted({path.expanduser().resolve() for path in paths if path.expanduser().is_dir()})


def _chunks(file: SourceFile, source: SourceText, chunker: Chunker) -> list[Document]:
    common = {**source.metadata, "category": file.category, "file_path": file.relative, DOC_ID: file.doc_id}
    cut = chunker.split(source)
    if not cut:
        msg = "the file holds headings only: there is no text to index"
        raise IngestionError(msg)
    return [
        Document(
            page_content=chunk.text,
            metadata={
                **common,
                "section": chunk.section,
                "section_path": json.dumps(chunk.section_path, ensure_ascii=False),
                "chunk_index": number,
                "start_char": chunk.start_char,
                "end_char": chunk.end_char,
                "table_head": chunk.context,
                **({"page": chunk.page} if chunk.page else {}),
                "audience": _audience(common),
                "content_hash": hashlib.sha256(chunk.text.encode()).hexdigest(),
            },
        )
        for number, chunk in enumerate(cut)
    ]


def _audience(metadata: Mapping[str, str]) -> str:
    internal = metadata["category"] == "internal" or metadata.get("source_type", "").startswith(_INTERNAL_SOURCES)
    return "internal" if internal else "public"


def indexed_fields(chunk: Document) -> tuple[str, str, str]:
    """Return what of a chunk is searched: its title, its section path, and its words under the head of their table."""
    path = json.loads(chunk.metadata.get("section_path") or "[]")
    words = "\n".join(filter(None, [chunk.metadata.get("table_head"), chunk.page_content]))
    return chunk.metadata.get("title") or "", " > ".join(path), words


def indexed_text(chunk: Document) -> str:
    """Return what of a chunk is embedded: `title > section path`, and below it its words."""
    title, path, words = indexed_fields(chunk)
    return "\n".join(filter(None, [" > ".join(filter(None, [title, path])), words]))
