"""Write chunks to a store and its records so that both agree, even after a killed run.

The source of a document is recorded before its chunks are written. Its new chunks are in the store before the old ones
are deleted. Batches are written in the order in which they were filled, while the next ones are embedded. A run starts
by aligning the records with the store: a chunk without a record is recorded, a record without a chunk is deleted.
"""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Self

from langchain_core.documents import Document
from langchain_core.indexing import RecordManager, index
from langchain_core.utils import batch_iterate
from langchain_core.vectorstores import VectorStore

from chains.ingestion.engine import embeddings_ahead
from chains.ingestion.source_records import Source, Sources

DOC_ID = "doc_id"

# New chunks are embedded and written so many at a time, of one document or of many small ones: a batch costs about
# 30 ms beside the embedding, and its vectors have to fit into memory.
CHUNKS_A_BATCH = 256
KEYS_A_BATCH = 1000

# So many chunks are written one batch after the other, and take a reader's patience.
MANY_CHUNKS = 4 * CHUNKS_A_BATCH


@dataclass(frozen=True, slots=True)
class Index:
    """Where chunks live: the store, its records (chunk id by document), and the sources of the documents.

    `list_ids` returns the ids of all chunks in the store, for which LangChain's stores have no common method. What is
    written inside `transaction` is one change where the store can: readers see all of it or nothing.
    """

    store: VectorStore
    records: RecordManager
    sources: RecordManager
    list_ids: Callable[[], Iterable[str]]
    transaction: Callable[[], AbstractContextManager[object]] = nullcontext


@dataclass(frozen=True, slots=True)
class Changes:
    """How many chunks of a document, or of many, are new, in place of others, as before, or gone."""

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    deleted: int = 0


@dataclass(frozen=True, slots=True)
class Batch:
    """New chunks, and what is written before and after them: the sources, the ids to delete.

    `documents` are complete in the index when the batch is written.
    """

    sources: Collection[Source] = ()
    new: list[Document] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    documents: int = 0


def align_records(into: Index) -> None:
    """Bring the records in line with the store."""
    stored, recorded = set(into.list_ids()), set(into.records.list_keys())
    for ids in batch_iterate(KEYS_A_BATCH, sorted(stored - recorded)):
        found = into.store.get_by_ids(ids)
        into.records.update(
            [str(chunk.id) for chunk in found], group_ids=[chunk.metadata.get(DOC_ID) for chunk in found]
        )
    for ids in batch_iterate(KEYS_A_BATCH, sorted(recorded - stored)):
        into.records.delete_keys(ids)


class Writer:
    """Writes documents to an index, many small ones in one batch; `flush` writes what is still waiting.

    What the index holds is read from `into`. Before the first write, `writable` is asked for what to write into, which
    may be a copy of it; None means a dry run, in which everything is counted and nothing is written.

    While much waits, as of a long document, `tell` receives after each batch how many chunks of how many are written.

    Attributes:
        held: The ids that the index holds, kept up to date.
    """

    def __init__(
        self,
        into: Index,
        sources: Sources,
        *,
        writable: Callable[[], Index] | None,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        self.sources = sources
        self._tell = tell
        self._writable = writable
        self._target: Index | None = None
        self._into = into
        stored, recorded = set(into.list_ids()), set(into.records.list_keys())
        if stored != recorded and writable:
            self._into = self._open_target()
            align_records(self._into)
        self.held = stored if writable else stored & recorded
        self._new: list[Document] = []
        self._stale: list[str] = []
        self._waiting: dict[str, Source] = {}
        self._begun: deque[Batch] = deque()
        self._transaction = ExitStack()

    def __enter__(self) -> Self:
        """Return itself; what is not complete at the end of the body is undone, where the store can."""
        return self

    def __exit__(self, *failure: Any) -> None:
        """Undo what is not complete."""
        self._transaction.__exit__(*failure)

    @property
    def waiting(self) -> int:
        """Return how many documents are not written yet."""
        return len(self._waiting) + sum(batch.documents for batch in self._begun)

    def write(self, source: Source, chunks: Collection[Document]) -> Changes:
        """Take over all chunks of a document, and return what changes."""
        keys = {chunk_id(chunk): chunk for chunk in chunks}
        before = self.held.intersection(self._into.records.list_keys(group_ids=[source.doc_id]))
        new, stale = keys.keys() - before, before - keys.keys()
        self._new += [keys[key] for key in keys if key in new]
        self._stale += stale
        self.held |= new
        self.held -= stale
        if new or stale or not self.sources.is_recorded(source):
            self._waiting[source.doc_id] = source
        if len(self._new) >= CHUNKS_A_BATCH:
            self._begin()
        updated = min(len(new), len(stale))
        return Changes(len(new) - updated, updated, len(before & keys.keys()), len(stale) - updated)

    def flush(self) -> None:
        """Write what is waiting."""
        self._begin()
        while self._begun:
            self._write(self._begun.popleft())

    def _begin(self) -> None:
        """Make batches of what is waiting; begin to embed each, and write the oldest ones meanwhile."""
        if self._writable and self._waiting:
            ahead = embeddings_ahead(self._open_target().store)
            begun = 0
            for batch in _batches(list(self._waiting.values()), self._new, self._stale):
                if ahead:
                    ahead.begin(batch.new)
                self._begun.append(batch)
                begun += len(batch.new)
                while len(self._begun) > (ahead.batches if ahead else 0):
                    self._write(self._begun.popleft())
                if self._tell and len(self._new) >= MANY_CHUNKS:
                    self._tell(max(0, begun - sum(len(one.new) for one in self._begun)), len(self._new))
        self._new, self._stale, self._waiting = [], [], {}

    def _write(self, batch: Batch) -> None:
        """Write a batch; those of one document are one transaction."""
        target = self._open_target()
        if batch.sources:
            self._transaction.enter_context(target.transaction())
        for sources in batch_iterate(KEYS_A_BATCH, batch.sources):
            self.sources.record(sources)
        _add(target, batch.new)
        _delete(target, batch.stale)
        if batch.documents:
            self._transaction.close()

    def remove(self, sources: Collection[Source]) -> Changes:
        """Remove documents with all their chunks."""
        batches = list(batch_iterate(KEYS_A_BATCH, sorted(sources, key=lambda source: source.doc_id)))
        groups = [[source.doc_id for source in batch] for batch in batches]
        keys = [key for ids in groups for key in self._into.records.list_keys(group_ids=ids)]
        stale = self.held.intersection(keys)
        self.held -= stale
        if self._writable and sources:
            target = self._open_target()
            with target.transaction():
                _delete(target, sorted(stale))
                for batch in batches:
                    self.sources.forget(batch)
        return Changes(deleted=len(stale))

    def _open_target(self) -> Index:
        if self._target is None:
            self._target = self._writable() if self._writable else self._into
            self.sources.write_to(self._target.sources)
        return self._target


def _batches(sources: list[Source], new: list[Document], stale: list[str]) -> Iterator[Batch]:
    """Yield batches of about the same size; the first one has the sources, the last one what is deleted."""
    count = max(1, len(new) // CHUNKS_A_BATCH)
    ends = [len(new) * number // count for number in range(count + 1)]
    for start, end in pairwise(ends):
        first, last = start == 0, end == len(new)
        yield Batch(sources if first else (), new[start:end], stale if last else [], len(sources) if last else 0)


def _add(into: Index, chunks: list[Document]) -> None:
    index(
        chunks,
        into.records,
        into.store,
        batch_size=max(1, len(chunks)),
        cleanup=None,
        source_id_key=DOC_ID,
        key_encoder=chunk_id,
    )


def _delete(into: Index, keys: list[str]) -> None:
    for ids in batch_iterate(KEYS_A_BATCH, keys):
        into.store.delete(ids)
        into.records.delete_keys(ids)


def chunk_id(chunk: Document) -> str:
    """Return the id of a chunk: the SHA-256 of its words and its metadata, so that any change makes a new one."""
    words = json.dumps([chunk.page_content, chunk.metadata], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(words.encode()).hexdigest()
