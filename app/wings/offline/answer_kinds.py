"""Tell whether a statement holds the kind of answer that a question asks for."""

import re
from collections.abc import Collection, Mapping
from typing import Final

from app.wings.offline.question import Kind

_MONTH: Final = "January|February|March|April|May|June|July|August|September|October|November|December"
_HOLDS: Final[Mapping[Kind, re.Pattern[str]]] = {
    "number": re.compile(
        r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|half|none|zero|hundred|thousand|million)\b", re.I
    ),
    "date": re.compile(
        r"\b1\d\d\d\b|\b20\d\d\b|\b\d{1,2}:\d\d\b|\b(?:minute|hour|day|week|month|year|decade|centur)(?:s|y|ies)?\b"
        rf"|\b(?:{_MONTH})\b|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|\b(?:daily|weekly|monthly|annual(?:ly)?)\b"
    ),
    "who": re.compile(r"(?<=[a-z0-9,;:)] )[A-Z][a-z]+|\b[A-Z][\w.]+ [A-Z]"),
    "where": re.compile(r"\b(?:in|at|on|near|from|to|of) (?:the )?[A-Z]|\b(?:north|south|east|west)\w*\b"),
}
LISTED: Final[frozenset[Kind]] = frozenset({"list", "manner"})
"""The kinds of answer that are often lists."""

VERDICT: Final = re.compile(r"(?:yes|no)\b", re.IGNORECASE)
COMPANY: Final = re.compile(r"\b(?:we|our|ours|us)\b", re.IGNORECASE)
"""What speaks in the company's own voice."""
GLOSSARY: Final = re.compile(r"glossary|abbreviation|acronym|short form|key terms|definitions", re.IGNORECASE)
CURRENT: Final = re.compile(r"\b(?:current|currently|prevailing|since|in force|now|effective|as of)\b", re.IGNORECASE)
"""What speaks of today."""

_DEFINES: Final = re.compile(
    r"\s(?:is|are|was|were) (?:an?|the|one|when|where)\b|\b(?:refers? to|means?|stands? for|is defined)\b"
    r"|: | \u2014 | - "
)
_OPENING: Final = 80


def fits(text: str, wanted: Collection[Kind], *, listed: bool) -> float:
    """Return 1 where a statement is of a kind that is asked for, -1 where it would have to be and is not, else 0."""
    strict = [pattern for kind, pattern in _HOLDS.items() if kind in wanted]
    if ("verdict" in wanted and VERDICT.match(text)) or (listed and LISTED & set(wanted)):
        return 1.0
    return (1.0 if any(pattern.search(text) for pattern in strict) else -1.0) if strict else 0.0


def subject(text: str) -> str:
    """Return what stands before the words that define, in the opening of a statement; nothing without such words."""
    found = _DEFINES.search(text[:_OPENING])
    return text[: found.start()] if found else ""
