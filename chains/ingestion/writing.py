"""Chunks of documents in, a store and records that agree out, however often a run is cut off.

The order makes it so. The source of a document is recorded before its chunks are written; its new chunks are in
the store before the old ones leave; and a run starts by mending what the one before it left half done: a chunk that
only the store holds is recorded, a record whose chunk is gone is deleted.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from langchain_core.documents import Document
from langchain_core.indexing import RecordManager, index
from langchain_core.vectorstores import VectorStore

from chains.ingestion.sources import Source, Sources

T = TypeVar("T")

DOC_ID = "doc_id"

# New chunks are embedded and written so many at a time, of one document or of many small ones: a batch costs about
# 30 ms beside the embedding, and its vectors have to fit into memory.
CHUNKS_A_BATCH = 256
KEYS_A_BATCH = 1000


@dataclass(frozen=True, slots=True)
class Index:
    """Where chunks live: the store, its records (chunk id by document), and the sources of the documents.

    `list_ids` returns the ids of all chunks in the store, for which LangChain's stores have no common method.
    """

    store: VectorStore
    records: RecordManager
    sources: RecordManager
    list_ids: Callable[[], Iterable[str]]


@dataclass(frozen=True, slots=True)
class Changes:
    """How many chunks of a document, or of many, are new, in place of others, as before, or gone."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0

    def __add__(self, more: "Changes") -> "Changes":
        """Return the sums."""
        return Changes(
            self.added + more.added,
            self.updated + more.updated,
            self.unchanged + more.unchanged,
            self.deleted + more.deleted,
        )


def mend(into: Index, *, dry_run: bool = False) -> set[str]:
    """Bring the store and its records to agree, and return the ids that both hold."""
    stored, recorded = set(into.list_ids()), set(into.records.list_keys())
    if dry_run:
        return stored & recorded
    for ids in _batches(sorted(stored - recorded), KEYS_A_BATCH):
        found = into.store.get_by_ids(ids)
        into.records.update(
            [str(chunk.id) for chunk in found], group_ids=[chunk.metadata.get(DOC_ID) for chunk in found]
        )
    for ids in _batches(sorted(recorded - stored), KEYS_A_BATCH):
        into.records.delete_keys(ids)
    return stored


@dataclass
class Writer:
    """Writes documents to an index, many small ones in one batch; `flush` writes what still waits.

    `held` are the ids that the index holds, kept up to date. In a dry run everything is counted and nothing written.
    """

    into: Index
    sources: Sources
    held: set[str]
    dry_run: bool = False
    _new: list[Document] = field(default_factory=list)
    _stale: list[str] = field(default_factory=list)
    _waiting: dict[str, Source] = field(default_factory=dict)

    @property
    def waiting(self) -> int:
        """Return how many documents are not written yet."""
        return len(self._waiting)

    def write(self, source: Source, chunks: Collection[Document]) -> Changes:
        """Take over all chunks of a document, and return what changes."""
        keys = {chunk_id(chunk): chunk for chunk in chunks}
        before = self.held.intersection(self.into.records.list_keys(group_ids=[source.doc_id]))
        new, stale = keys.keys() - before, before - keys.keys()
        self._new += [keys[key] for key in keys if key in new]
        self._stale += stale
        self.held |= new
        self.held -= stale
        if new or stale or not self.sources.is_recorded(source):
            self._waiting[source.doc_id] = source
        if len(self._new) >= CHUNKS_A_BATCH:
            self.flush()
        updated = min(len(new), len(stale))
        return Changes(len(new) - updated, updated, len(before & keys.keys()), len(stale) - updated)

    def flush(self) -> None:
        """Write what waits: the sources of the documents, then their new chunks; then the old ones leave."""
        if not self.dry_run:
            for sources in _batches(list(self._waiting.values()), KEYS_A_BATCH):
                self.sources.record(sources)
            self._add()
            self._delete(self._stale)
        self._new, self._stale, self._waiting = [], [], {}

    def remove(self, sources: Collection[Source]) -> Changes:
        """Remove documents with all their chunks."""
        batches = list(_batches(sorted(sources, key=lambda source: source.doc_id), KEYS_A_BATCH))
        groups = [[source.doc_id for source in batch] for batch in batches]
        keys = [key for ids in groups for key in self.into.records.list_keys(group_ids=ids)]
        stale = self.held.intersection(keys)
        self.held -= stale
        if not self.dry_run:
            self._delete(sorted(stale))
            for batch in batches:
                self.sources.forget(batch)
        return Changes(deleted=len(stale))

    def _add(self) -> None:
        index(
            self._new,
            self.into.records,
            self.into.store,
            batch_size=CHUNKS_A_BATCH,
            cleanup=None,
            source_id_key=DOC_ID,
            key_encoder=chunk_id,
        )

    def _delete(self, keys: list[str]) -> None:
        for ids in _batches(keys, KEYS_A_BATCH):
            self.into.store.delete(ids)
            self.into.records.delete_keys(ids)


def chunk_id(chunk: Document) -> str:
    """Return the id of a chunk: the SHA-256 of its words and its metadata, so that any change makes a new one."""
    words = json.dumps([chunk.page_content, chunk.metadata], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(words.encode()).hexdigest()


def _batches(items: list[T], size: int) -> Iterator[list[T]]:
    return (items[start : start + size] for start in range(0, len(items), size))
