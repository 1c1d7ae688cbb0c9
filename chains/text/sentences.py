"""Cut text into sentences."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from chains.text.words import word_set

MARKER: Final = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)\s+)*")
"""What marks a list item, a heading or a quotation at the beginning of a line."""

_END: Final = re.compile(r"[.!?][\"”’')\]*_]{0,4}\s{1,8}(?=[^\sa-z])|[\u3002\uff01\uff1f]")
_END_IN_LOWER_CASE: Final = re.compile(r"[.!?][\"”’')\]*_]{0,4}\s{1,8}(?=\S)|[\u3002\uff01\uff1f]")
_LAST_WORD: Final = re.compile(r"\S{1,20}\Z")
_ABBREVIATIONS: Final = word_set(
    "approx art ca cf co corp dept dr e.g eg etc fig gov i.e ie inc jr ltd max min mr mrs ms no nos p para pp pte "
    "sec sgt sr st tel vol vs"
)


def sentence_ends(text: str, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Yield where each sentence of a stretch ends, its blanks included; abbreviations and initials end none.

    A sentence begins with no small letter, but in a text that has no other letters.
    """
    last = len(text) if end is None else end
    ends = _END_IN_LOWER_CASE if text[start:last].islower() else _END
    for mark in ends.finditer(text, start, last):
        before = _LAST_WORD.search(text[max(start, mark.start() - 20) : mark.start()])
        word = before.group().lstrip("(\"'*_").lower() if before else ""
        initials = (len(word) == 1 and word.isalpha()) or (word[1::2] == "." * (len(word) // 2) != "")
        if text[mark.start()] != "." or not (word in _ABBREVIATIONS or initials):
            yield mark.end()


def sentences(text: str) -> list[str]:
    cuts = [0, *sentence_ends(text), len(text)]
    return [sentence for left, right in pairwise(cuts) if (sentence := text[left:right].strip())]
