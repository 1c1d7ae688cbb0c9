"""What every index offers, wherever it is kept: open it for questions, lock it, change it, replace it as a whole."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from chains.errors import ConfigurationError
from chains.ports import ChunkStore, WordIndex

if TYPE_CHECKING:
    from langchain_core.indexing import RecordManager

# Raised whenever an older index would answer wrongly. 3: more of what a document says of its audience is understood,
# so that an older index may show strangers what is internal.
FORMAT = 3

REBUILD = "rebuild it with `waypoint ingest --reset PATH`, where PATH is the folder of your documents"


def check_label(index: str, *, made_format: object, made_with: object, embedding_model: str) -> None:
    """Check the format and the embedding model that an index states.

    Raises:
        ConfigurationError: one of them is another than this version or these settings need.
    """
    if made_format != FORMAT:
        msg = f"the index {index!r} was made by an earlier version, in another form; {REBUILD}"
        raise ConfigurationError(msg)
    if made_with != embedding_model:
        msg = (
            f"the index {index!r} was made with the embedding model {made_with!r}, not {embedding_model!r}; "
            f"{REBUILD}, or set EMBEDDING_MODEL"
        )
        raise ConfigurationError(msg)


Fields = Callable[[Document], tuple[str, str, str]]
"""The searched parts of a chunk: its title, its section path and its text."""


class HeldDocument(NamedTuple):
    """A document's id, the number of its chunks, and the ids of the first and the last one."""

    doc_id: str
    chunks: int
    first: str
    last: str


class Store(ChunkStore, Protocol):
    """A vector store that says when it has to be opened again."""

    gone: bool


class Words(WordIndex, Protocol):
    """An index of words that also knows the documents whose chunks it holds."""

    def count(self) -> int:
        """Return the number of chunks."""

    def documents(self) -> list[HeldDocument]:
        """Return what is held of every document."""

    def chunks_of(self, document: str) -> list[str]:
        """Return the ids of a document's chunks, in order; empty where it is unknown."""


@dataclass(frozen=True)
class Recipe:
    """How chunks become vectors and searchable words."""

    embeddings: Embeddings
    embedding_model: str
    text: Callable[[Document], str]
    fields: Fields


class Snapshot(Protocol):
    """An index as it was opened: its chunks, their words and records, and the scope files of their folders."""

    @property
    def store(self) -> Store:
        """The store of the chunks."""

    @property
    def words(self) -> Words:
        """The index of the words."""

    @property
    def version(self) -> str | None:
        """What the version of the index was when it was opened."""

    def records(self) -> "tuple[RecordManager, RecordManager]":
        """Open the records: the chunks of each document, and the sources of the documents.

        Raises:
            VectorStoreError: they cannot be written.
        """

    def scopes(self) -> dict[str, str | None]:
        """Return the text of the scope file of each folder that was ingested; None where it has none."""

    def keep_scopes(self, scopes: Mapping[str, str | None]) -> None:
        """Remember the scope files with the chunks that they belong to."""

    def source_times(self) -> dict[str, float]:
        """Return when each source was last written, by its key in the records, in seconds since 1970.

        Raises:
            VectorStoreError: the records cannot be read.
        """

    def keep_source_times(self, times: Mapping[str, float]) -> None:
        """Put other times to sources that are recorded.

        Raises:
            VectorStoreError: the records cannot be written.
        """

    def transaction(self) -> AbstractContextManager[object]:
        """Make what the body writes one change, where the store can: readers see all of it or nothing."""

    def __hash__(self) -> int:
        """Return a number of its own: no two openings are alike."""


@dataclass
class Change:
    """One ingestion's hold on an index: `before` is what it starts from; nothing is written until it asks to."""

    before: Snapshot
    prepare: Callable[[], Snapshot]
    finish: Callable[[Any], object]
    _target: Snapshot | None = field(default=None)

    def writable(self) -> Snapshot:
        """Return what to write into; it may be another copy than `before`."""
        if self._target is None:
            self._target = self.prepare()
        return self._target

    @property
    def latest(self) -> Snapshot:
        """Return what was written so far, or what the ingestion starts from."""
        return self._target or self.before

    def publish(self) -> None:
        """Let all readers see what was written; nothing happens if nothing was."""
        if self._target is not None:
            self.finish(self._target)


class StoredIndex(ABC):
    """An index of chunks, made by a recipe."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe

    def with_recipe(self, recipe: Recipe) -> Self:
        """Return the same index, whose chunks become vectors and words by another recipe."""
        other = copy(self)
        other.recipe = recipe
        return other

    @property
    @abstractmethod
    def place(self) -> str:
        """Return where the index is, without a secret, for messages: `chroma in storage/chroma`."""

    @abstractmethod
    def version(self) -> str | None:
        """Return what changes whenever the index does, for any process; None where it cannot be kept."""

    @abstractmethod
    def locked(self) -> AbstractContextManager[None]:
        """Hold the lock of an ingestion while the body runs.

        Raises:
            IndexBusyError: another ingestion holds it.
            VectorStoreError: the index cannot be written.
        """

    def abandon(self) -> None:  # noqa: B027 - what is changed in place has nothing to forget.
        """Forget, under the lock, what a failed ingestion has written and not published."""

    @abstractmethod
    def open(self) -> Snapshot:
        """Open the index as it is now; one that was never made is made, empty.

        Raises:
            ConfigurationError: it was made by an earlier version, or with another distance or embedding model.
            VectorStoreError: it cannot be opened.
        """

    @abstractmethod
    def change(self, *, reset: bool) -> Change:
        """Begin an ingestion, under the lock; with `reset` it starts from nothing.

        Raises:
            ConfigurationError: as `open`, but not with `reset`.
            VectorStoreError: as `open`.
        """
