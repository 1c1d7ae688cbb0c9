"""Copy an index to another kind of store: chunks, vectors, words and records, without embedding again."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.utils import batch_iterate
from numpy.typing import NDArray

from app.settings import Settings
from app.wiring.storage import stored_index
from chains.errors import ConfigurationError
from chains.ingestion.writing import DOC_ID

if TYPE_CHECKING:
    from langchain_core.vectorstores import VectorStore

    from app.adapters.stores.index import Snapshot
    from chains.ports import Progress

CHUNKS_AT_ONCE = 1000


@dataclass
class ReadyVectors(Embeddings):
    """Embeddings that return the vectors of another store."""

    vectors: list[list[float]] = field(default_factory=list)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the copied vectors of the texts."""
        return self.vectors

    def embed_query(self, text: str) -> list[float]:
        """Refuse: no question is asked during a copy."""
        raise NotImplementedError


def copy_index(source: Settings, target: Settings, *, replace: bool, progress: "Progress") -> int:
    """Copy the index of `source` to the store of `target`, and return the number of its chunks.

    Readers of the target see its old content until the copy is complete.

    Raises:
        ConfigurationError: both are the same kind of store, or the target holds chunks and `replace` is false.
        VectorStoreError: a store cannot be read or written, or an ingestion is running.
    """
    if source.store.kind == target.store.kind:
        msg = f"VECTOR_STORE_TYPE is {source.store.kind} already; name another store with --to"
        raise ConfigurationError(msg)
    ready = ReadyVectors()
    into = stored_index(target, ready)
    origin = stored_index(source, ready)
    with origin.locked(), into.locked():
        held = 0 if replace else into.open().store.count()
        if held:
            msg = f"the {target.store.kind} store holds {held} chunks; --replace overwrites them"
            raise ConfigurationError(msg)
        if origin.holds_own_documents():
            into.mark_own_documents()
        change = into.change(reset=True)
        copied = _copy(origin.open(), change.writable(), ready, progress)
        change.publish()
    return copied


def _copy(origin: "Snapshot", target: "Snapshot", ready: ReadyVectors, progress: "Progress") -> int:
    ids = origin.store.ids()
    done = 0
    for batch in batch_iterate(CHUNKS_AT_ONCE, ids):
        chunks = origin.store.get_by_ids(batch)
        ready.vectors = _in_order(chunks, origin.store.vectors(batch))
        with target.transaction():
            cast("VectorStore", target.store).add_documents(chunks, ids=[str(chunk.id) for chunk in chunks])
            records, _ = target.records()
            documents = [chunk.metadata.get(DOC_ID) for chunk in chunks]
            records.update([str(chunk.id) for chunk in chunks], group_ids=documents)
        done += len(chunks)
        progress(done, len(ids), "chunks")
    _, sources = origin.records()
    with target.transaction():
        for keys in batch_iterate(CHUNKS_AT_ONCE, sources.list_keys()):
            target.records()[1].update(keys, group_ids=[json.loads(key)[0] for key in keys])
        target.keep_source_times(origin.source_times())
        target.keep_scopes(origin.scopes())
    return done


def _in_order(chunks: Sequence[Document], vectors: Mapping[str, NDArray[np.float32]]) -> list[list[float]]:
    return [vectors[str(chunk.id)].tolist() for chunk in chunks]
