"""Prepare passages and the question for comparison with an answer: statements, words, names."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import product
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from chains.ports import WordSimilarity
from chains.state import Passage
from chains.text.quantities import quantities
from chains.text.statements import Statement, read_statements
from chains.text.tokens import Token, fold, tokens
from chains.text.words import stem, word_set

Matrix = NDArray[np.float32]

YES_OR_NO = word_set("yes no")
CONTENT = 0.6  # The weight from which a word says something: a verb does, "several" does not.
SOFT_FLOOR = 0.3  # Cosines of word vectors below this are chance.
NAME_FLOOR = 0.7  # A name is carried only by its own forms: Australia, Australian.
_ALIKE = 2  # Words that two titles share beside the names of their subjects.


MOST_CELLS: Final = 50  # Of a row.
_PERIODS: Final = frozenset({"duration", "months"})


class Cell(NamedTuple):
    """What gives something: a cell below its column, but the first of a row, an item of a list, or another statement.

    `about` are words of what it is of, `name` is its row and column, and `block` its table or list; -1 in prose.
    """

    statement: Statement
    text: str
    about: frozenset[str]
    numbers: frozenset[str]
    kinds: frozenset[str]
    block: int
    name: str

    def is_quoted(self, written: str) -> bool:
        """Return whether a sentence in lower case gives the cell with its row and the name of its column."""
        row, column = self.statement.said.partition(" – ")[0], self.name.rpartition("; ")[2]
        return bool(column) and all(part.casefold() in written for part in (row, f"{column}: {self.text}"))

    def may_be(self, kind: str) -> bool:
        """Return whether it gives a quantity of a kind, or none: a row with a price has no other duration."""
        return self.kinds <= {""} or not self.kinds.isdisjoint(_PERIODS if kind in _PERIODS else {kind})


def _cells(statements: Iterable[Statement]) -> Iterator[Cell]:
    for one in statements:
        cells = [cell.text for cell in one.cells[:MOST_CELLS]] if one.kind == "row" else []
        cells = one.words.split(": ") if one.kind == "item" and one.words.count(": ") == 1 else cells
        names = [*one.columns, *[""] * len(cells)]
        for column, text in list(zip(names, cells, strict=False))[1:] or [("", one.words)]:
            written = text.strip(" -–—").casefold()
            number = frozenset(word.key for word in tokens(text) if word.kind == "number")
            if written and text != column:  # The head of a table says nothing.
                others = [cell for cell in cells or [text] if number or not cells or cell is not text]
                about = frozenset(word.key for word in tokens(" ".join([one.group, column, *others])))
                kinds = frozenset(figure.kind for figure in quantities(text))
                block = one.block if one.kind in {"row", "item"} else -1
                yield Cell(one, written, about, number, kinds, block, "; ".join([one.group, *cells[:1], column]))


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage with its statements, its cells and items, and the places of each word among its statements.

    `heading` are the words of the document's title and the passage's section, which say what the passage is about.
    """

    text: str
    statements: tuple[Statement, ...]
    occurrences: dict[str, tuple[int, ...]]
    heading: frozenset[str] = frozenset()
    cells: tuple[Cell, ...] = ()


@lru_cache(maxsize=256)
def prepare(text: str, heading: str = "", table_head: str = "") -> Evidence:
    """Return a passage prepared for comparison; `table_head` is that of a table which it begins in the middle of."""
    statements = tuple(statement for statement in read_statements(text, table_head) if statement.tokens)
    places: dict[str, list[int]] = {}
    for place, statement in enumerate(statements):
        for key in statement.keys:
            places.setdefault(key, []).append(place)
    words = [word for word in tokens(f"{heading}\n{table_head}") if word.weight > 0]
    in_heading = frozenset(word.key for word in words)
    names = "".join(word.text[0] if word.text[0].isupper() else " " for word in words).lower().split()
    # "FTZ" is short for Free Trade Zones.
    short = {stem(run[at : at + size]) for run in names for at in range(len(run)) for size in (3, 4, 5)}
    held = {key: tuple(some) for key, some in places.items()}
    return Evidence(text, statements, held, in_heading | short, tuple(_cells(statements)))


def evidence_of(passage: Passage) -> Evidence:
    """Return a passage prepared, with its title and section as its heading."""
    metadata = passage["metadata"]
    heading = "\n".join(str(metadata.get(name) or "") for name in ("title", "section", "jurisdiction"))
    return prepare(passage["content"], heading, str(metadata.get("table_head") or ""))


def match(words: Sequence[Token], evidence: Evidence, similarity: WordSimilarity | None) -> Matrix:
    """Return how strongly each statement of the evidence holds each word, shape (statements, words).

    With a similarity that is the cosine of a word with the nearest of the statement; a number is never nearly right.
    """
    strengths = np.zeros((len(evidence.statements), len(words)), dtype=np.float32)
    columns = [column for column, word in enumerate(words) if word.kind != "number"]
    spans = evidence.statements if similarity is not None and columns else ()
    terms = {fold(word.text): word.key for span in spans for word in span.tokens if word.weight > 0}
    if similarity is not None and terms:
        cosines = similarity([fold(words[column].text) for column in columns], list(terms))
        floors = np.array([NAME_FLOOR if words[column].kind == "name" else SOFT_FLOOR for column in columns])
        cosines, keys = np.where(cosines > floors[:, None], cosines, 0.0), list(terms.values())
        for number in np.flatnonzero(cosines.any(axis=0)).tolist():
            for place in evidence.occurrences[keys[number]]:
                strengths[place, columns] = np.maximum(strengths[place, columns], cosines[:, number])
    for column, word in enumerate(words):
        if places := evidence.occurrences.get(word.key):
            strengths[list(places), column] = 1.0
    return strengths


@dataclass(frozen=True)
class Asked:
    """The words of a question: all content words, and the names among them.

    `shown` are its words that stand in the passages at hand; `rivals` maps the title of a document about another
    country, carrier or product than the question's to that other name and the question's; `parts` are the questions of
    a message that holds several.
    """

    text: str
    words: tuple[Token, ...]
    names: frozenset[str]
    shown: frozenset[str] = frozenset()
    rivals: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    parts: tuple[str, ...] = ()

    @cached_property
    def keys(self) -> frozenset[str]:
        return frozenset(word.key for word in self.words)

    @cached_property
    def repeatable(self) -> frozenset[str]:
        """The words that a statement may repeat without saying anything: no names, which are other answers."""
        return self.keys - self.names


NOTHING_ASKED = Asked("", (), frozenset())


@lru_cache(maxsize=64)
def _rivals(names: frozenset[str], titles: tuple[str, ...]) -> dict[str, tuple[str, str]]:
    """Return the titles that are about another than the question's `names`, each with that name and the question's.

    "Indonesia Import Requirements by Sea" is a rival of "Thailand Import Requirements" when Thailand is asked about.
    """
    read = {title: [word.key for word in tokens(title) if word.weight > 0] for title in titles}
    return {
        title: (other, name)
        for (title, theirs), ours in product(read.items(), read.values())
        for name, other in zip(ours, theirs, strict=False)
        if name in names and other not in names | {*ours} and len(({*ours} - {name}) & {*theirs}) >= _ALIKE
    }


def asked_about(question: str, shown: Sequence[Passage] = (), parts: tuple[str, ...] = ()) -> Asked:
    """Return the words of a question and of its parts, and what the shown passages know of them."""
    words = tuple(word for word in tokens(question) if word.weight > 0)
    names = frozenset(word.key for word in words if word.kind == "name")
    titles = tuple(sorted({str(passage["metadata"].get("title") or "") for passage in shown}))
    held = [evidence_of(passage).occurrences for passage in shown]
    known = frozenset(word.key for word in words if any(word.key in keys for keys in held))
    return Asked(question, words, names, known, _rivals(names, titles), parts)
