"""Answer questions about documents as wholes: which there are about a subject, a summary, what changed between two."""

from collections.abc import Iterator, Sequence
from typing import Final

from app.wings.offline.answer import OfflineAnswer
from app.wings.offline.passages import Entry
from chains.documents.versions import editions_in, names_edition, two_versions, version_order
from chains.text.letters import escape_brackets
from chains.text.overviews import MOST_HELD, Overview, overview_of
from chains.text.statements import Statement

MOST_DOCUMENTS: Final = 8
MOST_STATEMENTS: Final = 5
SAME: Final = 0.5
"""The share of words other than figures that two statements of two versions have in common when they say one thing."""
SURE: Final = 0.75

Documents = dict[str, list[Entry]]  # The entries of a context by the titles of their documents.


def overview(question: str, shown: Sequence[Entry]) -> OfflineAnswer | None:
    """Return the answer to a question about whole documents; None where it is none, or no document is about that."""
    asked = overview_of(question, editions_in(question))
    if asked is None:
        return None
    documents: Documents = {}
    for entry in shown:
        documents.setdefault(entry.title, []).append(entry)
    if asked.form == "list":
        lines = list(_listed(asked, documents))
    else:
        held = {title: asked.share(title) for title in documents}
        named = {title: documents[title] for title in held if held[title] == max(held.values()) >= MOST_HELD}
        form = _changed if asked.form == "changes" else _summarised
        lines = list(form(question, named)) if named and (asked.subject or form is _changed) else []
    return OfflineAnswer("\n".join(lines), SURE, whole=True) if lines else None


def _listed(asked: Overview, documents: Documents) -> Iterator[str]:
    """Yield the first statement of each document whose title holds the subject, else that which says most of it."""
    found = 0
    for title, parts in documents.items():
        said = _sayings(parts)
        is_named = asked.share(title) >= 1
        if not said or not (is_named or asked.share(" ".join(f"{part.header} {part.text}" for part in parts)) >= 1):
            continue
        found += 1
        if found <= MOST_DOCUMENTS:
            yield _worded(*(said[0] if is_named else max(said, key=lambda one: asked.share(one[1].said))))


def _summarised(question: str, documents: Documents) -> Iterator[str]:
    """Yield the first statement of each section of the document that is named, of several the version in force."""
    last = max(documents, key=lambda title: (names_edition(title, question), version_order(title)))
    said = [_sayings([part]) for part in documents[last]]
    yield from (_worded(*some[0]) for some in said[:MOST_STATEMENTS] if some)
    more = [each for some in said for each in some[1:]]
    yield from (_worded(*each) for each in more[: max(0, MOST_STATEMENTS - len(said))])


def _changed(question: str, documents: Documents) -> Iterator[str]:
    """Yield what two versions of a document say otherwise, and what the later one adds."""
    pair = two_versions(list(documents), question)
    if not pair:
        return
    older, newer = pair
    known = _sayings(documents[older])
    for entry, statement in _sayings(documents[newer]):
        words = _content(statement)
        alike = ((each, _content(each[1])) for each in known)
        near = next((each for each, old in alike if len(words & old) >= SAME * max(1, len(words | old))), None)
        if near is None:
            yield _worded(entry, statement)
        elif near[1].letters != statement.letters:
            yield f"{_worded(entry, statement)} Before: {_worded(*near, sign='')}"


def _sayings(parts: Sequence[Entry]) -> list[tuple[Entry, Statement]]:
    return [(part, one) for part in parts for one in part.statements if not one.is_label]


def _content(statement: Statement) -> set[str]:
    return {word.key for word in statement.tokens if word.kind != "number" and word.weight}


def _worded(entry: Entry, statement: Statement, sign: str = "- ") -> str:
    return f"{sign}{escape_brackets(statement.said)} {entry.marker}"
