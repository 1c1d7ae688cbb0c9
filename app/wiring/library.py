"""Read the index by document: the list, the text, the pages of PDF files; and the scope files of its folders."""

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from langchain_core.documents import Document

from app.ledger.passages import Passages
from app.settings import Settings
from app.wiring.storage import folder_beside, sample_corpus
from chains.documents.audience import INTERNAL, Audience, audience_of, caller_audience
from chains.documents.library import Entry, Titles, describe
from chains.errors import ConfigurationError
from chains.ingestion.files import Problem, Source, real_path
from chains.regular_files import read_text
from chains.scope import SCOPE_FILE, load_scope

if TYPE_CHECKING:
    from app.adapters.documents.pages import IndexedPage, PdfPages

MOST_COMPARED = 3000  # Documents; of more the passages that were found tell which versions there are.
UPLOAD_CATEGORIES = ("regulatory", "carrier", "reference", INTERNAL)
# Processor time and memory for drawing one page of a PDF.
PAGE_TIMEOUT_S, PAGE_MEMORY_MB = 10, 1024


@dataclass(frozen=True)
class Catalogue(Titles):
    """The documents of one version of the index, ordered by category and title, and their recorded sources."""

    sources: Mapping[str, Source] = field(default_factory=dict)

    def public(self) -> "Catalogue":
        entries = {doc_id: entry for doc_id, entry in self.entries.items() if entry.allows("public")}
        sources = {doc_id: self.sources[doc_id] for doc_id in entries if doc_id in self.sources}
        return Catalogue(entries, {doc_id: self.metadata[doc_id] for doc_id in entries}, sources)


@dataclass
class Library:
    """Reads the documents of an index; the list is cached until the index changes."""

    settings: Settings
    current: Callable[[], Passages]
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _listed: tuple[Passages, date, dict[Audience, Catalogue]] | None = field(default=None, init=False)

    def catalogue(self, audience: Audience | None = None) -> Catalogue:
        """Return the documents that an audience may see, by default the caller's; errors are those of `current`."""
        return self.catalogue_of(self.current(), audience or caller_audience())

    def catalogue_of(self, current: Passages, audience: Audience) -> Catalogue:
        today = datetime.now(UTC).date()
        with self._lock:
            if self._listed is None or self._listed[0] is not current or self._listed[1] != today:
                everything = read_catalogue(current, self.settings.link_hosts)
                self._listed = current, today, {"internal": everything, "public": everything.public()}
            return self._listed[2][audience]

    def compared(self, current: Passages, audience: Audience) -> Catalogue | None:
        """Return the documents that an audience may see; None where there are too many to compare for a question."""
        return None if _is_large(current) else self.catalogue_of(current, audience)

    def find(self, doc_id: str) -> Entry | None:
        """Return a document; None if it is unknown or the caller may not see it."""
        return self.catalogue().entries.get(doc_id)

    def present(self, doc_ids: Collection[str], audience: Audience) -> set[str]:
        """Return which documents with these ids an audience may see, without reading the list of all."""
        current = self.current()
        first = {doc_id: ids[0] for doc_id in doc_ids if (ids := current.chunks_of(doc_id))}
        chunks = chunks_by_id(current, list(first.values()))
        seen = {id_ for id_, chunk in chunks.items() if audience in {INTERNAL, audience_of(chunk.metadata)}}
        return {doc_id for doc_id, id_ in first.items() if id_ in seen}

    def chunks(self, doc_id: str) -> list[Document]:
        """Return all chunks of a document, in order; none if the caller may not see it."""
        return self.current().document(doc_id) if self.find(doc_id) else []

    @cached_property
    def pages(self) -> "PdfPages":
        from app.adapters.documents.pages import PdfPages

        return PdfPages(PAGE_TIMEOUT_S, PAGE_MEMORY_MB)

    def page(self, doc_id: str, number: int) -> "IndexedPage | None":
        """Return a page of a PDF file that still exists, or None."""
        from app.adapters.documents.pages import IndexedPage

        catalogue = self.catalogue()
        entry, source = catalogue.entries.get(doc_id), catalogue.sources.get(doc_id)
        if entry is None or source is None or entry.kind != "pdf" or source.is_gone:
            return None
        words = [chunk.page_content for chunk in self.chunks(doc_id) if chunk.metadata.get("page") == number]
        return IndexedPage(source.path, number, words)

    def is_uploaded(self, source: Source) -> bool:
        """Return whether a document was added over HTTP, so that its file is ours."""
        return source.path.is_relative_to(folder_beside(self.settings, "uploads"))

    def is_sample(self, source: Source) -> bool:
        return Path(source.root) == sample_corpus().resolve()

    def close(self) -> None:
        if pages := self.__dict__.pop("pages", None):
            pages.close()


@lru_cache(maxsize=1)  # Not more: old passages would keep their vectors in memory.
def _is_large(index: Passages) -> bool:
    return len(index.sources()) > MOST_COMPARED


def read_catalogue(index: Passages, hosts: Collection[str] = ()) -> Catalogue:
    """Return every document of an index; only its first and last chunk are read."""
    documents, sources = index.documents(), index.sources()
    chunks = chunks_by_id(index, [id_ for one in documents for id_ in (one.first, one.last)])
    written = {source.doc_id: time for source, time in sources.items()}
    found = [
        (describe(first, last, chunks=one.passages, written=written.get(one.doc_id), hosts=hosts), first.metadata)
        for one in documents
        if (first := chunks.get(one.first)) and (last := chunks.get(one.last))
    ]
    found.sort(key=lambda pair: (pair[0].category, pair[0].title.casefold(), pair[0].doc_id))
    entries = {entry.doc_id: entry for entry, _ in found}
    metadata = {entry.doc_id: first for entry, first in found}
    return Catalogue(entries, metadata, {source.doc_id: source for source in sources})


def chunks_by_id(index: Passages, ids: list[str]) -> dict[str, Document]:
    return {str(chunk.id): chunk for chunk in index.get_by_ids(list(dict.fromkeys(ids)))}


OFF = "off"  # SCOPE_FILE, where no question is declined.


def in_force(contents: Passages) -> dict[str, str]:
    """Return the scope files by folder; none if any folder lacks one, because it may answer anything.

    That of the sample corpus counts only while the index holds nothing else.
    """
    sample, scopes = str(sample_corpus().resolve()), contents.scopes()
    scopes = {root: text for root, text in scopes.items() if root != sample} or scopes
    return {} if None in scopes.values() else {root: text for root, text in scopes.items() if text}


def describe_scope(settings: Settings, contents: Passages) -> str:
    if settings.retrieval.scope_file == OFF:
        return "SCOPE_FILE=off: no question is declined before the search"
    if settings.retrieval.scope_file is not None:
        return f"questions are declined before the search by SCOPE_FILE={settings.retrieval.scope_file}"
    if found := in_force(contents):
        files = ", ".join(str(Path(root, SCOPE_FILE)) for root in sorted(found))
        return f"questions are declined before the search by {files}"
    without = next((root for root, text in sorted(contents.scopes().items()) if text is None), None)
    reason = f": {without} has no {SCOPE_FILE}" if without else ""
    return f"no question is declined before the search{reason}"


def read_scopes(
    paths: Sequence[Path], roots: set[str], known: dict[str, str | None]
) -> tuple[dict[str, str | None], list[Problem]]:
    """Return the texts of the scope files of the index, and their problems.

    Args:
        paths: what is ingested now; a scope file applies to its folder.
        roots: the folders that documents of the index came from.
        known: the texts so far, kept for folders that are not ingested now or whose file is invalid.
    """
    given = {str(folder_of(path)) for path in paths}
    texts, problems = {root: known.get(root) for root in sorted(roots)}, []
    for root in sorted(roots & given):
        file = Path(root, SCOPE_FILE)
        try:
            texts[root] = read_text(file) if file.is_file() and load_scope(file) else None
        except ConfigurationError as error:
            problems.append(Problem(SCOPE_FILE, str(error)))
    return texts, problems


def folder_of(path: Path) -> Path:
    real = real_path(path)
    return real if real.is_dir() else real.parent
