"""Versions of a document: what a text and a title say of them, and which of several is in force."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache, reduce
from typing import Any, Final

from chains.state import Passage
from chains.text.letters import letters
from chains.text.quantities import quantities
from chains.text.tokens import tokens
from chains.text.words import plain_words, stem, word_set

SHORTEST_TITLE: Final = 8  # Letters; a shorter one may stand in a line by chance.
SAME_WORDS: Final = 0.6
LONGEST_DATE: Final = 40
HEAD_CHARACTERS: Final = 1500  # Where a document says of itself what it replaces, or what replaces it.
VALID_FROM, REPLACES, SUPERSEDED = "valid_from", "replaces", "superseded"
OLDER, NOT_IN_FORCE = "older version", "not in force"
MARK: Final = re.compile(rf"\((?:[^()]*, )?(?:{OLDER}|{NOT_IN_FORCE})\)")
EDITION: Final = re.compile(
    r"\b(?:version|edition|revision|rev|issue|v)\.?\s?(?P<number>\d+(?:\.\d+)*)\b|\b(?P<day>\d{4}-\d\d(?:-\d\d)?)\b"
    r"|\b(?:edition |fy ?|(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* )?"
    rf"(?P<year>(?:19|20)\d\d)(?:[/-]\d{{2,4}})?(?: edition)?\b|{MARK.pattern}",
    re.IGNORECASE,
)
"""What tells two versions of one title apart."""

OF_PERIODS: Final = frozenset(
    map(
        stem,
        word_set(
            "report accounts results minutes newsletter statistics survey budget forecast calendar agenda log journal"
            " releases changelog"
        ),
    )
)
"""Words of titles whose year is what the document is about: the next year's figures are others."""

_MONTHS: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
_ARCHIVE: Final = re.compile(r"\b(?:archived?|old(?:er)?|previous|superseded|former|current|latest)\b", re.IGNORECASE)
_NO_LONGER: Final = (
    r"(?:superseded|obsolete|deprecated|archived|withdrawn|replaced|outdated|no longer (?:valid|in force))"
)
_SAYS: Final = {
    SUPERSEDED: re.compile(
        rf"\bthis (?:\w+ ){{1,3}}(?:is|was|has been) (?:now )?(?:{_NO_LONGER}|out of date|a draft)\b|\bsuperseded by\b"
        rf"|^\W*status\W+(?:{_NO_LONGER}|draft)\b|^(?:title:|#)\W*(?:{_NO_LONGER}|draft)\b"
        rf"|\((?:{_NO_LONGER}|draft)\)\W*$|^(?:superseded|replaced)_by:\s*\S",
        re.IGNORECASE | re.MULTILINE,
    ),
    REPLACES: re.compile(
        r"(?:\bthis (?:\w+ ){1,3}(?:replaces|supersedes)\b|^\W*(?:replaces|supersedes)\b)\W*([^\n]{2,120})",
        re.IGNORECASE | re.MULTILINE,
    ),
    VALID_FROM: re.compile(
        r"^\W*(?:this \w+ (?:is )?)?(?:valid|effective|in force|applies)[ _](?:from|date|since|as of)\W*([^\n]{4,40})",
        re.IGNORECASE | re.MULTILINE,
    ),
}


def stated(text: str) -> dict[str, str]:
    """Return what the first lines of a document say of its version: since when it holds, what it replaces."""
    head = text[:HEAD_CHARACTERS]
    said = {name: found for name, pattern in _SAYS.items() if (found := pattern.search(head))}
    values = {name: " ".join(found[1].split()) if found.re.groups else "true" for name, found in said.items()}
    if VALID_FROM in values and not _day(values[VALID_FROM]):
        del values[VALID_FROM]
    return values


@lru_cache(maxsize=1 << 12)
def series_of(title: str) -> str:
    """Return the letters of a title without its version; empty where the year is what it is about."""
    return "" if any(word.key in OF_PERIODS for word in tokens(title)) else letters(EDITION.sub(" ", title))


def edition_of(title: str) -> str:
    """Return the letters of the version that a title names."""
    return letters("".join(match[0] for match in EDITION.finditer(title) if not MARK.fullmatch(match[0])))


def replaced(documents: Sequence[Mapping[str, Any]], today: int | None = None) -> dict[int, int | None]:
    """Return the documents that are not in force by their place, each with the place of the version that is.

    That is None where a document says itself that it no longer holds, or not yet, and no other one takes its place.

    Args:
        documents: their metadata, `title` and `file_path` among it.
        today: as an ordinal of the calendar; by default this day.
    """
    now = today or datetime.now(UTC).toordinal()
    found: dict[int, int | None] = {
        place: None for place, one in enumerate(documents) if one.get(SUPERSEDED) or _day(one.get(VALID_FROM)) > now
    }
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, one in enumerate(documents):
        if series := series_of(str(one.get("title") or "")):
            groups[series, _folder(one), str(one.get("jurisdiction") or "").casefold()].append(place)
    for places in groups.values():
        live = [place for place in places if place not in found]
        if len(places) > 1 and live:
            newest = reduce(lambda best, at: at if _is_older(documents[best], documents[at]) else best, live)
            older = [at for at in places if at in found or _is_older(documents[at], documents[newest])]
            found |= dict.fromkeys(older, newest)
    for place, one in enumerate(documents):
        names = letters(str(one.get(REPLACES) or "")) if place not in found else ""
        for other, metadata in enumerate(documents) if names else ():
            title = letters(str(metadata.get("title") or ""))
            if other != place and len(title) >= SHORTEST_TITLE and title in names:
                found[other] = place
    return found


def in_force_first(passages: Sequence[Passage], question: str, today: int | None = None) -> list[Passage]:
    """Return the passages with titles that tell their documents apart; those of older versions stand last, and say so.

    A version that the question names keeps its place. Two documents of one title and no version are told apart by
    their dates, or by their ids; a passage whose newer form is among the passages is of the older version.
    """
    first = {_id(one): one["metadata"] for one in reversed(passages) if _id(one)}
    ids, documents = list(first), list(first.values())
    old = {ids[place]: newer for place, newer in replaced(documents, today).items()}
    newest = {ids[place] for place in old.values() if place is not None}
    shared = Counter(letters(str(metadata.get("title"))) for metadata in documents)
    dates = Counter((letters(str(metadata.get("title"))), _date(metadata)) for metadata in documents)
    result = []
    for one in passages:
        id_, title = _id(one), str(one["metadata"].get("title") or "")
        labels = []
        if shared[letters(title)] > 1 or (id_ in newest and not edition_of(title)):
            date = _date(one["metadata"])
            is_unique = date and dates[letters(title), date] == 1
            labels += [date if is_unique else id_] if is_unique or one["metadata"].get("file_path") else []
        if id_ in old:
            labels.append(NOT_IN_FORCE if old[id_] is None else OLDER)
        elif any(_is_rewritten(one, other) for other in passages):
            labels.append(OLDER)
        named = f"{title} ({', '.join(labels)})" if title and labels and id_ else title
        result.append({**one, "metadata": {**one["metadata"], "title": named}} if named != title else one)
    return sorted(result, key=lambda one: is_left(str(one["metadata"].get("title")), question))


def is_in_force(title: str) -> bool:
    """Say whether a title carries no mark of an older version."""
    return not MARK.search(title)


def is_left(title: str, question: str) -> bool:
    """Say whether a title carries the mark of an older version that the question does not name."""
    if is_in_force(title):
        return False
    asked = tuple(match[0].casefold() for match in EDITION.finditer(question))
    return not any(match[0].casefold().startswith(asked) for match in EDITION.finditer(title))


def _id(passage: Passage) -> str:
    return str(passage["metadata"].get("doc_id") or "")


def _date(metadata: Mapping[str, Any]) -> str:
    return str(metadata.get(VALID_FROM) or metadata.get("last_updated") or "")[:LONGEST_DATE]


def _is_rewritten(one: Passage, other: Passage) -> bool:
    """Say whether another document of the same title, written later in the same folder, says the same otherwise."""
    mine, theirs = one["metadata"], other["metadata"]
    if any(mine.get(name) != theirs.get(name) for name in ("title", "section")) or _id(one) == _id(other):
        return False
    if not 0 < _day(mine.get("last_updated")) < _day(theirs.get("last_updated")) or _folder(mine) != _folder(theirs):
        return False
    words, others = ({word for word in plain_words(each["content"]) if word.isalpha()} for each in (one, other))
    return len(words & others) >= SAME_WORDS * len(words | others)


def _is_older(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether one of two versions of a document comes before the other: by its title, else by its dates."""
    mine, theirs = (list(_edition(str(each.get("title") or ""))) for each in (one, other))
    if [kind for kind, _ in mine] == [kind for kind, _ in theirs] != [] and mine != theirs:
        return mine < theirs
    for name in (VALID_FROM, *["last_updated"] * (mine != theirs)):
        first, second = _day(one.get(name)), _day(other.get(name))
        if first and second and first != second:
            return first < second
    return False


def _edition(title: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the parts of a version that can be compared: a day or a year with its month, and a number."""
    for match in EDITION.finditer(title):
        if match["year"] or match["day"]:
            month = _MONTHS.index(match["month"].casefold()) + 1 if match["month"] else 0
            numbers = map(int, match["day"].split("-")) if match["day"] else (int(match["year"]), month)
            yield "date", tuple(numbers)
        elif match["number"]:
            yield "number", tuple(map(int, match["number"].split(".")))


def _day(text: object) -> int:
    """Return the first day that a text names as an ordinal of the calendar; 0 where it names none."""
    return next((int(one.low) for one in quantities(str(text or "")) if one.measure == "date"), 0)


def _folder(metadata: Mapping[str, Any]) -> str:
    """Return the folder of a document without what tells versions apart: years, `archive`, `old`."""
    path = str(metadata.get("file_path") or "").rpartition("/")[0].replace("_", " ").replace("-", " ")
    return letters(_ARCHIVE.sub(" ", EDITION.sub(" ", path)))
