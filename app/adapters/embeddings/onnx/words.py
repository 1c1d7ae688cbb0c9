"""Similarity of words by the embedding model's word table: a lookup and a small product, no inference.

The input layer of a BERT-family encoder holds one trained vector per word of its vocabulary; centred, they put
synonyms and inflections side by side (`sister` - `siblings`, `merger` - `takeover`).
"""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from app.adapters.embeddings.onnx import weights

_TABLE: Final = "embeddings.word_embeddings.weight"
_FIRST_WORD: Final = 1996  # Below stand the special, unused and single-character tokens of BERT's vocabulary.

KEPT_VECTORS: Final = 8192  # Of 1.5 kB each; of words outside the table nothing is kept.


class WordVectors:
    """Cosines between words by the word table in `folder` (model.safetensors and vocab.txt)."""

    def __init__(self, folder: Path) -> None:
        lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self._rows = {word: row for row, word in enumerate(lines)}
        file = folder / weights.WEIGHTS
        place = weights.tensor_places(file)[_TABLE]
        table = np.memmap(file, dtype=np.float32, mode="r", offset=place.offset, shape=place.shape)
        self._mean = table[_FIRST_WORD:].mean(axis=0)
        self._table = table
        self._unknown = np.zeros_like(self._mean)
        self._vector_at = lru_cache(KEPT_VECTORS)(self._read)

    def __call__(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float32]:
        """Return the cosines, shape (len(first), len(second)); a word outside the table is 0 to every other."""
        left = np.array([self._vector(word) for word in first], dtype=np.float32)
        right = np.array([self._vector(word) for word in second], dtype=np.float32)
        return np.asarray(left @ right.T, dtype=np.float32)

    def _vector(self, word: str) -> NDArray[np.float32]:
        """Return a word's unit vector."""
        row = self._rows.get(word)
        return self._unknown if row is None else self._vector_at(row)

    def _read(self, row: int) -> NDArray[np.float32]:
        return _unit(self._table[row] - self._mean)


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the vector at length 1."""
    return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), dtype=np.float32)
