"""Stems of words."""

from functools import lru_cache
from threading import Lock

import snowballstemmer

_STEMMER = snowballstemmer.stemmer("english")
_ONE_AT_A_TIME = Lock()
LONGEST_WORD = 40


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the Snowball (Porter2) stem of a lower-case word."""
    with _ONE_AT_A_TIME:  # The stemmer keeps the word it works on in itself.
        return str(_STEMMER.stemWord(word[:LONGEST_WORD]))
