"""An answer and the ranges of its markers -> its sentences, and the sentences that each marker cites."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from chains.text.sentences import sentence_bounds
from chains.text.tokens import tokens

_LABEL = re.compile(r"\W*(?:sources?|references?|citations?|cited from|see|and|note)\b\W*", re.IGNORECASE)
_BOLD_LINE = re.compile(r"(\*\*|__)[^*_]+\1")
_TABLE_RULE = re.compile(r"[ \t]*\n?[ \t]*\|?[ \t]*:?-{2,}")
FEWEST_WORDS = 2
_DANGLING = re.compile(r"\s+(?=[.,;:!?)])")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, list item or table row: `answer[start:end]`, and its words without the markers in it."""

    start: int
    end: int
    words: str

    @property
    def is_claim(self) -> bool:
        """Return whether there is something to support: no heading, no question, no lead-in of a list."""
        return self.words[-1] not in "?:" and not self.words.startswith("#") and not _BOLD_LINE.fullmatch(self.words)


def sentences_of(answer: str, markers: Sequence[tuple[int, int]]) -> list[Sentence]:
    """Return the sentences that say something; one that holds only markers belongs to the one before."""
    found: list[Sentence] = []
    for start, end in sentence_bounds(answer):
        words = without(answer, start, end, markers)
        if _says_something(words) and not _TABLE_RULE.match(answer, end):
            found.append(Sentence(start, end, words))
    return found


def _says_something(words: str) -> bool:
    label = _LABEL.match(words)
    rest = words[label.end() :] if label else words
    content = [token for token in tokens(rest) if token.weight > 0]
    return len(content) >= FEWEST_WORDS or any(token.kind == "number" for token in content)


def without(answer: str, start: int, end: int, markers: Sequence[tuple[int, int]]) -> str:
    """Return `answer[start:end]` without the markers in it and the blanks around them."""
    pieces, at = [], start
    for begin, stop in markers:
        if start <= begin < end:
            pieces.append(answer[at:begin])
            at = max(at, min(stop, end))
    text = " ".join("".join([*pieces, answer[at:end]]).split())
    return _DANGLING.sub("", text).strip()


def sentences_at(sentences: Sequence[Sentence], place: int, after: int) -> range:
    """Return the indices of the sentences that a marker at `place` cites.

    That is the sentence around it; for a marker outside any sentence, every sentence since the marker before, which
    ended at `after`, and at least the last one.
    """
    starts = [sentence.start for sentence in sentences]
    index = bisect_right(starts, place) - 1
    if index < 0:
        return range(min(1, len(sentences)))
    if place <= sentences[index].end:
        return range(index, index + 1)
    return range(min(bisect_right(starts, after), index), index + 1)
