"""A question and the context's blocks in, scored statements out."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.adapters.offline.passages import Block, Entry
from app.adapters.offline.question import PLAIN, Question, says_current
from app.adapters.offline.words import terms

OWN, LEAD, HEADER, ROUTE, NEARBY, AMBIENT = 1.0, 0.9, 0.8, 0.6, 0.4, 0.3
UBIQUITOUS = 0.3

_COMPANY = re.compile(r"\b(?:we|our|us|the company|the company's)\b", re.IGNORECASE)
_GLOSSARY = frozenset(["abbreviation", "acronym"])


@dataclass(slots=True)
class Statement:
    """One quotable statement with the evidence it brings."""

    text: str
    block: Block
    position: int
    own: frozenset[str]
    scope: dict[str, float]
    coverage: float = 0.0
    echo: float = 0.0
    similarity: float = 0.0
    score: float = 0.0
    near: float = 0.0
    admissible: bool = True
    title: str = ""

    @property
    def in_place(self) -> str:
        """Return the statement below its document's title and the words that announce it, as one text to embed."""
        return ": ".join(part for part in (self.title, self.block.lead, self.text) if part)


class Evidence:
    """The terms of a context, and how rare each is in it."""

    def __init__(self, question: Question, entries: Sequence[Entry], blocks: Sequence[Block]) -> None:
        self.question = question
        self.headers = [terms(entry.header) for entry in entries]
        self.nearby = [terms(entry.text) | header for entry, header in zip(entries, self.headers, strict=True)]
        self.titles = [entry.header.strip("[]").split(" > ")[0] for entry in entries]
        self.company = [bool(_COMPANY.search(entry.text)) for entry in entries]
        self.count = len(entries)
        frequencies = Counter(term for found in self.nearby for term in found)
        self.weights = {term: weight * self._rarity(frequencies[term]) for term, weight in question.weights.items()}
        self.ambient = {term for term in question.weights if frequencies[term] >= max(3, UBIQUITOUS * self.count)}
        self.absent = {term for term in question.weights if not frequencies[term]}
        self.total = sum(self.weights.values()) or 1.0
        self.statements = [statement for block in blocks for statement in self._read(block)]

    def _rarity(self, frequency: int) -> float:
        """Return 0.6-1: a term in every entry tells less than one in a single entry; an unknown one counts whole."""
        return 0.6 + 0.4 * math.log((self.count + 1) / (frequency + 1)) / math.log(self.count + 1) if frequency else 1.0

    def _read(self, block: Block) -> list[Statement]:
        """Return a block's statements; what announces them is read once for all."""
        leads = terms(" ".join((block.label, block.heading, *block.columns)))
        echo = max(self._echo(block.label), self._echo(block.heading))
        return [self._statement(block, position, leads, echo) for position in range(len(block.statements))]

    def _statement(self, block: Block, position: int, leads: frozenset[str], echo: float) -> Statement:
        text = block.statements[position]
        own = terms(text)
        scope = {term: self._reach(term, own, leads, block.entry) for term in self.weights}
        self._join_route(scope)
        statement = Statement(text, block, position, own, scope, echo=echo, title=self.titles[block.entry])
        statement.coverage = self.covered(scope)
        statement.near = self.covered({term: reach for term, reach in scope.items() if reach >= HEADER})
        statement.admissible = self._admits(statement)
        return statement

    def _reach(self, term: str, own: frozenset[str], leads: frozenset[str], entry: int) -> float:
        """Return how near to the statement a term stands."""
        if term in own:
            return OWN
        if term in leads:
            return LEAD
        if term in self.headers[entry]:
            return HEADER
        if term in self.nearby[entry]:
            return NEARBY
        return AMBIENT if term in self.ambient else 0.0

    def _join_route(self, scope: dict[str, float]) -> None:
        """Let one end of a route speak for the other, where the context knows both."""
        ends = self.question.alternatives - self.absent
        if not self.question.compares and any(scope[end] >= HEADER for end in ends):
            scope.update({end: max(scope[end], ROUTE) for end in ends})

    def covered(self, scope: dict[str, float]) -> float:
        """Return the share of the question's weight that a scope holds."""
        return sum(self.weights[term] * reach for term, reach in scope.items()) / self.total

    def _echo(self, label: str) -> float:
        """Return how far a label that is a question asks the same one (weighted Jaccard)."""
        if not label.endswith("?"):
            return 0.0
        asked, here = set(self.weights), terms(label)
        both = sum(self.weights[term] for term in asked & here)
        return both / (self.total + 0.5 * len(here - asked))

    def _admits(self, statement: Statement) -> bool:
        """Tell whether the surroundings hold every name asked for and, if asked, the statement says it is current."""
        asked = self.question
        missing = {term for term in asked.names - self.ambient if not statement.scope.get(term)}
        if missing < asked.alternatives or (asked.alternatives and not asked.alternatives <= missing):
            missing = missing - asked.alternatives | missing & self.absent
        return not missing and (not asked.live or says_current(statement.text))

    def speaks_for_company(self, statement: Statement) -> bool:
        """Tell whether the statement's entry speaks in the company's own voice."""
        return self.company[statement.block.entry]

    def knows_all_for(self, statement: Statement) -> bool:
        """Tell whether the context knows every word of weight, and the statement's surroundings every name."""
        unknown = {term for term in self.absent if self.question.weights[term] >= PLAIN}
        return not unknown and all(statement.scope[name] >= ROUTE for name in self.question.names)

    def rank(self) -> list[Statement]:
        """Return the admissible statements, best first."""
        for statement in self.statements:
            statement.score = self._score(statement)
        return sorted((s for s in self.statements if s.admissible), key=lambda s: -s.score)

    def _score(self, statement: Statement) -> float:
        own = self.covered({term: float(term in statement.own) for term in self.weights})
        prior = 0.1 * (1 - statement.block.entry / max(self.count, 1))
        return (
            statement.coverage + 0.3 * own + 0.5 * statement.echo + 0.5 * statement.similarity + prior
            + self._form(statement)
        )  # fmt: skip

    def _form(self, statement: Statement) -> float:
        """Return how well a statement's form suits the question's: whose voice, an amount, a definition."""
        asked, score = self.question, 0.0
        if asked.asks_us and not self.speaks_for_company(statement):
            score -= 0.25
        if asked.asks_amount and any(map(str.isdigit, statement.text)):
            score += 0.15
        if asked.asks_list and statement.block.kind != "prose":
            score += 0.15
        if self.is_glossary(statement):
            score += 0.3 if asked.asks_meaning and self._defines(statement) else -0.3
        return score

    def _defines(self, statement: Statement) -> bool:
        """Tell whether the row's first cell is a name that the question asks for."""
        return bool(terms(statement.text[:24].split("\u2014")[0].split(":")[0]) & self.weights.keys())

    @staticmethod
    def is_glossary(statement: Statement) -> bool:
        """Tell whether the statement is a row of a table of abbreviations."""
        columns = {column.lower() for column in statement.block.columns}
        return bool(columns & _GLOSSARY)


def add_similarity(statements: Sequence[Statement], similarities: Sequence[float]) -> None:
    """Add what the embedding model says of how near each statement is to the question."""
    for statement, similarity in zip(statements, similarities, strict=True):
        statement.similarity = similarity


def strongest(statements: Iterable[Statement], limit: int) -> list[Statement]:
    """Return the statements worth a closer look by the embedding model."""
    return sorted(statements, key=lambda s: -(s.coverage + s.echo))[:limit]
