"""Prepare passages and the question for comparison with an answer: sentences, words, names."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from chains.state import Passage
from chains.text.sentences import sentence_bounds
from chains.text.tokens import Token, tokens
from chains.text.words import word_set


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


_YES_OR_NO = word_set("yes no")
CONTENT = 0.6  # The weight from which a word says something: a verb does, "several" does not.
_ALIKE = 2  # Words that two titles share beside the names of their subjects.


@dataclass(frozen=True, slots=True)
class Asked:
    """The words of a question: all content words, and the names among them.

    `shown` are the words of the question that stand in the passages at hand; `rivals` maps the title of a document
    about another country, carrier or product than the question's to that other name and the question's.
    """

    text: str
    words: tuple[Token, ...]
    names: frozenset[str]
    shown: frozenset[str] = frozenset()
    rivals: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    parts: tuple[str, ...] = ()
    """The questions of a message that holds several."""

    @property
    def repeatable(self) -> frozenset[str]:
        """Return the keys of words that a statement may repeat without saying anything.

        Names are not among them: another country or carrier is another answer.
        """
        return frozenset(word.key for word in self.words) - self.names

    def is_echoed_by(self, sentence: str) -> bool:
        """Return whether the sentence says nothing beyond the question, as "Yes, ..." and its words do."""
        known = {word.key for word in self.words}
        added = (word for word in tokens(sentence) if word.weight >= CONTENT and word.key not in known)
        return bool(known) and all(word.text.lower() in _YES_OR_NO for word in added)


NOTHING_ASKED = Asked("", (), frozenset())


@lru_cache(maxsize=64)
def asked(question: str, titles: tuple[str, ...] = (), parts: tuple[str, ...] = ()) -> Asked:
    """Return the words of a question, and which of the titles of the documents at hand are rivals of its subject.

    The `parts` are those of a message with several questions.
    """
    words = tuple(word for word in tokens(question) if word.weight > 0)
    names = frozenset(word.key for word in words if word.kind == "name")
    return Asked(question, words, names, rivals=dict(_rivals(names, titles)), parts=parts)


def _rivals(names: Collection[str], titles: Iterable[str]) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield each title that says another name where a like title says one of the question's, and both names.

    "Indonesia Import Requirements by Sea" is a rival of "Thailand Import Requirements" when Thailand is asked about.
    """
    read = {title: [word.key for word in tokens(title) if word.weight > 0] for title in titles}
    for (one, theirs), ours in product(read.items(), read.values()):
        for name, other in zip(ours, theirs, strict=False):
            rest = {*ours} - {name}
            if name in names and other not in names and other not in ours and len(rest & {*theirs}) >= _ALIKE:
                yield one, (other, name)
