"""Read what a text states: figures, dates and names, each with the words that say of what and when they are true."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Final, NamedTuple

from chains.citations.cited_sentences import LONGEST_SENTENCE
from chains.citations.markers import inside
from chains.citations.numbering import source_key
from chains.documents.versions import edition_of, series_of
from chains.state import Passage
from chains.text.negation import denied
from chains.text.quantities import SINCE, Quantity, quantities
from chains.text.statements import Statement, read_statements, sentences
from chains.text.tokens import WEIGHTS, Token, tokens
from chains.text.words import LISTS, stem, word_set


def _stems(words: str) -> frozenset[str]:
    return frozenset(map(stem, word_set(words)))


GENERIC: Final = _stems(LISTS["generic"])
"""Words that do not say what a figure is about: verbs that give it, and what its unit says already."""

IN_NO_HEADING: Final = _stems(LISTS["no heading"])  # Words of headings that say nothing about the text below.

IN_NO_TITLE: Final = _stems(LISTS["no title"])  # Words of titles that name a kind of document, and no subject.

OF_DOCUMENTS: Final = _stems(LISTS["of documents"])  # What documents say of themselves: each says something else.

SINGLE: Final = _stems(LISTS["single"])  # Words behind which one name stands, so that another name contradicts it.

EVERYWHERE: Final = frozenset({"global", "international", "worldwide", "asean", "eu", "n/a"})
"""Jurisdictions that are no country."""

NOT_NOW: Final = re.compile(
    r"\b(?:was|were|had been|formerly|previously|in the past|used to|will be|will rise|will fall|would|propos\w+|"
    r"plan(?:s|ned)|draft|expected to|superseded|obsolete|no longer|any ?more|outdated|old|examples?|for instance|e\.g"
    r"|suppose|imagine|sample calculation)\b",
    re.IGNORECASE,
)
"""What was, may come, or is an example."""
_SOFT: Final = 0.1  # The weight from which a word is more than grammar.

_NUMBERING: Final = re.compile(r"^\W*\d+(?:\.\d+)*\.?\s")
_ACRONYM: Final = re.compile(r"\(([A-Z]{2,6})\)")

_CONDITIONAL: Final = re.compile(
    r"(?:if|when|where|unless|for|in|after|before|under|during|from|once|on|at|by|with|without)\b", re.IGNORECASE
)
_CLAUSE_END: Final = re.compile(
    r";\s|\s[–—]\s|,\s(?:and|but|so|while|whereas|which|who|with|plus)\b|\s(?:but|whereas|while)\s"
    r"|,\s(?=\D{0,24}(?:at most|at least|up to)\b)"
)
_AND: Final = re.compile(r"\s(?:and|or)\s|,\s")
_ADDED: Final = re.compile(r"\s(?:and|or|plus|such as)\s|,\s")
_ASIDE: Final = re.compile(r"\([^()]*\d[^()]*\)")
_NOT: Final = re.compile(r"\b(?:not|never)\W*$")
_GIVEN: Final = re.compile(r"(?:\b(?:is|are|of|has|have)|:)[\s*_]+$")
_GIVEN_END: Final = re.compile(r"[*_]*(?:[.,;)](?:\s|$)|\s*$)")
_IS: Final = re.compile(r"\b(?:is|are)(?: now| the)?[\s*_\"]+$")
_INTRODUCES: Final = re.compile(r"\b(?:is|are|in|at|by|to|with|through|via|as|named|called)(?: the)?[\s*_\"]+$")
_WITHIN_NAME: Final = re.compile(r"[\s\-–&./'’]{1,3}")
_IN_NAMES: Final = frozenset({"of", "and"})


class About(NamedTuple):
    """What a document is about: the words and the names of its title, its jurisdiction, and which document it is.

    `series` is the title without the `edition`, a year or a version, that the title names.
    """

    title: frozenset[str]
    names: frozenset[str]
    place: str
    document: str
    series: str
    edition: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure, a date or a name that a statement gives.

    `text[start:end]` is the statement; `words` say what the claim is about, `also` are all words that may: of the
    statement and of the headings above it. `said` are the statement's own, `names` the names among them.
    `conditions` are the other figures that belong to it, `values` all of the statement. `group` is the list or the
    table that the statement is an item of. `path` are the headings above.
    """

    start: int
    end: int
    about: About
    value: Quantity | frozenset[str] = frozenset()
    written: str = ""
    words: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    said: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    heading: frozenset[str] = frozenset()
    values: tuple[Quantity, ...] = ()
    conditions: frozenset[tuple[str, float, float]] = frozenset()
    is_denied: bool = False
    is_row: bool = False
    group: str = ""
    path: tuple[str, ...] = ()

    def is_repeated_in(self, said: Collection[str]) -> bool:
        """Return whether the words of a text repeat what the claim gives."""
        if not isinstance(self.value, Quantity):
            return not self.value.isdisjoint(said)
        return any(word.kind == "number" and word.key in said for word in tokens(self.written))


@dataclass(frozen=True, slots=True)
class ClaimReader:
    """Reads claims; `common` are the words that are also written in small letters, so that they are no names."""

    common: Collection[str]

    def about(self, document: str, title: str, place: str = "") -> About:
        """Return what a document with a title is about; `place` is the jurisdiction that its metadata names."""
        words = [word for word in tokens(title) if word.weight > 0 or word.text.isupper()]
        names = frozenset(word.key for word in words if word.text[0].isdigit() or self._is_name(word)) - IN_NO_TITLE
        place = "" if place.casefold() in EVERYWHERE else place.casefold()
        return About(keys(words), names, place, document, series_of(title), edition_of(title))

    def claims(self, text: str, about: About, path: Iterable[str] = (), head: str = "") -> Iterator[Claim]:
        """Yield the claims of a markdown text below the headings of `path`; `head` is that of a table which goes on."""
        for statement in read_statements(text, head):
            above = tuple(filter(None, [*(statement.headings or path), statement.lead]))
            read = (tokens(_NUMBERING.sub("", heading)) for heading in above)
            headings = [frozenset(word.key for word in one if word.weight >= WEIGHTS["word"]) for one in read]
            nearest = headings[-1] - IN_NO_HEADING - GENERIC if headings else frozenset[str]()
            also = frozenset[str]().union(*headings)
            claim = Claim(statement.start, statement.end, about, also=also, heading=nearest, path=above)
            if statement.kind == "row":
                yield from self._in_row(statement, claim)
            elif statement.kind == "item":
                claim = replace(claim, group="\n".join(["list", *above]))
                for sentence in sentences(statement.words):
                    yield from self._in_sentence(sentence, claim)
            elif statement.kind == "sentence":
                yield from self._in_sentence(statement.words, claim)

    def _in_row(self, row: Statement, claim: Claim) -> Iterator[Claim]:
        cells, columns = row.cells, row.columns
        if not 1 < len(cells) <= len(columns):
            return
        read = [quantities(cell.text) for cell in cells]
        subject = tokens(f"{row.group} {cells[0].text}")
        notes = [word for cell, found in zip(cells, read, strict=True) if not found for word in tokens(cell.text)]
        group = "\n".join([*claim.path, *columns])
        for place in range(1, len(cells)):
            cell, own, above = cells[place], tokens(cells[place].text), tokens(columns[place])
            numbers = [*read[0], *quantities(columns[place])]
            around = [*notes, *own, *above, *subject, *tokens(columns[0])]
            base = replace(claim, is_row=True, group=group, words=keys([*subject, *above], least=_SOFT))
            for one in read[place]:
                if one.measure or cell.text == cell.text[one.start : one.end]:
                    rest = [word for word in own if not one.start <= word.start < one.end]
                    others = [*numbers, *(other for other in read[place] if other.measure != one.measure)]
                    base = replace(base, value=one, written=cell.text[one.start : one.end], values=tuple(read[place]))
                    yield self._complete(base, rest, around, others)
            said = [word for word in own if word.kind != "stop"]
            is_name = len(said) > 1 or (bool(said) and self._is_name(said[0]))
            if not read[place] and is_name and all(word.text[0].isupper() for word in said):
                named = replace(base, value=keys(own, least=_SOFT), written=cell.text, values=())
                yield self._complete(named, [], around, numbers)

    def _in_sentence(self, sentence: str, claim: Claim) -> Iterator[Claim]:
        if len(sentence) > LONGEST_SENTENCE:
            return
        everything = tokens(sentence)
        found = quantities(sentence)
        is_past = NOT_NOW.search(sentence)
        asides = [match.span() for match in (*_ASIDE.finditer(sentence), *_ACRONYM.finditer(sentence))]
        for first, last in _clauses(sentence, found):
            own = [word for word in everything if first <= word.start < last and not inside(word.start, asides)]
            here = [one for one in found if first <= one.start < last and not inside(one.start, asides)]
            for one in here:
                if one.label or (is_past and one.measure != "date") or not _is_value(sentence, one):
                    continue
                added = _ADDED.search(sentence, one.end, last)
                until, spans = added.start() if added else last, [(other.start, other.end) for other in here]
                rest = [word for word in own if word.start < until and not inside(word.start, spans)]
                others = [other for other in here if other != one and other.start < until]
                others = [other for other in others if not SINCE.search(sentence, 0, other.start)]
                base = replace(claim, value=one, written=sentence[one.start : one.end], values=tuple(found))
                yield self._complete(base, rest, everything, others)
            name = self._named(sentence, own)
            if name and not NOT_NOW.search(sentence, 0, name[-1].end):
                written = sentence[name[0].start : name[-1].end]
                base = replace(claim, value=frozenset(word.key for word in name), written=written)
                others = [one for one in here if one.measure != "date"]
                yield self._complete(base, [word for word in own if word not in name], everything, others)

    def _named(self, sentence: str, own: Sequence[Token]) -> Sequence[Token]:
        """Return the name behind the words that ask for one: "is issued by", "headquarters in"."""
        place = next((at for at, word in enumerate(own) if stem(word.text.lower()) in SINGLE), len(own))
        behind = [word for word in own[place + 1 :] if word.text[0].isupper()]
        named = [word for word in behind if _INTRODUCES.search(sentence, 0, word.start)]
        if not named:
            return []
        first = next((word for word in named if _IS.search(sentence, 0, word.start)), named[0])
        run = [first]
        for word in own[own.index(first) + 1 :]:
            belongs = word.text[0].isupper() or word.text in _IN_NAMES
            if not belongs or not _WITHIN_NAME.fullmatch(sentence, run[-1].end, word.start):
                break
            run.append(word)
        run = run[:-1] if run[-1].text in _IN_NAMES else run
        return run if len(run) > 1 or self._is_name(first) else []

    def _complete(
        self, claim: Claim, rest: Sequence[Token], around: Iterable[Token], others: Iterable[Quantity]
    ) -> Claim:
        """Return the claim with its words; `rest` are those beside its value, `around` all of its statement or row."""
        return replace(
            claim,
            written=" ".join(claim.written.replace("*", "").split()),
            words=(claim.words | keys(rest, least=_SOFT if claim.is_row else WEIGHTS["word"])) - GENERIC,
            also=claim.also | claim.words | keys(around, least=_SOFT),
            said=claim.words | keys(rest, least=_SOFT),
            names=frozenset(word.key for word in rest if self._is_name(word)),
            conditions=frozenset((one.measure, one.low, one.high) for one in others),
            is_denied=bool(denied(rest)),
        )

    def _is_name(self, word: Token) -> bool:
        if word.kind == "number" or not word.text[0].isupper():
            return False
        return (word.text.isupper() and len(word.text) > 1) or (word.weight > 0 and word.key not in self.common)


def claims_of(passage: Passage, common: Set[str]) -> tuple[Claim, ...]:
    """Return the claims of a passage, which are read once as long as the same ones of its words are in `common`."""
    metadata, text = passage["metadata"], passage["content"]
    title, *about = (str(metadata.get(name) or "") for name in ("title", "jurisdiction", "section", "table_head"))
    unsure = common & (small_and_capital(text)[1] | small_and_capital(title)[1])
    return _claims_of(text, unsure, (source_key(passage)[0], title, *about))


@lru_cache(maxsize=512)
def _claims_of(text: str, unsure: frozenset[str], about: tuple[str, ...]) -> tuple[Claim, ...]:
    document, title, place, section, head = about
    reader = ClaimReader(small_and_capital(text)[0] | unsure)
    return tuple(reader.claims(text, reader.about(document, title, place), [section] if section else [], head))


@lru_cache(maxsize=512)
def small_and_capital(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words that a text writes in small letters, and those with a capital that may be names or not."""
    words = tokens(text)
    small = frozenset(word.key for word in words if word.text[0].islower())
    capitals = (word for word in words if word.text[0].isupper() and word.weight > 0)
    return small, frozenset(word.key for word in capitals if len(word.text) == 1 or not word.text.isupper()) - small


def keys(words: Iterable[Token], *, least: float = WEIGHTS["word"]) -> frozenset[str]:
    """Return the words of at least a weight, without numbers."""
    return frozenset(word.key for word in words if word.weight >= least and word.kind != "number")


def _is_value(sentence: str, one: Quantity) -> bool:
    """Return whether a figure is what the sentence gives: no denied one, no date that opens it, no number in a name."""
    if _NOT.search(sentence, 0, one.start):
        return False
    if one.measure == "date":
        return bool(sentence[: one.start].strip(" *_("))
    return bool(one.measure) or bool(_GIVEN.search(sentence, 0, one.start) and _GIVEN_END.match(sentence, one.end))


def _clauses(sentence: str, found: Sequence[Quantity]) -> Iterator[tuple[int, int]]:
    """Yield the clauses; one that opens with a condition stays with the next, and "and" ends one behind a figure."""
    ends = [match.start() for match in _CLAUSE_END.finditer(sentence)]
    for one, following in pairwise(found):
        if one.measure == following.measure and (joint := _AND.search(sentence, one.end, following.start)):
            ends.append(joint.start())
    begin = 0
    for cut in sorted({*ends, len(sentence)}):
        opens = begin == 0 and _CONDITIONAL.match(sentence) and not any(one.start < cut for one in found)
        if not opens or cut == len(sentence):
            yield begin, cut
            begin = cut
