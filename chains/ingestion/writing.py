"""Prepare a change of the index: what is new is embedded and staged, and at the end all becomes visible at once.

Batches are staged in the order in which they were filled, while the next ones are embedded. What a killed run has
staged is taken by the next one.
"""

import hashlib
import json
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from langchain_core.documents import Document

from chains.ingestion.engine import Engine, Vectors
from chains.ingestion.files import Source, Sources

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


class _Batch(NamedTuple):
    chunks: list[Document]
    vectors: Future[Vectors]
    documents: int  # Those that are complete when the batch is staged.


class Writer:
    """Compares documents with an index, and stages what is new; `flush` stages what still waits.

    In a dry run everything is counted, and nothing is staged. `tell` receives after each batch of a long document how
    many of its chunks are staged.
    """

    def __init__(
        self,
        into: Index,
        engine: Engine,
        text: Callable[[Document], str],
        *,
        reset: bool = False,
        dry_run: bool = False,
        tell: Callable[[int, int], None] | None = None,
    ) -> None:
        self.change = Change(reset=reset)
        self.sources = Sources(() if reset else into.sources())
        self._into, self._engine, self._text = into, engine, text
        self._dry_run, self._tell = dry_run, tell
        self._held = 0 if reset else into.count()
        self._new: list[Document] = []
        self._documents = 0
        self._begun: deque[_Batch] = deque()

    @property
    def count(self) -> int:
        """Return how many chunks the index holds after the change."""
        return self._held + len(self.change.new) - len(self.change.stale)

    @property
    def waiting(self) -> int:
        """Return how many documents are not staged yet."""
        return self._documents + sum(batch.documents for batch in self._begun)

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
            waiting = [keyed[key].model_copy(update={"id": key}) for key in new if key not in staged]
            self._new += waiting
            self._documents += bool(waiting)
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
        new, documents, self._new, self._documents = self._new, self._documents, [], 0
        count = max(1, len(new) // CHUNKS_A_BATCH) if new else 0
        for number in range(count):
            chunks = new[len(new) * number // count : len(new) * (number + 1) // count]
            vectors = self._engine.embed([self._text(chunk) for chunk in chunks])
            self._begun.append(_Batch(chunks, vectors, documents if number == count - 1 else 0))
            self._stage(leave=self._engine.batches)
            if self._tell and len(new) >= MANY_CHUNKS:
                begun = len(new) * (number + 1) // count
                self._tell(max(0, begun - sum(len(batch.chunks) for batch in self._begun)), len(new))

    def _stage(self, *, leave: int) -> None:
        while len(self._begun) > leave:
            batch = self._begun.popleft()
            self._into.stage(batch.chunks, batch.vectors.result())


def chunk_id(chunk: Document) -> str:
    """Return the id of a chunk: the SHA-256 of its words and its metadata, so that any change makes a new one."""
    words = json.dumps([chunk.page_content, chunk.metadata], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(words.encode()).hexdigest()
