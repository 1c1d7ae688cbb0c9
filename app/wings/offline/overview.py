"""Answer questions about documents as wholes: which there are about a subject, a summary, what changed between two."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from app.wings.offline.answer import OfflineAnswer
from app.wings.offline.passages import Entry
from chains.text.letters import escape_brackets
from chains.text.statements import Statement
from chains.text.tokens import tokens
from chains.versions import EDITION, MARK, series_of

_KINDS: Final = r"(?:documents?|files?|policies|policy|guides?|manuals?|handbooks?|procedures?|sources|texts)"
_LISTS: Final = re.compile(
    rf"^\W*(?:(?:which|what|list|show)(?: me)?\b.{{0,20}}\b{_KINDS}\b.{{0,20}}?\b"
    rf"(?:do (?:you|we) have|are there|exist|on|about|cover\w*)|do (?:you|we) have (?:any |a )?{_KINDS}\b)",
    re.IGNORECASE,
)
_SUMMARISES: Final = re.compile(
    r"^\W*(?:(?:please|can you|could you) )?"
    r"(?:summari[sz]e|(?:give (?:me )?an? )?(?:summary|overview) of)\b",
    re.IGNORECASE,
)
_COMPARES: Final = re.compile(
    r"\bwhat (?:has |was |is |are the )?(?:changed?|new|changes|differences?)\b", re.IGNORECASE
)
_FORM: Final = re.compile(
    rf"\b(?:{_KINDS}|which|what|list|show|have|exist|about|cover\w*|changed?|changes|new|between|differences?|differs?"
    r"|summari[sz]e|summary|overview|give|please|since|version|there)\b",
    re.IGNORECASE,
)
MOST_DOCUMENTS: Final = 8
MOST_STATEMENTS: Final = 5
SAME: Final = 0.5
"""The share of words other than figures that two statements of two versions have in common when they say one thing."""
SURE: Final = 0.75


def overview(question: str, entries: Sequence[Entry]) -> OfflineAnswer | None:
    """Return the answer to a question about whole documents; None where it is none, or no document is about that."""
    form = next((form for form, pattern in _FORMS.items() if pattern.search(question)), None)
    if form is None:
        return None
    subject = {word.key for word in tokens(_FORM.sub(" ", EDITION.sub(" ", question))) if word.weight}
    parts = {title: [entry for entry in entries if entry.title == title] for title in (one.title for one in entries)}
    documents = {title: some for title, some in parts.items() if _is_about(subject, title, some, form)}
    lines = list(form(question, documents)) if documents else []
    return OfflineAnswer("\n".join(lines), SURE) if lines else None


def _is_about(subject: set[str], title: str, parts: Sequence[Entry], form: object) -> bool:
    """Say whether a title holds the subject; a document that is only listed may also name it in its text."""
    texts = [title, *(f"{part.header} {part.text}" for part in parts if form is _listed)]
    return (bool(subject) or form is _changed) and subject <= {word.key for text in texts for word in tokens(text)}


def _listed(_question: str, documents: dict[str, list[Entry]]) -> Iterator[str]:
    for parts in list(documents.values())[:MOST_DOCUMENTS]:
        if said := _sayings(parts):
            yield _worded(*said[0])


def _summarised(question: str, documents: dict[str, list[Entry]]) -> Iterator[str]:
    """Yield the first statement of each section of the document that is named, of several the version in force."""
    asked = _editions(question)
    fits = sorted(documents, key=lambda title: (not asked <= _editions(title), bool(MARK.search(title))))
    said = [_sayings([part]) for part in documents[fits[0]]]
    yield from (_worded(*some[0]) for some in said[:MOST_STATEMENTS] if some)
    more = [each for some in said for each in some[1:]]
    yield from (_worded(*each) for each in more[: max(0, MOST_STATEMENTS - len(said))])


def _changed(question: str, documents: dict[str, list[Entry]]) -> Iterator[str]:
    """Yield what two versions of a document say otherwise, and what the later one adds."""
    asked = _editions(question)
    titles = [title for title in documents if not asked or asked & _editions(title)]
    series = {title: series_of(title) for title in titles}
    pair = next(([one for one in titles if series[one] == each] for each in series.values() if each), [])
    if len(pair) != 2:  # noqa: PLR2004 - Two versions.
        return
    older, newer = sorted(pair, key=lambda title: (not MARK.search(title), title))
    before = _sayings(documents[older])
    for entry, statement in _sayings(documents[newer]):
        words = _content(statement)
        alike = ((each, _content(each[1])) for each in before)
        near = next((each for each, old in alike if len(words & old) >= SAME * max(1, len(words | old))), None)
        if near is None:
            yield _worded(entry, statement)
        elif near[1].letters != statement.letters:
            yield f"{_worded(entry, statement)} Before: {_worded(*near, sign='')}"


_FORMS: Final = {_changed: _COMPARES, _summarised: _SUMMARISES, _listed: _LISTS}


def _editions(text: str) -> set[str]:
    return {match[0].casefold() for match in EDITION.finditer(text)}


def _sayings(parts: Sequence[Entry]) -> list[tuple[Entry, Statement]]:
    return [(part, one) for part in parts for one in part.statements if not one.is_label]


def _content(statement: Statement) -> set[str]:
    return {word.key for word in statement.tokens if word.kind != "number" and word.weight}


def _worded(entry: Entry, statement: Statement, sign: str = "- ") -> str:
    return f"{sign}{escape_brackets(statement.said)} {entry.marker}"
