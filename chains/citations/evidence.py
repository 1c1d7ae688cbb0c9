"""Prepare passages and the question for comparison with an answer: sentences, words, names."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product

from chains.state import Passage
from chains.text.statements import Statement, read_statements
from chains.text.tokens import Token, tokens
from chains.text.words import word_set


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage prepared for comparison, by `prepare` or `from_sentences`."""

    text: str
    statements: tuple[Statement, ...]
    occurrences: dict[str, tuple[int, ...]]
    heading: frozenset[str] = frozenset()
    """The words of the document's title and the passage's section, which say what the passage is about."""


@lru_cache(maxsize=256)
def prepare(text: str, heading: str = "", table_head: str = "") -> Evidence:
    """Return a passage with its statements and the words under it; the last 256 are cached.

    Args:
        text: the passage.
        heading: the title of its document and its section.
        table_head: the head of the table that the passage begins in the middle of.
    """
    return _index(text, read_statements(text, table_head), f"{heading}\n{table_head}")


def evidence_of(passage: Passage) -> Evidence:
    """Return a passage prepared, its title and section as its heading."""
    metadata = passage["metadata"]
    heading = "\n".join(str(metadata.get(name) or "") for name in ("title", "section", "jurisdiction"))
    return prepare(passage["content"], heading, str(metadata.get("table_head") or ""))


def from_sentences(sentences: Sequence[str]) -> Evidence:
    """Return evidence whose sentences are already cut; its text is their lines."""
    text, start, statements = "\n".join(sentences), 0, []
    for sentence in sentences:
        statements.append(Statement(text, "sentence", start, start + len(sentence)))
        start += len(sentence) + 1
    return _index(text, statements)


def _index(text: str, statements: Iterable[Statement], heading: str = "") -> Evidence:
    """Return the evidence with its words; statements without a word are left out."""
    worded = tuple(statement for statement in statements if statement.tokens)
    found: dict[str, list[int]] = {}
    for place, statement in enumerate(worded):
        for key in statement.keys:
            found.setdefault(key, []).append(place)
    in_heading = frozenset(word.key for word in tokens(heading) if word.weight > 0)
    return Evidence(text, worded, {key: tuple(places) for key, places in found.items()}, in_heading)


YES_OR_NO = word_set("yes no")
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
        return bool(known) and all(word.text.lower() in YES_OR_NO for word in added)


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
