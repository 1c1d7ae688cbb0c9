"""Decide whether a question is English."""

import re
from typing import Final

from chains.text.tokens import tokens

_OTHER_SCRIPT: Final = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]{2}")
FEWEST_WORDS: Final = 3  # Fewer may be names and terms, which are the same in many languages.


def is_english(question: str, language: str | None = None) -> bool:
    """Return whether a question may be English: a word of English grammar stands in it, or nothing speaks against it.

    Against it speak letters of another script, and a `language` that the asker chose.
    """
    words = tokens(question)
    if any(word.kind == "stop" for word in words):
        return True
    chosen = (language or "en").partition("-")[0].lower()
    return not _OTHER_SCRIPT.search(question) and (chosen == "en" or len(words) < FEWEST_WORDS)
