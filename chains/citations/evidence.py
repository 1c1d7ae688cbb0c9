"""Split a chunk into sentences and index their words, ready for comparison with an answer."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from chains.state import Passage
from chains.text.sentences import sentence_bounds
from chains.text.tokens import Token, tokens


@dataclass(frozen=True, slots=True)
class Span:
    """One sentence, list item, heading or table row of a chunk: `text[start:end]`, and all its words."""

    start: int
    end: int
    tokens: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage prepared for comparison, by `prepare` or `from_sentences`."""

    text: str
    spans: tuple[Span, ...]
    occurrences: dict[str, tuple[int, ...]]
    numbers: frozenset[str]
    heading: frozenset[str] = frozenset()
    """The words of the document's title and the passage's section, which say what the passage is about."""


@lru_cache(maxsize=256)
def prepare(text: str, heading: str = "") -> Evidence:
    """Return the chunk cut into sentences, list items and table rows; the last 256 are cached."""
    return _index(text, sentence_bounds(text), heading)


def evidence_of(passage: Passage) -> Evidence:
    """Return a passage prepared, its title and section as its heading."""
    metadata = passage["metadata"]
    return prepare(passage["content"], f"{metadata.get('title') or ''}\n{metadata.get('section') or ''}")


def from_sentences(sentences: Sequence[str]) -> Evidence:
    """Return evidence whose sentences are already cut; its text is their lines."""
    starts = [0]
    for sentence in sentences:
        starts.append(starts[-1] + len(sentence) + 1)
    bounds = [(start, start + len(sentence)) for start, sentence in zip(starts[:-1], sentences, strict=True)]
    return _index("\n".join(sentences), iter(bounds))


def _index(text: str, bounds: Iterator[tuple[int, int]], heading: str = "") -> Evidence:
    """Return the evidence with its words; spans without a word are left out."""
    read = ((start, end, tokens(text[start:end])) for start, end in bounds)
    spans = tuple(Span(start, end, words) for start, end, words in read if words)
    found: dict[str, list[int]] = {}
    for place, span in enumerate(spans):
        for key in {word.key for word in span.tokens}:
            found.setdefault(key, []).append(place)
    numbers = frozenset(word.key for span in spans for word in span.tokens if word.kind == "number")
    in_heading = frozenset(word.key for word in tokens(heading) if word.weight > 0)
    return Evidence(text, spans, {key: tuple(places) for key, places in found.items()}, numbers, in_heading)
