"""The words of the embedding model: texts counted and cut by its tokenizer, and the similarity of words by its table.

Word pieces are not the language model's tokens, whose vocabulary no package carries, but tokens of the same kind.

The input layer of a BERT-family encoder holds one trained vector per word of its vocabulary; centred, they put
synonyms and inflections side by side (`sister` - `siblings`, `merger` - `takeover`). A lookup and a small product
compare two words, without inference.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from app.adapters.embeddings.onnx import weights

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

KEPT_COUNTS = 4096  # The same chunks and prompts are counted again and again.


class WordPieces:
    """Counts word pieces; `tokenizer` returns a tokenizer that neither pads nor truncates."""

    def __init__(self, tokenizer: Callable[[], "Tokenizer"]) -> None:
        self._tokenizer = tokenizer
        self.count = lru_cache(KEPT_COUNTS)(self._count)

    def _count(self, text: str) -> int:
        return len(self._encoded(text))

    def cut(self, text: str, tokens: int) -> str:
        """Return as much of the beginning of the text as so many tokens hold."""
        offsets = self._encoded(text).offsets
        if len(offsets) <= tokens:
            return text
        return text[: offsets[tokens - 1][1]] if tokens > 0 else ""

    def _encoded(self, text: str) -> "Encoding":
        # Lone surrogates have no UTF-8, which the tokenizer needs; one character takes the place of one.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        return self._tokenizer().encode(clean, add_special_tokens=False)


_FIRST_WORD: Final = 1996  # Below stand the special, unused and single-character tokens of BERT's vocabulary.

KEPT_VECTORS: Final = 8192  # Of 1.5 kB each; of words outside the table nothing is kept.


class WordVectors:
    """Cosines between words by the word table in `folder` (model.safetensors and vocab.txt)."""

    def __init__(self, folder: Path) -> None:
        lines = (folder / "vocab.txt").read_text(encoding="utf-8").splitlines()
        self._rows = {word: row for row, word in enumerate(lines)}
        weights.check_hashes(folder)
        table = np.memmap(
            folder / weights.WEIGHTS, np.float32, mode="r", offset=weights.WORDS_AT, shape=weights.WORDS_SHAPE
        )
        self._mean = table[_FIRST_WORD:].mean(axis=0)
        self._table = table
        self._unknown = np.zeros_like(self._mean)
        self._vector_at = lru_cache(KEPT_VECTORS)(self._read)

    def __call__(self, first: Sequence[str], second: Sequence[str]) -> NDArray[np.float32]:
        """Return the cosines, shape (len(first), len(second)); a word outside the table is 0 to every other."""
        left = np.array([self._vector(word) for word in first], dtype=np.float32)
        right = np.array([self._vector(word) for word in second], dtype=np.float32)
        # Not `@`: for so small a product the threads of the linear algebra library wait longer than it takes.
        return np.asarray(np.einsum("ik,jk->ij", left, right), dtype=np.float32)

    def __contains__(self, word: str) -> bool:
        return word in self._rows

    def _vector(self, word: str) -> NDArray[np.float32]:
        row = self._rows.get(word)
        return self._unknown if row is None else self._vector_at(row)

    def _read(self, row: int) -> NDArray[np.float32]:
        vector = self._table[row] - self._mean
        return np.asarray(vector / max(float(np.linalg.norm(vector)), 1e-9), dtype=np.float32)
