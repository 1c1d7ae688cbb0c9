"""Tell a question about documents as wholes: which there are about a subject, a summary, what changed between two."""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from chains.text.tokens import tokens
from chains.text.words import one_error_away

Form = Literal["list", "summary", "changes"]

_KINDS: Final = (
    r"(?:documents?|docs?|files?|polic(?:y|ies)|guides?|manuals?|handbooks?|procedures?|sources|texts|papers|rules)"
)
_THERE: Final = (
    r"(?:do (?:you|we|u) (?:have|hold)|(?:have|has) (?:you|we|u) got|are there|exist|mentions?|deals? with|covers?)"
)
_PATTERNS: Final[tuple[tuple[Form, str], ...]] = (
    (
        "changes",
        r"\bwhat(?:['\u2019]?s| has| was| is| are the)? (?:the )?(?:changed?|new|changes?|different|differences?)\b"
        r"|\bhow (?:do|does|did) .{3,80}\b(?:differ|change)\b|\bchanges? (?:in|to|of|between|since)\b"
        r"|^\W*compare\b",
    ),
    (
        "summary",
        r"\b(?:summari[sz]e|sum up)\b|\b(?:summary|overview|gist|outline|key points|main points) (?:of|from)\b"
        r"|\btl;? ?dr\b|\bwhat(?:['\u2019]?s| is) .{3,80} about\W*$"
        rf"|\bwhat (?:is|does) .*\b{_KINDS} (?:say|cover)\W*$",
    ),
    (
        "list",
        rf"\b(?:wh?ich|what|list|show|any|all)\b.{{0,20}}\b{_KINDS} "
        rf"(?:(?:are |is )?(?:on|about)|(?:\w+ ){{0,2}}?{_THERE})\b"
        rf"|\b(?:do|have) (?:you|we|u) (?:have |got )?(?:any |an? )?(?:{_KINDS}|(?:any|some)thing) (?:on|about)\b"
        r"|\bis there (?:any|some)thing (?:on|about)\b|\bwhat do (?:you|we|u) (?:know|have) (?:about|on)\b"
        rf"|^\W*(?:list|show)(?: me)? (?:all|every|the|your|our)(?: the)? {_KINDS}\W*$"
        rf"|\b(?:what|which) (?:topics|subjects|{_KINDS}) (?:can|do) (?:you|i|we|u) (?:\w+ )?"
        r"(?:answer|ask|cover|know|have)\b",
    ),
)
_FORMS: Final = [(form, re.compile(pattern, re.IGNORECASE)) for form, pattern in _PATTERNS]
_FORM_WORDS: Final = re.compile(
    rf"\b(?:{_KINDS}|{_THERE}|wh?ich|what|whats|list|show|know|have|got|on|about|changed?|changes|new|news|between|compared?|with|ones?"
    r"|differences?|differs?|different|summari[sz]e|sum|up|summary|overview|gist|outline|points|key|main|tl|dr|give|get"
    r"|please|pls|plz|since|version|current|there|any|some|anything|something|all|every|short|brief|quick|topics|subjects"
    r"|answer|ask|say|in (?:\w+ )?(?:sentences?|words|points|bullets|lines))\b",
    re.IGNORECASE,
)
FEWEST_LETTERS: Final = 5
MOST_HELD: Final = 0.6  # The share of the subject that a title holds at least.


class Overview(NamedTuple):
    """What a question about whole documents asks for, and the words that say which; without words all are meant."""

    form: Form
    subject: frozenset[str]

    def share(self, text: str) -> float:
        """Return the share of the subject that a text holds, 0-1; typing errors of longer words do not count."""
        held = {word.key for word in tokens(text)}
        hits = (key in held or (len(key) >= FEWEST_LETTERS and not _near(key).isdisjoint(held)) for key in self.subject)
        return sum(hits) / len(self.subject) if self.subject else 1.0


@lru_cache(maxsize=256)
def overview_of(question: str, editions: Collection[str] = ()) -> Overview | None:
    """Return what a question asks of whole documents, its `editions` no part of the subject; None for another."""
    form = next((form for form, pattern in _FORMS if pattern.search(question)), None)
    if form is None:
        return None
    for edition in editions:
        question = question.replace(edition, " ")
    return Overview(form, frozenset(word.key for word in tokens(_FORM_WORDS.sub(" ", question)) if word.weight))


_near: Final = lru_cache(maxsize=16)(one_error_away)  # A word is compared with those of all titles.
