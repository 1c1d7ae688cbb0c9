"""Release a streamed answer sentence by sentence, once each is checked."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from chains.citations.cited_sentences import sentences_of
from chains.citations.markers import find_markers
from chains.state import UNSUPPORTED_SO_FAR

LONGEST_SENTENCE: Final = 1200
"""So many characters without the end of a sentence are taken for a whole one."""

# A sentence is whole once the next one has begun, so a long wait for it is no reason to look at each word.
_LOOKED_AT: Final = 30
_MAY_END = re.compile(r"[.!?:|\n\u3002\uff01\uff1f]")

Range = tuple[int, int]
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class CheckedText:
    """Whether a passage supports some of a text, and the ranges of the sentences that none supports."""

    supported: bool
    unsupported: list[Range]


class SentenceGate:
    """Let sentences pass once they are checked, and none before the first that a passage supports.

    Args:
        check: checks a part of the answer that holds whole sentences.
    """

    def __init__(self, check: Callable[[str], CheckedText]) -> None:
        self._check = check
        self._held = ""  # Sentences that are not whole.
        self._new = 0  # How many characters of that have not been looked at.
        self._waiting = ""  # Sentences that no passage supports, before the first that one does.
        self._passed = 0  # How many characters have been let through or wait.
        self._unsupported: list[Range] = []
        self._open = False

    def feed(self, words: str) -> Iterator[Record]:
        """Take the next words; yield the sentences that are whole, with the ranges of those without support so far."""
        self._held += words
        self._new += len(words)
        while cut := self._cut():
            whole, self._held = self._held[:cut], self._held[cut:]
            yield from self._release(whole)

    def _cut(self) -> int:
        """Return how much of what is held is whole."""
        if len(self._held) > LONGEST_SENTENCE:
            return _last_sentence(self._held[:LONGEST_SENTENCE]) or LONGEST_SENTENCE
        if self._new < _LOOKED_AT or not _MAY_END.search(self._held):
            return 0
        self._new = 0
        return _last_sentence(self._held)

    def flush(self) -> Iterator[Record]:
        """Yield the rest, once the answer has ended; nothing where no passage supports any of it."""
        rest, self._held = self._held, ""
        if rest:
            yield from self._release(rest)

    def _release(self, text: str) -> Iterator[Record]:
        found = self._check(text)
        new = [(self._passed + start, self._passed + end) for start, end in found.unsupported]
        self._unsupported += new
        self._passed += len(text)
        self._waiting += text
        if found.supported or self._open:
            ranges = (
                {UNSUPPORTED_SO_FAR: list(self._unsupported)} if new or (not self._open and self._unsupported) else {}
            )
            self._open = True
            text, self._waiting = self._waiting, ""
            yield {"answer": text} | ranges


def _last_sentence(text: str) -> int:
    """Return where the last sentence begins: all before it is whole, its markers too."""
    markers = [(marker.start, marker.end) for marker in find_markers(text)]
    sentences = sentences_of(text, markers)
    return sentences[-1].start if len(sentences) > 1 else 0
