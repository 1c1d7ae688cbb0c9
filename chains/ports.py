"""Protocols for parts that LangChain has no base class for."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from langchain_core.runnables import Runnable
from numpy.typing import NDArray

Progress = Callable[[int, int, str], None]
"""Is told how many units of a long task are done, of how many, and the name of the one just finished."""

WordSimilarity = Callable[[Sequence[str], Sequence[str]], NDArray[np.float32]]
"""Returns the cosines of words by their meaning, folded to lower case, shape (len(first), len(second))."""

CHARACTERS_PER_TOKEN = 4


class TokenCounter(Protocol):
    """Counts the tokens of a text."""

    def count(self, text: str, /) -> int: ...

    def cut(self, text: str, tokens: int, /) -> str:
        """Return the beginning of the text that fits into `tokens` tokens."""


class FourCharacters:
    """Counts four characters as a token, as the providers' own rules of thumb do; a part counts as a whole one."""

    def count(self, text: str) -> int:
        return -(-len(text) // CHARACTERS_PER_TOKEN)

    def cut(self, text: str, tokens: int) -> str:
        return text[: max(0, tokens) * CHARACTERS_PER_TOKEN]


class ChunkStore(Protocol):
    """A vector store that returns ids and similarities without loading documents, which costs more than the search.

    Similarities are cosines clipped to 0-1. `where` are metadata values that a chunk has to have.
    """

    @property
    def embeddings(self) -> Embeddings:
        """The model that made the vectors."""

    def reading(self) -> AbstractContextManager[object]:
        """Read everything in the body, the index of words included, from one snapshot where the store can."""

    def count(self) -> int: ...

    def nearest(self, vector: Sequence[float], limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return the similarities of the chunks nearest to `vector` by id, the nearest first."""

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of those given chunks that exist, by id."""

    def get_by_ids(self, ids: Sequence[str], /) -> list[Document]:
        """Return those of the given chunks that exist, in any order."""

    def documents(self) -> Sequence[tuple[str, int, str, str]]:
        """Return the id of each document, the number of its chunks, and the ids of the first and the last."""

    def chunks_of(self, document: str) -> list[str]: ...


class ChunkPlace(NamedTuple):
    """Where a chunk stands: its document, its number there, the heading above it (or ""), and its words."""

    document: str
    number: int
    section: str
    text: str


class WordIndex(Protocol):
    """Finds chunks by their words."""

    def search(self, question: str, limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return BM25 by chunk id, best first, 0 and up; empty when no word of the question is known."""

    def corrected(self, question: str, where: Mapping[str, str], is_word: Callable[[str], bool]) -> str:
        """Return the question with known words in place of those that differ from them by a typing error.

        A word that `is_word` knows stays as it is, even if no chunk holds it.
        """

    def named(self, question: str, where: Mapping[str, str]) -> dict[str, float]:
        """Return the long documents that the question names by words of their titles, with a weight up to 1, by id."""

    def places(self, ids: Sequence[str]) -> dict[str, ChunkPlace]:
        """Return the places of those given chunks that exist, by id."""


class ModerationResult(NamedTuple):
    """A moderator's verdict: whether a text is harmful, and in which categories."""

    flagged: bool
    categories: tuple[str, ...] = ()


Moderator = Runnable[str, ModerationResult]
"""Judges a text. Categories of self-harm begin with `SELF_HARM`."""

SELF_HARM = "self-harm"


class Entity(NamedTuple):
    """Personal data of a kind: `text[start:end]`."""

    kind: str
    start: int
    end: int


class Redacted(NamedTuple):
    """A text with `<KIND>` in place of personal data, and the kinds in it, each once, in their order."""

    text: str
    kinds: list[str]
