"""A chunk's text in, its sentences out: each with its offsets, its words, and where every word occurs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from chains.citations.tokens import Token, tokens

# A sentence ends at . ! or ? before white space and a capital, figure, quote or mark-up; `e.g. X` and `No. 5` do not.
_SENTENCE_END: Final = re.compile(
    r"(?<![ .(][A-Za-z])(?<!e\.g)(?<!i\.e)(?<!\bNo)(?<!\bMr)(?<!\bDr)(?<!\bvs)(?<!\betc)"
    r"[.!?][\"”')\]*_]{0,4}\s{1,8}(?=[A-Z0-9\"“'(*_\[])"
)
_BLOCK_START: Final = re.compile(r"\s{0,12}(?:[-*+•]\s|\d{1,3}[.)]\s|#{1,6}\s|\||>)")
MARKER: Final = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)]|#{1,6}|>)\s+)*")


@dataclass(frozen=True, slots=True)
class Span:
    """One sentence, list item, heading or table row of a chunk: `text[start:end]`, and all its words."""

    start: int
    end: int
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage made ready to be compared: build it with `prepare` or `from_sentences`, once, and keep it."""

    text: str
    spans: tuple[Span, ...]
    occurrences: dict[str, tuple[int, ...]]
    numbers: frozenset[str]


@lru_cache(maxsize=256)
def prepare(text: str) -> Evidence:
    """Return the chunk cut into sentences, list items and table rows; kept for the chunks in use."""
    return _index(text, sentence_bounds(text))


def from_sentences(sentences: Sequence[str]) -> Evidence:
    """Return evidence whose sentences are already cut; its text is their lines."""
    starts = [0]
    for sentence in sentences:
        starts.append(starts[-1] + len(sentence) + 1)
    bounds = [(start, start + len(sentence)) for start, sentence in zip(starts[:-1], sentences, strict=True)]
    return _index("\n".join(sentences), iter(bounds))


def _index(text: str, bounds: Iterator[tuple[int, int]]) -> Evidence:
    """Return the evidence with its words read; spans without a word carry nothing and are left out."""
    read = ((start, end, tokens(text[start:end])) for start, end in bounds)
    spans = tuple(Span(start, end, words) for start, end, words in read if words)
    found: dict[str, list[int]] = {}
    for place, span in enumerate(spans):
        for key in {word.key for word in span.tokens}:
            found.setdefault(key, []).append(place)
    numbers = frozenset(word.key for span in spans for word in span.tokens if word.kind == "number")
    return Evidence(text, spans, {key: tuple(places) for key, places in found.items()}, numbers)


def sentence_bounds(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of every sentence, list item, heading and table row."""
    for start, end in _blocks(text):
        cuts = [start, *(match.end() for match in _SENTENCE_END.finditer(text, start, end)), end]
        for left, right in pairwise(cuts):
            marker = MARKER.match(text, left, right)
            first = marker.end() if marker else left
            last = first + len(text[first:right].rstrip())
            if last > first:
                yield first, last


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the bounds of every run of lines that belong together: a paragraph, or one item, heading or row."""
    start = end = 0
    for line in text.splitlines(keepends=True):
        if start < end and (not line.strip() or _BLOCK_START.match(line) or _closed(text[start:end])):
            yield start, end
            start = end
        end += len(line)
    if start < end:
        yield start, end


def _closed(block: str) -> bool:
    """Tell whether a block ends with its line: headings, table rows, rules, and blank lines do."""
    return block.lstrip()[:1] in {"", "#", "|"}
