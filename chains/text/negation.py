"""Tell what a text denies: the one list of negations, the word that each denies, and where it denies none."""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from chains.text.tokens import Token, tokens
from chains.text.words import LISTS, word_set

NEGATION: Final = re.compile(LISTS["negation"], re.IGNORECASE)
REACH: Final = 4  # Words after a negation that may hold what it denies, and words before it that may open a condition.
# A limit denies nothing: "not more than 5 days", "not only", "no later than", "not until".
_LIMITS: Final = word_set("more less fewer later earlier sooner than only just until unless before after yet")
_CONDITIONS: Final = word_set("if when where whether unless until")
_ARTICLE: Final = r"(?:(?:an?|any|my|our|the|your) )?"
_WITHOUT, _WITH = (
    re.compile(rf"\b(?:{form}) {_ARTICLE}([\w-]+)", re.I) for form in ("without", "by|for|in|on|to|with")
)
_NEEDED: Final = re.compile(r"\b(?:must|need\w*|only|requir\w+)\b", re.I)
_BY_US: Final = re.compile(  # "If we have to cancel", "if your instructor is ill".
    rf"\b(?:if|should|when|where) (?:(we)|(?:our|your) ({'|'.join(LISTS['roles'].split())}))((?: [\w-]+){{1,4}})", re.I
)
_YOU: Final = re.compile(r"\b(?:you|your|u)\b", re.I)
SHORTEST: Final = 4  # Letters of a word that may have an opposite in "un".


@lru_cache(maxsize=1 << 14)
def negates(text: str) -> bool:
    return NEGATION.search(text) is not None


def denied(words: Sequence[Token]) -> set[str]:
    """Return the words that a negation before them denies, outside conditions."""
    keys = set()
    for place, negation in enumerate(words):
        before = words[max(0, place - REACH) : place]
        if not negates(negation.text) or any(word.text.lower() in _CONDITIONS for word in before):
            continue
        behind = words[place + 1 : place + 1 + REACH]
        if behind and negation.key == "no" and behind[0].start == negation.end + len(", "):
            continue  # "No, it is": the whole answer.
        said = (word for word in behind if word.text.lower() in _LIMITS or (word.weight > 0 and word.key != "longer"))
        word = next(said, None)  # "no longer" denies what follows it.
        if word and word.text.lower() not in _LIMITS:
            keys.add(word.key)
    return keys


def opposes(text: str, question: str) -> bool:
    """Return whether a text is of the opposite case: "with" for "without", "unopened" for "opened", "if we cancel"."""
    asked, said = content(question), content(text)
    parts = ((_WITHOUT, question), (_WITH, question), (_WITHOUT, text))
    lacked, given, lacking = (content(" ".join(form.findall(words))) for form, words in parts)
    opposites = {key[2:] if key.startswith("un") else f"un{key}" for key in asked - said if len(key) >= SHORTEST}
    if opposites & said and not _NEEDED.search(question):
        return True
    if (lacking & given - lacked if lacking else lacked & said) and not _NEEDED.search(text):
        return not negates(_WITHOUT.sub("", text))
    return any(
        asked & content(event) and not (_YOU.search(question) if we else asked & content(role))
        for we, role, event in _BY_US.findall(text)
    )


def content(text: str) -> set[str]:
    """Return the words of a text that carry something; "non-members" are written as one."""
    words = tokens(text)
    pairs = zip(["", *(word.key for word in words)], words, strict=False)
    return {f"un{word.key}" if last == "non" else word.key for last, word in pairs if word.weight}
