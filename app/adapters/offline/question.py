"""A question in, what it asks for out: weighted terms, names that must be met, and its form."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.adapters.offline.vocabulary import (
    CURRENT_WORDS,
    FORM_WORDS,
    LIVE_WORDS,
    NOT_NAMES,
    OWN_THINGS,
    REQUEST_VERBS,
    SOFT_WORDS,
)
from app.adapters.offline.words import folded, stem, terms, tokens

SOFT, NUMBER, PLAIN, HARD = 0.35, 0.6, 1.0, 1.5

_SOFT_STEMS = frozenset(stem(word) for word in SOFT_WORDS) | {"~requir"}
_YEAR = re.compile(r"(?:19|20)\d\d$")
_MANNERS = frozenset(
    ["please", "kindly", "hi", "hello", "hey", "now", "then", "so", "just", "can", "could", "would", "will", "you"]
)
_MOSTLY, _LONG = 0.6, 6


@dataclass(frozen=True, slots=True)
class Question:
    """What a question asks for.

    `weights` are by term; evidence must hold every one of `names`, but of `alternatives` (the two ends of a route,
    the sides of a comparison) each statement only one.
    """

    text: str
    weights: dict[str, float]
    names: frozenset[str]
    alternatives: frozenset[str]
    live: frozenset[str]
    asks_list: bool
    compares: bool
    asks_meaning: bool
    asks_amount: bool
    asks_us: bool
    unanswerable: bool


def _starts(words: Sequence[str], *openings: str) -> bool:
    return any(list(words[: len(opening)]) == opening for opening in (text.split() for text in openings))


def _is_request(words: Sequence[str]) -> bool:
    """Tell an order ("book a shipment for me") from a question; `how do I book` is a question."""
    start = next((i for i, word in enumerate(words) if word not in _MANNERS), len(words))
    polite = _starts(words, "can you", "could you", "would you", "will you", "please") or start == 0
    verb = words[start] if start < len(words) else ""
    wish = _starts(words, "i want to", "i would like to", "i d like to", "i need to", "i want you to", "help me")
    if wish and not {"how", "what", "which", "where"}.intersection(words):
        return bool(REQUEST_VERBS.intersection(words[2:6]))
    ours = {"me", "my", "us", "our"}.intersection(words[start + 1 :])
    return polite and verb in REQUEST_VERBS and (start == 0 or bool(ours))


def _is_about_own_thing(words: Sequence[str]) -> bool:
    """Tell whether the question asks for the state of something that only the asker has."""
    mine = any(
        owner in {"my", "our"} and OWN_THINGS.intersection(words[i + 1 : i + 4]) for i, owner in enumerate(words)
    )
    opens = _starts(
        words, "where", "has my", "have my", "did my", "is my", "are my", "when will my", "when is my", "why is my"
    )
    return mine and (opens or "status" in words[:5])


def _title_case(words: Sequence[str]) -> bool:
    """Tell whether capitals say nothing here: all letters are, or most words of a longer question begin with one."""
    capitals = sum(word[0].isupper() for word in words)
    return all(word.isupper() for word in words) or (len(words) >= _LONG and capitals > _MOSTLY * len(words))


def _names(pairs: Iterable[tuple[str, str]], first: str, *, trust_capitals: bool) -> frozenset[str]:
    """Return the terms that name one thing: concepts in capitals, proper nouns, years."""
    return frozenset(
        term
        for term, word in pairs
        if word.lower() not in NOT_NAMES
        if _YEAR.match(word)
        or "_" in term
        or (trust_capitals and word[0].isupper() and (word != first or word.isupper()))
    )


def _route(words: Sequence[str], names: frozenset[str]) -> frozenset[str]:
    """Return the names on both sides of a "to" ("Singapore to Indonesia"), if there are two."""
    at = {position for position, word in enumerate(words) if word.lower() in {"to", "into", "from"}}
    ends = {
        term for i in at for side in (words[max(0, i - 1) : i], words[i + 1 : i + 2]) for term in terms(" ".join(side))
    }
    found = names & ends
    return found if len(found) > 1 else frozenset()


def _weight(term: str, names: frozenset[str], seen: int) -> float:
    base = HARD if term in names else SOFT if term in _SOFT_STEMS else NUMBER if term[0].isdigit() else PLAIN
    return base * (1.2 if seen == 0 and base >= PLAIN else 1.0)


def read(text: str) -> Question:
    """Read a question; capitals count as names unless the whole question is written in them."""
    words = tokens(text)
    lower = [word.lower() for word in words]
    trust = not _title_case(words)
    pairs = list(folded(words if trust else lower))
    names = _names(pairs, words[0] if words else "", trust_capitals=trust)
    compares = bool(FORM_WORDS["comparison"].intersection(lower))
    kept = [term for term, word in pairs if word.lower() not in FORM_WORDS["comparison"] | FORM_WORDS["definition"]]
    live = frozenset(stem(word) for word in lower if word in LIVE_WORDS or word == "current")
    return Question(
        text=text,
        weights={term: _weight(term, names, kept.index(term)) for term in kept},
        names=names,
        alternatives=names if compares else _route(words, names),
        live=live,
        asks_list=bool(FORM_WORDS["list"].intersection(lower)),
        compares=compares,
        asks_meaning=bool(FORM_WORDS["definition"].intersection(lower))
        or _starts(lower, "what is", "what s", "what are"),
        asks_amount=bool(FORM_WORDS["amount"].intersection(lower)),
        asks_us=_starts(lower, "do you", "can you", "are you", "will you", "could you", "do we", "can we"),
        unanswerable=_is_request(lower) or _is_about_own_thing(lower),
    )


def says_current(statement: str) -> bool:
    """Tell whether a statement itself says since when, or that, it holds now."""
    return not CURRENT_WORDS.isdisjoint(token.lower() for token in tokens(statement))
