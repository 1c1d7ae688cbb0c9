"""Chunks for an index of any size: real texts and vectors first, then texts and vectors drawn around them.

The first chunks are windows over the documents of a folder, with the model's own vectors. Beyond them, a text is made
of the halves of two windows, each pair once, and its vector lies between theirs: its cosine with the model's own vector
of such a text is 0.81 on average. Chunk number n is the same in each run.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

WINDOW, STEP = 800, 180  # Characters: a chunk is about as long as the default CHUNK_SIZE.
SECOND = 0.7  # What the vector of the second window counts for, against that of the first one.
CHUNKS_A_DOCUMENT = 25
PUBLIC_EVERY = 100  # One document in a hundred is public: callers without a name see 1 %.
BLOCK = 1_000  # So many vectors are made at a time.
NEIGHBOURS = 10

Numbers = TypeVar("Numbers", int, NDArray[np.int_])


def windows(folder: Path, limit: int) -> list[str]:
    """Return up to `limit` windows over the documents of the folder, the same ones each time."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.md")))
    found = (text[start : start + WINDOW] for text in texts for start in range(0, max(1, len(text) - STEP), STEP))
    return [window for window, _ in zip(found, range(limit), strict=False)]


class ScaledChunks(Embeddings):
    """The chunks by number, and their vectors in the order in which the store asks for them; questions are real."""

    def __init__(self, model: Embeddings, texts: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self._model, self._texts, self._real = model, texts, vectors
        self._next = 0

    def documents(self, start: int, count: int) -> list[Document]:
        """Return the chunks from number `start`; the store has to ask for their vectors next."""
        self._next = start
        return [self._document(number) for number in range(start, start + count)]

    def vectors(self, start: int, count: int) -> NDArray[np.float32]:
        """Return the vectors of the chunks from number `start`, shape (count, dimensions); both are whole blocks."""
        return np.concatenate([self._block(first) for first in range(start, start + count, BLOCK)])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return the next vectors."""
        first, self._next = self._next, self._next + len(texts)
        block = first - first % BLOCK
        count = -(-(self._next - block) // BLOCK) * BLOCK
        found: list[list[float]] = self.vectors(block, count)[first - block : self._next - block].tolist()
        return found

    def embed_query(self, text: str) -> list[float]:
        """Return the model's vector."""
        return self._model.embed_query(text)

    def _block(self, start: int) -> NDArray[np.float32]:
        places = np.arange(start, start + BLOCK)
        real = self._real[places % len(self._real)]
        between = real + SECOND * self._real[self._second(places)]
        unit = between / np.linalg.norm(between, axis=1, keepdims=True)
        return np.where((places < len(self._real))[:, None], real, unit).astype(np.float32)

    def _second(self, places: Numbers) -> Numbers:
        """Return the windows whose second halves chunks beyond the real ones have."""
        count = len(self._texts)
        step = 1 + (places * 7919 + places // count) % (count - 1)  # Never 0: a window is not paired with itself.
        return (places + step) % count

    def _document(self, number: int) -> Document:
        text = self._texts[number % len(self._texts)]
        if number >= len(self._texts):
            text = text[: WINDOW // 2] + self._texts[self._second(number)][WINDOW // 2 :]
        document, place = divmod(number, CHUNKS_A_DOCUMENT)
        metadata = {
            "doc_id": f"document_{document}",
            "title": f"Document {document}",
            "section": f"Section {place}",
            "section_path": f'["Section {place}"]',
            "chunk_index": place,
            "start_char": WINDOW * place,
            "end_char": WINDOW * place + len(text),
            "audience": "internal" if document % PUBLIC_EVERY else "public",
            "category": "regulatory",
            "jurisdiction": "SG",
            "source_urls": '["https://example.org/a", "https://example.org/b"]',
            "source_org": "Customs",
            "last_updated": "2026-01-31",
        }
        return Document(text, id=f"{number:064d}", metadata=metadata)


def true_neighbours(chunks: ScaledChunks, count: int, wanted: NDArray[np.float32], *, public: bool) -> list[list[str]]:
    """Return the ids of the chunks nearest to each wanted vector, by comparing it with each of the first `count`."""
    best = np.full((len(wanted), 0), 0.0, dtype=np.float32)
    ids = np.full((len(wanted), 0), 0)
    for start in range(0, count, BLOCK):
        numbers = np.arange(start, start + BLOCK)
        cosines = wanted @ chunks.vectors(start, BLOCK).T
        if public:
            seen = numbers // CHUNKS_A_DOCUMENT % PUBLIC_EVERY == 0
            numbers, cosines = numbers[seen], cosines[:, seen]
        best = np.concatenate([best, cosines], axis=1)
        ids = np.concatenate([ids, np.broadcast_to(numbers, cosines.shape)], axis=1)
        first = np.argsort(-best, axis=1)[:, :NEIGHBOURS]
        best, ids = np.take_along_axis(best, first, axis=1), np.take_along_axis(ids, first, axis=1)
    return [[f"{number:064d}" for number in row] for row in ids]
