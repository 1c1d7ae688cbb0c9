"""Count and cut texts by the embedding model's tokenizer.

Word pieces are not the language model's tokens, whose vocabulary no package carries, but tokens of the same kind.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING

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
