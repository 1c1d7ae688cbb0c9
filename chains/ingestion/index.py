"""Chunks of files -> the vector store, by LangChain's indexing API: what is unchanged is not embedded again.

Each document is one source of the record manager and one batch of `index()`, so that its old chunks are cleaned up
exactly when its new ones are in. A second record manager remembers which corpus folder each document came from, so
that a document that vanishes from the folder leaves the store as well.
"""

import hashlib
import json
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.indexing import RecordManager, index
from langchain_core.vectorstores import VectorStore

from chains.errors import IngestionError
from chains.ingestion.chunks import Chunker
from chains.ingestion.files import Problem, SourceFile, find_files
from chains.ingestion.markdown import SourceText
from chains.ports import Progress

Loader = Callable[[Path], SourceText]

_DOC_ID = "doc_id"
_INTERNAL_SOURCES = ("internal", "synthetic_internal")


@dataclass(frozen=True, slots=True)
class Index:
    """Where chunks live: the store, its records (chunk id by document), and the documents' origins (by folder)."""

    store: VectorStore
    records: RecordManager
    origins: RecordManager


@dataclass(frozen=True, slots=True)
class Report:
    """What an ingestion did, counted in chunks; `problems` could not be used, `skipped` was left out on purpose."""

    files: int = 0
    chunks: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    seconds: float = 0.0
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)


def ingest(
    paths: Collection[Path],
    *,
    into: Index,
    loaders: Mapping[str, Loader],
    chunker: Chunker,
    progress: Progress | None = None,
    dry_run: bool = False,
) -> Report:
    """Bring the store in line with the files below `paths`, and return what changed.

    Args:
        paths: folders or files; what vanished from a folder is removed, other documents stay.
        into: the store and its records.
        loaders: how to read a file, by its ending in lower case.
        chunker: how to cut a text.
        progress: told after each file.
        dry_run: count what would change, and change nothing.

    Raises:
        IngestionError: a path does not exist. A file that cannot be read is reported, and what the store holds of
            it stays.
    """
    started = time.perf_counter()
    files, skipped = find_files(paths, loaders.keys())
    report = Report(skipped=skipped)
    taken: dict[str, SourceFile] = {}
    for number, file in enumerate(files, start=1):
        try:
            report = _add(report, _sync(_chunks(file, loaders, chunker, taken), file, into, dry_run=dry_run))
        except IngestionError as error:
            report = replace(report, problems=[*report.problems, Problem(file.relative, str(error))])
        if progress:
            progress(number, len(files), file.relative)
    for folder in _folders(paths):
        deleted = _remove_vanished(folder, {file.doc_id for file in files}, into, dry_run=dry_run)
        report = replace(report, deleted=report.deleted + deleted)
    return replace(report, seconds=round(time.perf_counter() - started, 3))


def _folders(paths: Collection[Path]) -> list[Path]:
    return sorted({path.expanduser().resolve() for path in paths if path.expanduser().is_dir()})


def _chunks(
    file: SourceFile, loaders: Mapping[str, Loader], chunker: Chunker, taken: dict[str, SourceFile]
) -> list[Document]:
    twin = taken.setdefault(file.doc_id, file)
    if twin is not file:
        msg = f"it has the same document id, {file.doc_id!r}, as {twin.relative!r}; rename one of the two"
        raise IngestionError(msg)
    source = loaders[file.path.suffix.lower()](file.path)
    common = {**source.metadata, "category": file.category, "file_path": file.relative, _DOC_ID: file.doc_id}
    cut = chunker.split_markdown(source.text, start=source.body_start, title=source.metadata["title"])
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


def chunk_id(chunk: Document) -> str:
    """Return the id of a chunk: the SHA-256 of its words and its metadata, so that any change makes a new one."""
    words = json.dumps([chunk.page_content, chunk.metadata], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(words.encode()).hexdigest()


def _sync(chunks: list[Document], file: SourceFile, into: Index, *, dry_run: bool) -> Report:
    keys = [chunk_id(chunk) for chunk in chunks]
    before = set(into.records.list_keys(group_ids=[file.doc_id]))
    if not dry_run:
        # Remembered first: should the run be cut off, the next one still knows where these chunks came from.
        into.origins.update([file.doc_id], group_ids=[str(file.root)])
        index(
            chunks,
            into.records,
            into.store,
            batch_size=max(1, len(chunks)),
            cleanup="incremental",
            source_id_key=_DOC_ID,
            key_encoder=chunk_id,
        )
    added, deleted = len(set(keys) - before), len(before - set(keys))
    updated = min(added, deleted)
    return Report(
        files=1,
        chunks=len(keys),
        added=added - updated,
        updated=updated,
        unchanged=len(before & set(keys)),
        deleted=deleted - updated,
    )


def _remove_vanished(folder: Path, present: Collection[str], into: Index, *, dry_run: bool) -> int:
    vanished = sorted(set(into.origins.list_keys(group_ids=[str(folder)])) - set(present))
    keys = into.records.list_keys(group_ids=vanished) if vanished else []
    if not dry_run and vanished:
        if keys:
            into.store.delete(keys)
            into.records.delete_keys(keys)
        into.origins.delete_keys(vanished)
    return len(keys)


def _add(report: Report, more: Report) -> Report:
    return replace(
        report,
        files=report.files + more.files,
        chunks=report.chunks + more.chunks,
        added=report.added + more.added,
        updated=report.updated + more.updated,
        unchanged=report.unchanged + more.unchanged,
        deleted=report.deleted + more.deleted,
    )
