"""Versions of a document: what a text and a title say of them, and which of several is in force."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from functools import lru_cache, reduce
from operator import itemgetter
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Final

from chains.text.letters import letters
from chains.text.pattern_file import read_patterns
from chains.text.quantities import quantities
from chains.text.tokens import MONTHS, SHORT_NAMES, tokens
from chains.text.words import plain_words, stem, word_set

if TYPE_CHECKING:
    from chains.state import Passage

SHORTEST_TITLE: Final = 8  # Letters; a shorter one may stand in a line by chance.
SHORTEST_FILE: Final = 4
SAME_WORDS: Final = 0.6
LONGEST_DATE: Final = 40
HEAD_CHARACTERS, FOOT_CHARACTERS = 1500, 300  # Where a document says of itself when it holds, and what it replaces.
DAYS_OF_MONTH: Final = 31
VALID_FROM, VALID_UNTIL, REPLACES, SUPERSEDED = "valid_from", "valid_until", "replaces", "superseded"
VERSION, LAST_UPDATED = "version", "last_updated"
_PAST: Final = re.compile(r"\b(?:was|were|did|had)\b.*\bin ((?:19|20)\d\d)\b", re.IGNORECASE)
LABELS: Final = "title_labels"
"""What tells a document of the index from others, in the metadata of a passage that was found."""
OLDER, NOT_IN_FORCE, NOT_YET = "older version", "not in force", "not yet in force"
MARK: Final = re.compile(rf"\((?:[^()]*, )?(?:{OLDER}|{NOT_IN_FORCE}|{NOT_YET})\)")
STATE: Final = re.compile(rf"\b(?:{OLDER}|{NOT_IN_FORCE}|{NOT_YET})\b")
_PATTERNS: Final = dict(read_patterns(__package__, "versions.txt")[1])
EDITION: Final = re.compile(f"{_PATTERNS['edition']}|{MARK.pattern}", re.IGNORECASE)
_ARCHIVE, _CURRENT, _STATUS, _OF_ALL, _BOUND = (
    re.compile(_PATTERNS[name], re.IGNORECASE) for name in ("archive", "current", "status", "of_all", "bound")
)
_SAYS: Final = {
    name: re.compile(_PATTERNS[name], re.IGNORECASE | re.MULTILINE)
    for name in (SUPERSEDED, REPLACES, VALID_FROM, VALID_UNTIL, VERSION, LAST_UPDATED)
}

OF_PERIODS: Final = frozenset(map(stem, word_set(_PATTERNS["of_periods"])))
_SIGNS: Final = re.compile(r"[_\-.\s]+|(?<=[a-z])(?=(?:19|20)\d\d\b)", re.IGNORECASE)
"""What divides the words of a file's name."""
_DOTTED: Final = re.compile(r"\b(\d\d?)\.(0?[1-9]|1[0-2])\.((?:19|20)\d\d)\b")
_HEAD_ROW: Final = re.compile(r"^(\|.*\|)[ \t]*\n\|[-:| \t]+\|[ \t]*\n(\|.*\|)[ \t]*$", re.MULTILINE)


def stated(text: str) -> dict[str, str]:
    """Return what a document says of its version: since when it holds, what it replaces, when it was updated."""
    head, foot = _HEAD_ROW.sub(_as_lines, text[:HEAD_CHARACTERS]), text[HEAD_CHARACTERS:][-FOOT_CHARACTERS:]
    said = {name: found for name, pattern in _SAYS.items() if (found := pattern.search(head))}
    values = {name: " ".join(found[1].split()) if found.re.groups else "true" for name, found in said.items()}
    values |= {name: _date_in(values[name])[0] for name in {VALID_FROM, VALID_UNTIL} & values.keys()}
    written = [_date_in(found[1]) for found in _SAYS[LAST_UPDATED].finditer(f"{head}\n{foot}")]
    _, first, last = max(written or [_date_in(values.get(VALID_FROM))], key=itemgetter(1))
    if first:  # A month of a year is no day.
        length = (10, 7, 4)[(last > first) + (last - first >= DAYS_OF_MONTH)]
        values[LAST_UPDATED] = f"{date.fromordinal(first)}"[:length]
    return {name: value for name, value in values.items() if value}


def _as_lines(table: re.Match[str]) -> str:
    """Return the head and the first row of a table as lines: "Version: 2"."""
    head, row = (line.strip("| \t").split("|") for line in table.groups())
    return "\n".join(f"{name.strip()}: {value.strip()}" for name, value in zip(head, row, strict=False))


@lru_cache(maxsize=1 << 12)
def series_of(title: str) -> str:
    """Return the letters of a title without its version; empty where the year is what it is about."""
    if any(word.key in OF_PERIODS for word in tokens(title)):
        return ""
    return letters(_STATUS.sub(" ", EDITION.sub(" ", title)))


def edition_of(title: str) -> str:
    return letters("".join(match[0] for match in EDITION.finditer(title) if not MARK.fullmatch(match[0])))


def replaced(documents: Sequence[Mapping[str, Any]], today: int | None = None) -> dict[int, int | None]:
    """Return the documents that are not in force by their place, each with the place of the version that is.

    That is None where a document says itself that it no longer holds, or not yet, and no other one takes its place.
    `today` is an ordinal of the calendar.
    """
    now = today or datetime.now(UTC).toordinal()
    found: dict[int, int | None] = {}
    for place, one in enumerate(documents):
        is_current = _day(one.get(VALID_FROM)) <= now <= (_date_in(one.get(VALID_UNTIL))[2] or now)
        if one.get(SUPERSEDED) or not is_current:
            found[place] = None
    groups: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for place, one in enumerate(documents):
        if series := series_of(str(one.get("title") or "")):
            groups[series, _folder(one), str(one.get("jurisdiction") or "").casefold()].append(place)
    for places in groups.values():
        found |= {at: None for at in places if _starts(documents[at]) > now} if len(places) > 1 else {}
        live = [place for place in places if place not in found]
        if len(places) > 1 and live:
            newest = reduce(lambda best, at: at if _is_older(documents[best], documents[at]) else best, live)
            older = [
                at for at in places if at != newest and (at in found or _is_older(documents[at], documents[newest]))
            ]
            found |= dict.fromkeys(older, newest)
    for place, one in enumerate(documents):
        named = letters(str(one.get(REPLACES) or "")) if place not in found else ""
        for other, metadata in enumerate(documents) if named else ():
            if other != place and any(name in named for name in _names(metadata)):
                found[other] = place
    return found


def _names(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Yield the letters by which another document can name this one: its title, and a file's name with a number."""
    title = letters(str(metadata.get("title") or ""))
    file = letters(PurePosixPath(str(metadata.get("file_path") or "")).stem)
    if len(title) >= SHORTEST_TITLE:
        yield title
    if len(file) >= SHORTEST_FILE and any(map(str.isdigit, file)):
        yield file


def told_apart(documents: Sequence[Mapping[str, Any]], today: int | None = None) -> dict[str, list[str]]:
    """Return by its id what stands behind the title of a document: what tells it from others, and that it is older.

    Two documents of one title and no version are told apart by their dates, or by their ids. A document whose title
    says all is left out.
    """
    now = today or datetime.now(UTC).toordinal()
    old = replaced(documents, now)
    newest = set(old.values())
    titles = [letters(str(document.get("title") or "")) for document in documents]
    shared = Counter(titles)
    told = Counter((title, label) for title, one in zip(titles, documents, strict=True) for label in set(_labels(one)))
    found: dict[str, list[str]] = {}
    for place, (title, one) in enumerate(zip(titles, documents, strict=True)):
        id_, labels = str(one.get("doc_id") or ""), list[str]()
        if shared[title] > 1 or (place in newest and not edition_of(str(one.get("title") or ""))):
            unique = [label for label in _labels(one) if told[title, label] == 1]
            labels += unique[:1] or [id_] * (shared[title] > 1 and bool(one.get("file_path")))
        if place in old:
            labels.append(NOT_YET if _starts(one) > now else NOT_IN_FORCE if old[place] is None else OLDER)
        if title and id_ and labels:
            found[id_] = labels
    return found


def with_labels(title: str, labels: Sequence[str]) -> str:
    return f"{title} ({', '.join(labels)})" if labels else title


def in_force_first(passages: Sequence["Passage"], question: str, today: int | None = None) -> list["Passage"]:
    """Return the passages with titles that tell their documents apart; those of older versions stand last, and say so.

    What tells them apart is in the metadata of a passage where the whole index was looked at; else these passages tell.
    A version that the question names keeps its place. A passage whose newer form is among the passages is of the older
    version.
    """
    first = {_id(passage): passage["metadata"] for passage in reversed(passages)}
    here = told_apart(list(first.values()), today)
    alike = Counter(map(_place, passages))
    result: list[Passage] = []
    for passage in passages:
        metadata, title = dict(passage["metadata"]), str(passage["metadata"].get("title") or "")
        labels = metadata.pop(LABELS, here.get(_id(passage), []))
        is_marked = bool(labels and STATE.fullmatch(labels[-1]))
        may_be = not is_marked and bool(_id(passage)) and alike[_place(passage)] > 1
        is_rewritten = may_be and any(_is_rewritten(passage, other) for other in passages)
        named = with_labels(title, [*labels, *[OLDER] * is_rewritten])
        result.append({**passage, "metadata": metadata | ({"title": named} if title else {})})
    return sorted(result, key=lambda passage: is_left(str(passage["metadata"].get("title")), question))


def holds_on(text: str, today: int | None = None) -> bool:
    """Say whether a statement holds on a day, by default this one; it does not "from" a later or "until" a past one."""
    now = today or datetime.now(UTC).toordinal()
    for one in quantities(text):
        bound = _BOUND.search(text[: one.start]) if one.measure == "date" else None
        if bound and (one.low > now if bound["later"] else one.high < now):
            return False
    return True


def ends_all(text: str) -> bool:
    """Say whether a statement ends what is below it, or begins it later: "These prices applied until May 2021"."""
    return bool(_OF_ALL.match(text)) and not holds_on(text)


def is_in_force(title: str) -> bool:
    return not MARK.search(title)


def is_left(title: str, question: str) -> bool:
    """Say whether a title carries the mark of an older version that the question does not name."""
    return not is_in_force(title) and not names_edition(title, question)


def left_titles(titles: Sequence[str], question: str) -> list[bool]:
    """Say for each title whether it is of another version than the question names, or else than is in force.

    "What was the fee in 2024?" names the version of that year, or the last one before it.
    """
    if past := _PAST.search(question):
        dates = (part for title in titles for part in _edition(STATE.sub("", title)) if part[0] == "date")
        question += f" {max((numbers[0] for _, numbers in dates if numbers[0] <= int(past[1])), default='')}"
    marked = {series_of(title) for title in titles if MARK.search(title) and not is_left(title, question)}
    others = (not is_in_force(title) or series_of(title) in marked for title in titles)
    return [is_other and not names_edition(title, question) for title, is_other in zip(titles, others, strict=True)]


def names_edition(title: str, question: str) -> bool:
    """Say whether a question names the edition of a title, or the year or month of it; any day is of its year."""
    named = list(_edition(STATE.sub("", title)))
    asked = [(kind, tuple(filter(None, numbers))) for kind, numbers in _edition(question)]
    return any(kind == other and numbers[: len(known)] == known for kind, known in asked for other, numbers in named)


def editions_in(text: str) -> tuple[str, ...]:
    """Return the words of a text that name versions: years, dates, numbers of editions."""
    return tuple(match[0] for match in EDITION.finditer(text))


def version_order(title: str) -> tuple[bool, list[tuple[str, tuple[int, ...]]]]:
    """Return what the titles of versions are sorted by: that in force comes last."""
    return is_in_force(title), list(_edition(STATE.sub("", title)))


def two_versions(titles: Sequence[str], question: str) -> list[str]:
    """Return the titles of two versions of a document, the older first: those that a question names, or the last ones.

    Nothing is returned where there are no two versions of any of the titles.
    """
    ranked = sorted(titles, key=lambda title: (names_edition(title, question), version_order(title)), reverse=True)
    pairs = ([other for other in ranked if series_of(other) == series_of(one) != ""][:2] for one in ranked)
    return sorted(next((pair for pair in pairs if len(pair) > 1), []), key=version_order)


def _id(passage: "Passage") -> str:
    return str(passage["metadata"].get("doc_id") or "")


def _place(passage: "Passage") -> tuple[str, str]:
    return str(passage["metadata"].get("title")), str(passage["metadata"].get("section"))


def _labels(metadata: Mapping[str, Any]) -> Iterator[str]:
    """Yield what tells a document from another one of its title: its date, and its version."""
    if date := str(metadata.get(VALID_FROM) or metadata.get("last_updated") or "")[:LONGEST_DATE]:
        yield date
    if metadata.get(VERSION):
        yield f"version {metadata[VERSION]}"


def _is_rewritten(one: "Passage", other: "Passage") -> bool:
    """Say whether another document of the same title, written later in the same folder, says the same otherwise."""
    mine, theirs = one["metadata"], other["metadata"]
    if _place(one) != _place(other) or _id(one) == _id(other):
        return False
    if not 0 < _day(mine.get("last_updated")) < _day(theirs.get("last_updated")) or _folder(mine) != _folder(theirs):
        return False
    words, others = ({word for word in plain_words(each["content"]) if word.isalpha()} for each in (one, other))
    return len(words & others) >= SAME_WORDS * len(words | others)


def _is_older(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Say whether one of two versions of a document comes before the other.

    Its title decides, then what it says of itself, then its place in an archive, its file's name, and its date.
    """
    for mine, theirs in zip(_ranks(one), _ranks(other), strict=True):
        if [kind for kind, _ in mine] == [kind for kind, _ in theirs] != [] and mine != theirs:
            return mine < theirs
    return False


Rank = list[tuple[str, tuple[int, ...]]]


def _ranks(metadata: Mapping[str, Any]) -> Iterator[Rank]:
    """Yield what tells the order of versions, the clearest first; each is empty where it is not known."""
    path = _SIGNS.sub(" ", str(metadata.get("file_path") or ""))
    title = list(_edition(str(metadata.get("title") or "")))
    yield title
    yield list(_edition(f"revision {metadata[VERSION]}" if metadata.get(VERSION) else ""))
    yield [("date", (day,)) for day in [_day(metadata.get(VALID_FROM))] if day]
    yield [("place", (0 if _ARCHIVE.search(path) else 1,))]
    yield list(_edition(path))
    yield [("date", (day,)) for day in [_day(metadata.get("last_updated"))] if day and title]


def _edition(title: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the parts of a version that can be compared: a day or a year with its month, and a number or a letter."""
    for match in EDITION.finditer(title):
        if match["year"] or match["day"]:
            month = MONTHS.index(SHORT_NAMES[match["month"].casefold()]) + 1 if match["month"] else 0
            numbers = map(int, match["day"].split("-")) if match["day"] else (int(match["year"]), month)
            yield "date", tuple(numbers)
        elif number := match["number"] or match["ordinal"]:
            yield "number", tuple(map(int, number.split(".")))
        elif match["letter"]:
            yield "letter", (ord(match["letter"].casefold()),)


@lru_cache(maxsize=1 << 12)
def _date_in(text: object) -> tuple[str, int, int]:
    """Return the words of the first date in a text, its first and its last day; no words and 0 where there is none."""
    written = _DOTTED.sub(lambda day: f"{day[3]}-{int(day[2]):02}-{int(day[1]):02}", str(text or ""))
    dates = (date for date in quantities(written) if date.measure == "date")
    return next(((written[date.start : date.end], int(date.low), int(date.high)) for date in dates), ("", 0, 0))


def _day(text: object) -> int:
    return _date_in(text)[1]


def _folder(metadata: Mapping[str, Any]) -> str:
    """Return the folder of a document without what tells versions apart: years, `archive`, `old`, `current`."""
    path = _SIGNS.sub(" ", str(metadata.get("file_path") or "").rpartition("/")[0])
    return letters(_CURRENT.sub(" ", _ARCHIVE.sub(" ", EDITION.sub(" ", path))))


def _starts(metadata: Mapping[str, Any]) -> int:
    """Return the day from which a version holds, by what it says or else by its title; 0 where it is not known."""
    days = (_day(match[0]) for match in EDITION.finditer(str(metadata.get("title") or "")))
    return _day(metadata.get(VALID_FROM)) or max(days, default=0)
