"""A question and the entries of the context -> their statements, each with a score for how well it answers."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.adapters.llm.offline.passages import Block, Entry
from app.adapters.llm.offline.question import Question
from app.adapters.llm.offline.words import countries, stem, terms

# How near to a statement a term of the question stands: in it, in the words that announce it, in the entry's header,
# elsewhere in the entry. A term that most entries hold is known to be the context's subject.
OWN, LEAD, HEADER, ROUTE, NEARBY, AMBIENT = 1.0, 0.9, 0.8, 0.6, 0.4, 0.3
UBIQUITOUS = HALF = 0.5
EMBEDDED_CHARACTERS = 150
FEW = 2

_COMPANY = re.compile(r"\b(?:we|our|ours|us|the company|waypoint)\b", re.IGNORECASE)
_GLOSSARY = re.compile(r"glossary|abbreviation|acronym|short form|key terms|definitions", re.IGNORECASE)
_CURRENT = re.compile(
    r"\b(?:current|currently|prevailing|since|in force|now|(?<!-)effective (?:from|since|as|\d|[A-Z][a-z]+ \d))",
    re.IGNORECASE,
)
# A word in lower case, but no part of an address.
_LOWER = re.compile(r"(?<![\w@./-])[^\W\d_A-Z]+(?![\w@]|[.@/-]\w)")
_VERDICT = re.compile(r"(?:yes|no)\b", re.IGNORECASE)
_DURATION = re.compile(r"\b(?:minutes?|hours?|days?|weeks?|months?|years?|\d\d?:\d\d)\b", re.IGNORECASE)


@dataclass(slots=True, eq=False)
class Statement:
    """One quotable statement with the evidence it brings."""

    text: str
    block: Block
    entry: int
    own: frozenset[str]
    leads: frozenset[str]
    scope: dict[str, float]
    echo: float = 0.0
    coverage: float = 0.0
    near: float = 0.0
    content: float = 0.0
    similarity: float = 0.0
    score: float = 0.0


@lru_cache(maxsize=1 << 12)
def _ordinary(text: str) -> frozenset[str]:
    """Return the stems of the words that a text writes in lower case: no proper nouns."""
    return frozenset(stem(word) for word in set(_LOWER.findall(text)))


class Evidence:
    """The statements of a context, and how rare each term of the question is in it."""

    def __init__(self, question: Question, entries: Sequence[Entry]) -> None:
        self.question = question
        self.entries = entries
        self.headers = [terms(entry.header) for entry in entries]
        self.nearby = [terms(entry.text) | header for entry, header in zip(entries, self.headers, strict=True)]
        self.frequencies = Counter(term for found in self.nearby for term in found)
        self.weights = {term: weight * self._rarity(term) for term, weight in question.weights.items()}
        self.total = sum(self.weights.values()) or 1.0
        self.ambient = {term for term in self.weights if self.frequencies[term] >= max(3, UBIQUITOUS * len(entries))}
        ordinary = frozenset[str]().union(*(_ordinary(entry.text) for entry in entries))
        self.proper = {
            name for name in question.names if name in countries() or not (name[0] == "~" or name in ordinary)
        }
        self.lacks_focus = bool(question.focus and not self.frequencies[question.focus])
        self.content = {term: weight for term, weight in question.weights.items() if term not in self.proper}
        self.knows_content = not self.content or any(self.frequencies[term] for term in self.content)
        self.asked_in = {countries()[name] for name in question.names & countries().keys()}
        self.statements = [statement for number in range(len(entries)) for statement in self._read(number)]

    def _rarity(self, term: str) -> float:
        """Return 0.6-1: a term in every entry tells less than one in a single entry; an unknown one counts whole."""
        count, frequency = len(self.entries), self.frequencies[term]
        return 0.6 + 0.4 * math.log((count + 1) / (frequency + 1)) / math.log(count + 1) if frequency else 1.0

    def _read(self, number: int) -> list[Statement]:
        """Return an entry's statements, none if a name of the question is missing in it."""
        entry, found = self.entries[number], []
        for block in entry.blocks if self._admits(number) else ():
            leads = terms(" ".join((block.label, block.heading, *block.columns)))
            echo = max(self._echo(lead) for lead in (block.label, block.heading, entry.section))
            found += [self._statement(text, block, number, leads, echo) for text in block.statements]
        return found

    def _admits(self, number: int) -> bool:
        """Return whether an entry, header and text, holds every name and identifier asked for."""
        asked, entry = self.question, self.entries[number]
        titled = {term for term in self.headers[number] if term in countries().values()}
        if titled and self.asked_in and not titled & self.asked_in:
            return False
        missing = {name for name in self.proper - self.ambient if not self._in_entry(name, number)}
        if asked.alternatives - missing:
            missing -= asked.alternatives & self.frequencies.keys()
        return not missing and all(name in entry.header + entry.text for name in asked.identifiers)

    def _in_entry(self, term: str, number: int) -> bool:
        return term in self.nearby[number] or countries().get(term) in self.headers[number]

    def _statement(self, text: str, block: Block, number: int, leads: frozenset[str], echo: float) -> Statement:
        own = terms(text)
        scope = {term: self._reach(term, own, leads, number) for term in self.weights}
        self._join_route(scope)
        statement = Statement(text, block, number, own, leads, scope, echo)
        statement.coverage = self.covered(scope)
        statement.near = self.covered({term: reach for term, reach in scope.items() if reach >= HEADER})
        statement.content = self._content(scope) if self.content else statement.near
        statement.score = self._score(statement)
        return statement

    def _reach(self, term: str, own: frozenset[str], leads: frozenset[str], number: int) -> float:
        """Return how near to the statement a term stands."""
        if term in own:
            return OWN
        if term in leads:
            return LEAD
        if term in self.headers[number] or countries().get(term) in self.headers[number]:
            return HEADER
        if term in self.nearby[number]:
            return NEARBY
        return AMBIENT if term in self.ambient else 0.0

    def _join_route(self, scope: dict[str, float]) -> None:
        """Let one end of a route speak for the other, where the context knows both."""
        ends = {end for end in self.question.alternatives if self.frequencies[end]}
        if not self.question.compares and any(scope[end] >= HEADER for end in ends):
            scope.update({end: max(scope[end], ROUTE) for end in ends})

    def covered(self, scope: dict[str, float]) -> float:
        """Return the share of the question's weight that a scope holds."""
        return sum(self.weights[term] * reach for term, reach in scope.items()) / self.total

    def _content(self, scope: dict[str, float]) -> float:
        """Return the share of what is asked about the names: of the weight that is no proper name's."""
        return sum(weight * scope[term] for term, weight in self.content.items()) / sum(self.content.values())

    def _echo(self, label: str) -> float:
        """Return how far a label that is a question asks the same one (weighted Jaccard)."""
        if not label.endswith("?"):
            return 0.0
        asked, here = self.weights.keys(), terms(label)
        both = sum(self.weights[term] for term in asked & here)
        return both / (self.total + 0.5 * len(here - asked))

    def _score(self, statement: Statement) -> float:
        own = self.covered({term: float(term in statement.own) for term in self.weights})
        prior = 0.2 * (1 - statement.entry / len(self.entries))
        return (
            0.2 * statement.coverage
            + 0.4 * statement.near
            + 0.3 * own
            + 0.4 * statement.echo
            + prior
            + self._form(statement)
        )

    def _form(self, statement: Statement) -> float:
        """Return how well a statement's form suits the question's: whose voice, a verdict, a time, an amount."""
        asked, text, score = self.question, statement.text, 0.0
        if asked.asks_us and not self.speaks_for_company(statement):
            score -= 0.25
        if asked.asks_whether and statement.echo >= HALF and _VERDICT.match(text):
            score += 0.3
        if asked.asks_time:
            score += 0.2 if self.tells_time(statement) else 0.0
        elif asked.asks_amount:
            score += 0.2 if any(map(str.isdigit, text)) else -0.2
        if asked.asks_steps and asked.focus and not self.holds_focus(statement):
            score -= 0.6
        return score - 0.3 * text.endswith("?") + self._layout(statement)

    def _layout(self, statement: Statement) -> float:
        """Return how well prose, a list or a table suits a question for a meaning, for items, for steps."""
        asked, kind, score = self.question, statement.block.kind, 0.0
        if asked.asks_meaning and kind != "prose":
            score += 0.3 if self._defines(statement) else -0.2
        if asked.asks_list and kind != "prose":
            score += 0.2 * statement.near - (0.3 * (1 - statement.near) if kind == "table" else 0.0)
        if asked.asks_steps and kind == "list":
            score += 0.25
        return score

    def compare(self, statements: Sequence[Statement], similarities: Sequence[float]) -> None:
        """Add what the embedding model says of how near each statement is to the question; forget the others."""
        for statement, similarity in zip(statements, similarities, strict=True):
            statement.similarity = similarity
            statement.score += similarity
        self.statements = list(statements)

    def in_place(self, statement: Statement) -> str:
        """Return a statement below its section and its label, short enough to embed quickly."""
        parts = (self.entries[statement.entry].section, statement.block.label, statement.text)
        return ": ".join(dict.fromkeys(part for part in parts if part))[:EMBEDDED_CHARACTERS]

    def tells_time(self, statement: Statement) -> bool:
        """Return whether a time is asked for and the statement holds one."""
        return self.question.asks_time and bool(_DURATION.search(statement.text))

    def holds_focus(self, statement: Statement) -> bool:
        """Return whether what the question turns on stands in or above the statement."""
        return statement.scope.get(self.question.focus, 0.0) >= HEADER

    def speaks_for_company(self, statement: Statement) -> bool:
        """Return whether the statement's entry speaks in the company's own voice."""
        return bool(_COMPANY.search(self.entries[statement.entry].text))

    def _in_glossary(self, statement: Statement) -> bool:
        block = statement.block
        words = " ".join((block.label, block.heading, self.entries[statement.entry].section, *block.columns))
        return block.kind != "prose" and bool(_GLOSSARY.search(words))

    def _defines(self, statement: Statement) -> bool:
        """Return whether a row of a table or list opens with a name that the question asks for."""
        opening = statement.text[:60].split("\u2014")[0].split(":")[0]
        return statement.block.kind != "prose" and bool(terms(opening) & self.weights.keys())

    def _quotable(self, statement: Statement) -> bool:
        """Return whether a statement may answer: no glossary row but for its meaning, no old news for today's state."""
        if self._in_glossary(statement):
            return self.question.asks_meaning and self._defines(statement)
        return not self.question.live or bool(_CURRENT.search(statement.text))

    def candidates(self, limit: int) -> list[Statement]:
        """Return the best statements for a closer look, few of each block."""
        chosen: list[Statement] = []
        seen: Counter[int] = Counter()
        for statement in self.rank():
            seen[id(statement.block)] += 1
            if seen[id(statement.block)] <= FEW:
                chosen.append(statement)
        return chosen[:limit]

    def rank(self) -> list[Statement]:
        """Return the statements that may answer, best first."""
        return sorted((s for s in self.statements if self._quotable(s)), key=lambda s: -s.score)
