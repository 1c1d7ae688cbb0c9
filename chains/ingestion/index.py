"""Bring the vector store in line with the files of a corpus; unchanged chunks are not embedded again."""

import hashlib
import json
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from langchain_core.documents import Document

from chains.documents.audience import audience_of, category_of
from chains.errors import IngestionError
from chains.ingestion.engine import Engine, Vectors
from chains.ingestion.files import Chosen, Problem, Source, SourceFile, Sources, find_files, real_path
from chains.ingestion.parsing import Parsed
from chains.ingestion.statements import mark_in_name
from chains.ports import Progress
from chains.text.words import searchable

DOC_ID = "doc_id"

# New chunks are embedded and staged so many at a time, of one document or of many small ones: a batch costs some
# milliseconds beside the embedding, and its vectors have to fit into memory.
CHUNKS_A_BATCH = 256
# So many chunks of one document are worth a word of progress after each batch.
MANY_CHUNKS = 4 * CHUNKS_A_BATCH


@dataclass
class Change:
    """What an ingestion changes: ids of new and of stale chunks, sources written and forgotten, texts of scope files.

    With `reset` all that the index holds goes.
    """

    reset: bool = False
    new: list[str] = field(default_factory=list)
    stale: set[str] = field(default_factory=set)
    sources: dict[str, Source] = field(default_factory=dict)
    forgotten: set[str] = field(default_factory=set)
    scopes: Mapping[str, str | None] | None = None


class Index(Protocol):
    """What an ingestion reads of an index, and where it prepares a change."""

    def count(self) -> int: ...

    def sources(self) -> Collection[Source]: ...

    def ids_of(self, doc_id: str) -> set[str]: ...

    def staged(self, ids: Sequence[str]) -> set[str]:
        """Return which of the chunks were embedded already, by a run that did not come to its end."""

    def stage(self, chunks: Sequence[Document], vectors: Vectors) -> None:
        """Keep chunks with their vectors until they are published."""


class Changes(NamedTuple):
    """How many chunks of a document, or of many, are new, in place of others, as before, or gone."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0


class Writer:
    """Compares documents with an index, and stages what is new; `flush` stages what still waits.

    Batches are embedded ahead, and staged in the order in which they were filled. What a killed run has staged is taken
    by the next one. In a dry run everything is counted, and nothing is staged. `tell` receives after each batch of a
    long document how many of its chunks are staged.
    """

    def __init__(
        self,
        into: Index,
        engine: Engine,
        *,
        reset: bool = False,
        dry_run: bool = False,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        self.change = Change(reset=reset)
        self.sources = Sources(() if reset else into.sources())
        self._into, self._engine = into, engine
        self._dry_run, self._tell = dry_run, tell
        self._held = 0 if reset else into.count()
        self._new: list[Document] = []
        self._begun: deque[tuple[list[Document], Future[Vectors]]] = deque()

    @property
    def count(self) -> int:
        """Return how many chunks the index holds after the change."""
        return self._held + len(self.change.new) - len(self.change.stale)

    def write(self, source: Source, chunks: Collection[Document]) -> Changes:
        keyed = {chunk_id(chunk): chunk for chunk in chunks}
        before = set() if self.change.reset else self._into.ids_of(source.doc_id)
        new, stale = [key for key in keyed if key not in before], before - keyed.keys()
        self.change.new += new
        self.change.stale |= stale
        if new or stale or source not in self.sources.recorded:
            self.change.sources[source.doc_id] = source
        if not self._dry_run:
            staged = self._into.staged(new) if new else set()
            self._new += [keyed[key].model_copy(update={"id": key}) for key in new if key not in staged]
            if len(self._new) >= CHUNKS_A_BATCH:
                self._begin()
        updated = min(len(new), len(stale))
        return Changes(len(new) - updated, updated, len(before & keyed.keys()), len(stale) - updated)

    def flush(self) -> None:
        self._begin()
        self._stage(leave=0)

    def remove(self, sources: Iterable[Source]) -> Changes:
        before = len(self.change.stale)
        for source in sources:
            self.change.stale |= self._into.ids_of(source.doc_id)
            self.change.forgotten.add(source.doc_id)
        return Changes(deleted=len(self.change.stale) - before)

    def _begin(self) -> None:
        """Begin to embed what waits, in batches of about the same size, and stage the oldest ones meanwhile."""
        new, self._new = self._new, []
        count = max(1, len(new) // CHUNKS_A_BATCH) if new else 0
        for number in range(count):
            chunks = new[len(new) * number // count : len(new) * (number + 1) // count]
            self._begun.append((chunks, self._engine.embed([indexed_text(chunk) for chunk in chunks])))
            self._stage(leave=self._engine.batches)
            if self._tell and len(new) >= MANY_CHUNKS:
                begun = len(new) * (number + 1) // count
                self._tell(max(0, begun - sum(len(chunks) for chunks, _ in self._begun)), len(new))

    def _stage(self, *, leave: int) -> None:
        while len(self._begun) > leave:
            chunks, vectors = self._begun.popleft()
            self._into.stage(chunks, vectors.result())


def chunk_id(chunk: Document) -> str:
    """Return the id of a chunk: the SHA-256 of its words and its metadata, so that any change makes a new one."""
    words = json.dumps([chunk.page_content, chunk.metadata], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(words.encode()).hexdigest()


# So much of a line is shown in a warning.
MOST_QUOTED = 80
# Of the section path and the page, so many names are embedded with a chunk of a page.
NAMES_ON_A_PAGE = 3


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file, and what becomes of its document in the index."""

    path: str
    change: Literal["add", "update", "remove"]


@dataclass(slots=True)
class Report:
    """What an ingestion did, counted in chunks; `internal` counts the files that only staff sees.

    `changes` lists the files that differ from the index, `problems` unusable files, `skipped` those left out on
    purpose, `warnings` what may be missing.
    """

    files: int = 0
    internal: int = 0
    chunks: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0
    seconds: float = 0.0
    changes: list[FileChange] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    skipped: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)

    def count(self, changes: Changes) -> None:
        for name, number in changes._asdict().items():
            setattr(self, name, getattr(self, name) + number)


def ingest(
    paths: Sequence[Path],
    *,
    into: Index,
    engine: Engine,
    reset: bool = False,
    progress: Progress | None = None,
    dry_run: bool = False,
    min_chunks: int = 0,
    addresses: Mapping[Path, str] | None = None,
    only: Set[Path] | None = None,
    chosen: Mapping[Path, Chosen] | None = None,
) -> tuple[Report, Change]:
    """Compare the files below `paths` with an index, stage what is new, and return the change that is left to publish.

    What vanished from a folder is removed, other documents stay; a file that is in the index may be given after it was
    deleted. With `reset` the index counts as empty; in a `dry_run` nothing is staged. Of the files found, `only` those
    are read again, themselves or by their folder. `addresses` say where files came from, for citations to link to; what
    a user has `chosen` for a file wins over its folders and front matter. `progress` receives after each file how many
    are read.

    Raise IngestionError if a path does not exist. A file or a folder that cannot be read is reported, and what the
    index holds of it stays.
    """
    started = time.perf_counter()

    def tell(staged: int, total: int) -> None:
        if progress:
            progress(number - 1, len(files), f"{file.relative}, {staged:,} of {total:,} chunks")

    writer = Writer(into, engine, reset=reset, dry_run=dry_run, tell=tell)
    sources = writer.sources
    found = find_files([path for path in paths if not sources.is_deleted(real_path(path))], engine.endings)
    report = Report(skipped=found.skipped, problems=found.problems)
    files = [file for file in found.files if only is None or not only.isdisjoint([file.path, *file.path.parents])]
    choices = chosen or {}
    files = [replace(file, root=one.root, chosen=one) if (one := choices.get(file.path)) else file for file in files]
    read: set[Path] = set()
    for number, (file, parsed) in enumerate(zip(files, engine.read(files), strict=True), start=1):
        try:
            report.internal += _add(report, file, parsed, writer=writer, address=(addresses or {}).get(file.path, ""))
            report.files += 1
            read.add(file.path)
        except IngestionError as error:
            report.problems.append(Problem(file.relative, str(error)))
        if progress:
            progress(number, len(files), file.relative)
    writer.flush()
    if progress:
        progress(len(files), len(files), "done")
    present = {file.path for file in found.files}
    for path in dict.fromkeys(map(real_path, paths)):
        vanished = sources.vanished(path, present, found.unlisted, unread=present - read)
        report.count(writer.remove(vanished))
        report.changes.extend(FileChange(source.relative, "remove") for source in vanished)
    if writer.count < min_chunks:
        text = f"it holds {writer.count} chunks, fewer than MIN_CHUNKS={min_chunks}; are documents missing?"
        report.warnings.append(Problem("the index", text))
    report.seconds = round(time.perf_counter() - started, 3)
    return report, writer.change


def _add(
    report: Report, file: SourceFile, parsed: Parsed | IngestionError, *, writer: Writer, address: str = ""
) -> bool:
    """Write a file and what is attached to it, and return whether it is internal; `address` is that of a web site."""
    if isinstance(parsed, IngestionError):
        raise parsed
    if file.chosen and file.chosen.audience == "public" and audience_of(parsed.metadata, unstated="public") != "public":
        raise IngestionError("the file says that it is internal; add it for the staff only, or change what it says")
    if address.startswith(("https://", "http://")):
        parsed = replace(parsed, metadata={**parsed.metadata, "source_urls": json.dumps([address])})
    source, warning = writer.sources.claim(file)  # A file that cannot be read takes no other file's document id.
    chunks = _documents(replace(file, root=Path(source.root)), source.doc_id, parsed)
    changes = writer.write(source, chunks)
    internal = chunks[0].metadata["audience"] == "internal"
    doubts = _doubts(f"{file.given.name}/{file.relative}", parsed, public=not internal)
    report.warnings.extend(Problem(file.relative, text) for text in (warning, *parsed.warnings, *doubts) if text)
    if changes.added or changes.updated or changes.deleted:
        whole = changes.added == len(chunks)
        report.changes.append(FileChange(file.relative, "add" if whole else "update"))
    report.chunks += len(chunks)
    report.count(changes)
    held = chunks[0].metadata
    about = {key: held[key] for key in ("audience", "category", "source_urls") if key in held}
    for name, document in parsed.attached.items():  # Whoever may read the file may read these, and nobody else.
        attached = replace(document, metadata=document.metadata | about)
        _add(report, file.attachment(name), attached, writer=writer)
    return bool(internal)


def _doubts(path: str, parsed: Parsed, *, public: bool) -> Iterator[str]:
    """Yield the warnings of a file with orders to the model, and of a public one that says it is not for everybody."""
    if marked := len(parsed.suspicious):
        words = ", ".join(dict.fromkeys(f"“{words[:MOST_QUOTED]}”" for words in parsed.suspicious.values()))
        chunks = f"{marked} of {len(parsed.chunks)} chunks"
        yield f"{chunks} read like orders to a language model, and are not shown to it: {words}"
    name = mark_in_name(path)
    if public and (name or parsed.mark):
        where = f"its path says {name!r}" if name else f"its first lines say {parsed.mark[:MOST_QUOTED]!r}"
        remedy = "write `audience: internal` into it, or move it to an internal folder"
        yield f"strangers may see it, though {where}; {remedy}"


def _documents(file: SourceFile, doc_id: str, parsed: Parsed) -> list[Document]:
    inside = (
        path.relative_to(file.root) for path in (file.path, file.path.resolve()) if path.is_relative_to(file.root)
    )
    stated, below = parsed.metadata.get("category"), [name for path in inside for name in path.parts[:-1]]
    # The last resort are the folders between the root and the file, or the name of the root.
    label = "_".join(file.path.relative_to(file.root).parent.parts or (file.root.name,))
    common = {
        **parsed.metadata,
        "category": category_of([*file.folders, stated], below=below) or stated or label,
        "file_path": file.relative,
        DOC_ID: doc_id,
    }
    common["audience"] = audience_of(common, folders=file.folders, unstated="public")
    if file.chosen:
        category = file.chosen.category or stated or file.path.parent.name
        common |= {"audience": file.chosen.audience, "category": category}
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
                **({"suspicious": "true"} if number in parsed.suspicious else {}),
                "content_hash": hashlib.sha256(chunk.text.encode()).hexdigest(),
            },
        )
        for number, chunk in enumerate(parsed.chunks)
    ]


def indexed_fields(chunk: Document) -> tuple[str, str, str]:
    """Return what of a chunk is searched by words: title, section path and page, and its text; figures in one form."""
    title, path, words = _said(chunk)
    return searchable(title), searchable(" > ".join(path)), searchable(words)


def indexed_text(chunk: Document) -> str:
    """Return what of a chunk is embedded: `title > section path`, and below it its words.

    Of the path in a source with pages only its end: the parts of a long report, whose names all chunks share, would
    hide what one of them says.
    """
    title, path, words = _said(chunk)
    names = path[-NAMES_ON_A_PAGE:] if chunk.metadata.get("page") else path
    return "\n".join(filter(None, [" > ".join(filter(None, [title, *names])), words]))


def _said(chunk: Document) -> tuple[str, list[str], str]:
    """Return the title of a chunk, the names of the sections that it is in and its page, and its words."""
    metadata, page = chunk.metadata, chunk.metadata.get("page")
    path = json.loads(metadata.get("section_path") or "[]") + [f"page {page}"] * bool(page)
    words = "\n".join(filter(None, [metadata.get("table_head"), chunk.page_content]))
    return str(metadata.get("title") or ""), path, words
