"""Check a sentence against several sources together: each has to support the part of it that it holds."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from chains.citations.cited_sentences import VERB
from chains.citations.evidence import CONTENT, Asked, evidence_of
from chains.citations.support import Support
from chains.citations.verification import verify
from chains.documents.versions import editions_in, series_of, version_order
from chains.ports import WordSimilarity
from chains.state import Passage
from chains.text.tokens import Token, tokens

MOST_REWORDED: Final = 1 / 3  # The share of the words of a part that no source may hold.
_FIGURE: Final = r"(?=\s+(?:\S*\d|(?:one|two|three|four|five|six|seven|eight|nine|ten)\b))"
_PART: Final = re.compile(
    r"[,;:–—]\s(?:(?:and|or|but|while|whereas)\b)?|\b(?:and|or|but|while|whereas|instead of|rather than|compared)\b"
    rf"|\b(?:from|(?<!up )to){_FIGURE}|\bthan\b(?!\s+\W?\d)",
    re.IGNORECASE,
)
"""Where a part of a sentence may begin that another source holds: "from 42 | to 55", "Dunmore | and Kestrel"."""
_MORE: Final = re.compile(
    r"\b(?:rose|rises?|risen|raise[sd]?|increase[sd]?|gr[eo]wn?|up|higher|more|longer|greater|later|dearer)\b"
)
_LESS: Final = re.compile(
    r"\b(?:fell|falls?|fallen|drop(?:s|ped)?|decrease[sd]?|reduced?|cut|lower(?:ed|s)?|down|less|fewer|shorter|earlier"
    r"|cheaper)\b"
)
_CHANGE: Final = re.compile(rf"{_MORE.pattern}|{_LESS.pattern}|\bchanged\b")
_FORMERLY: Final = re.compile(
    r"\b(?:from|was|were|used to|formerly|previously|before|old|instead of|rather than|compared|than)\b", re.IGNORECASE
)
_MINUEND: Final = re.compile(r"(?:from|than|compared|instead of|rather than)\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Part:
    """A part of a sentence, its words, and the places of the sources that hold all of it that any source holds."""

    text: str
    words: tuple[Token, ...]
    holders: frozenset[int]

    @property
    def numbers(self) -> list[Token]:
        return [word for word in self.words if word.kind == "number"]

    @property
    def subject(self) -> list[Token]:
        """The words before its verb; all of them where it has none."""
        verb = VERB.search(self.text)
        return [word for word in self.words if not verb or word.end <= verb.start()]


def support_together(
    sentence: str, passages: Sequence[Passage], similarity: WordSimilarity | None, asked: Asked
) -> dict[int, Support]:
    """Return how each passage supports its part of a sentence, by its place; nothing where they do not support it all.

    Each number and name has to stand in a passage that holds what is said of it; a part without a subject or a verb
    of its own takes those of the part before. What rises has to rise, and what was has to stand in the older version.
    A passage that adds nothing is left out.
    """
    held = [_held(passage, passages) for passage in passages]
    bounds = sorted({0, len(sentence), *(cut.start() for cut in _PART.finditer(sentence))})
    parts = [part for start, end in pairwise(bounds) if (part := _part(sentence[start:end], held)).words]
    if not parts or not all(part.holders for part in parts) or any(_is_made_up(part, held) for part in parts):
        return {}
    if not (_grows_as_said(sentence, parts) and _follows_versions(parts, passages)):
        return {}
    found: dict[int, Support] = {}
    for place, passage in enumerate(passages):
        if not any(part.holders == {place} for part in parts):
            continue
        words = _words_of(place, parts, held)
        for edition in editions_in(str(passage["metadata"].get("title") or "")):
            words = words.replace(edition, " ")
        support = verify([words], [passage], similarity, asked) if words else None
        if support is None or not support.supported:
            return {}
        found[place] = support
    return found if all(part.holders & found.keys() for part in parts) else {}


def _held(passage: Passage, passages: Sequence[Passage]) -> frozenset[str]:
    """Return the words that a passage and its heading hold, without the editions of the others' titles."""
    evidence, title = evidence_of(passage), str(passage["metadata"].get("title") or "")
    others = " ".join(word for one in passages for word in editions_in(str(one["metadata"].get("title") or "")))
    theirs = {word.key for word in tokens(others)} - {word.key for word in tokens(title)}
    return evidence.heading.union(evidence.occurrences) - theirs


def _part(text: str, held: Sequence[frozenset[str]]) -> _Part:
    spans = [change.span() for change in _CHANGE.finditer(text)]
    words = tuple(
        word
        for word in tokens(text)
        if (word.weight >= CONTENT or word.kind == "name")
        and not any(start <= word.start < end for start, end in spans)
    )
    known = {word.key for word in words} & frozenset().union(*held)
    return _Part(text, words, frozenset(place for place, some in enumerate(held) if known <= some))


def _is_made_up(part: _Part, held: Sequence[frozenset[str]]) -> bool:
    """Return whether no source holds a number or a name of a part, or many of its words."""
    lacking = [word for word in part.words if all(word.key not in some for some in held)]
    is_exact = any(word.kind == "name" or word.text[0].isdecimal() for word in lacking)
    return is_exact or len(lacking) > MOST_REWORDED * len(part.words)


def _words_of(place: int, parts: Sequence[_Part], held: Sequence[frozenset[str]]) -> str:
    """Return what a sentence says of one source: its parts, and of the others what these take over from them.

    Nothing is returned where a part takes over what the source does not hold.
    """
    said, head = list[str](), parts[0]
    theirs = frozenset().union(*held) - held[place]
    for part in parts:
        is_own = place in part.holders
        has_verb = bool(VERB.search(part.text))
        if part is not head and is_own and place not in head.holders and not (has_verb and part.subject):
            taken = head.subject if has_verb else head.words
            lacking = [word for word in taken if word.kind != "number" and word.key in theirs]
            new = [word for word in part.words if word.kind != "number" and any(word.key not in some for some in held)]
            if (has_verb and lacking) or len(lacking) > len(new) or not (has_verb or part.numbers):
                return ""
            said += [word.text for word in taken if word.key in held[place]]
        if is_own:
            said.append(_CHANGE.sub(" ", part.text).strip(" ,;:–—"))
        if has_verb and part.subject:
            head = part
    return " ".join(" ".join(said).split())


def _grows_as_said(sentence: str, parts: Sequence[_Part]) -> bool:
    """Return whether what is said to rise or to be more does: from 42 to 55, 24 in Kestrel than 18 in Dunmore."""
    is_more, is_less = _MORE.search(sentence), _LESS.search(sentence)
    if bool(is_more) == bool(is_less):
        return True
    given = [part for part in parts if part.numbers]
    before = next((part for part in given if _MINUEND.match(part.text)), None)
    after = next((part for part in given if part is not before), None)
    if not (before and after):
        return True
    first, last = (float(part.numbers[0].key) for part in (before, after))
    return last > first if is_more else last < first


def _follows_versions(parts: Sequence[_Part], passages: Sequence[Passage]) -> bool:
    """Return whether what was stands in an older version of the document that holds what is."""
    titles = [str(passage["metadata"].get("title") or "") for passage in passages]
    given = [part for part in parts if part.numbers and len(part.holders) == 1 and not editions_in(part.text)]
    older, newer = (
        [titles[next(iter(part.holders))] for part in given if bool(_FORMERLY.search(part.text)) == is_old]
        for is_old in (True, False)
    )
    return not any(
        series_of(old) == series_of(new) != "" and version_order(old) > version_order(new)
        for old in older
        for new in newer
    )
