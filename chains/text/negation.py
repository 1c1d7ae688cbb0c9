"""Tell what a text denies: the one list of negations, the word that each denies, and where it denies none."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from chains.text.tokens import Token
from chains.text.words import LISTS, word_set

NEGATION: Final = re.compile(LISTS["negation"], re.IGNORECASE)
REACH: Final = 4  # Words after a negation that may hold what it denies, and words before it that may open a condition.
# A limit denies nothing: "not more than 5 days", "not only", "no later than", "not until".
_LIMITS: Final = word_set("more less fewer later earlier sooner than only just until unless before after yet")
_CONDITIONS: Final = word_set("if when where whether unless until")


@lru_cache(maxsize=1 << 14)
def negates(text: str) -> bool:
    return NEGATION.search(text) is not None


def denied(words: Sequence[Token]) -> set[str]:
    """Return the words that a negation before them denies, outside conditions."""
    keys = set()
    for place, negation in enumerate(words):
        before = words[max(0, place - REACH) : place]
        if not negates(negation.text) or any(word.text.lower() in _CONDITIONS for word in before):
            continue
        behind = words[place + 1 : place + 1 + REACH]
        if behind and negation.key == "no" and behind[0].start == negation.end + len(", "):
            continue  # "No, it is": the whole answer.
        said = (word for word in behind if word.text.lower() in _LIMITS or (word.weight > 0 and word.key != "longer"))
        word = next(said, None)  # "no longer" denies what follows it.
        if word and word.text.lower() not in _LIMITS:
            keys.add(word.key)
    return keys
