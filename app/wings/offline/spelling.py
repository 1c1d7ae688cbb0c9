"""Correct typing errors in a question by texts on its subject."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from chains.ports import WordSimilarity
from chains.text.words import STOP_WORDS, one_error_away, plain_words, stem

SHORTEST: Final = 4  # Shorter words have too many neighbours.
_WORD: Final = re.compile(r"[^\W\d_]+")


def corrected(question: str, texts: Iterable[str], similarity: WordSimilarity) -> str:
    """Return the question with each mistyped word as the texts write it.

    A word is mistyped where neither the word table nor the texts know it, and the texts hold one that differs by one
    letter; of several the one that they hold most often.
    """
    unknown = [
        word
        for word in dict.fromkeys(_WORD.findall(question))  # An abbreviation is not a typing error.
        if len(word) >= SHORTEST and not word.isupper() and not similarity([word.lower()], [word.lower()]).any()
    ]
    if not unknown:
        return question
    known = Counter(word for text in texts for word in plain_words(text))
    stems = set(map(stem, known))
    right: dict[str, str] = {}
    for word in unknown:
        near = [one for one in one_error_away(word.lower()) & known.keys() if one not in STOP_WORDS]
        if near and stem(word.lower()) not in stems:
            right[word] = max(sorted(near), key=known.__getitem__)
    return _WORD.sub(lambda found: right.get(found[0], found[0]), question)
