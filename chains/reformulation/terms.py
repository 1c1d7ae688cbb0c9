"""The words that say what a question is about, and those that are small talk."""

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from chains.text.pattern_file import read_patterns
from chains.text.tokens import tokens
from chains.text.words import plain_words, word_set

WORDS: Final = dict(read_patterns(__package__, "words.txt")[1])
NAMELESS: Final = word_set(WORDS["nameless"])
PREPOSITIONS: Final = word_set("above at below by for from in into of on over through to under via with within")

SMALL_TALK_SIGNS: Final = {
    name: word_set(WORDS[name])
    for name in ("small_talk_person", "small_talk_complaint", "small_talk_thanks", "small_talk")
}
"""By the name of the text that answers it, the words of which small talk has one; the first kind counts."""

_SMALL_TALK: Final = frozenset().union(*SMALL_TALK_SIGNS.values(), word_set(WORDS["small_talk_words"]))
_PART_END: Final = re.compile(r"(?<=[.!?])\s+|,\s+")
_PRAISE: Final = re.compile(WORDS["praise"], re.IGNORECASE)
_PARTICLE: Final = re.compile(r"[\s,]+(?:ah|hor|lah|leh|lor|mah|meh|sia)(?=\W*$)", re.IGNORECASE)


def is_small_talk(text: str) -> bool:
    """Return whether a text only thanks, greets, agrees, complains or takes leave."""
    return small_talk(text) is not None


def small_talk(text: str) -> str | None:
    """Return the name of the text that answers small talk; None for what is more."""
    if (rest := without_small_talk(text)) != text and _PRAISE.fullmatch(rest):
        return small_talk(text[: text.rindex(rest)])
    words = set(plain_words(text))
    kinds = (kind for kind, signs in SMALL_TALK_SIGNS.items() if signs & words)
    kind = next(kinds, "small_talk" if words >= {"how", "are", "you"} else None)
    asks = "?" in text and kind == "small_talk_complaint"  # "Is that wrong?"
    return kind if words <= _SMALL_TALK and not asks else None


def without_small_talk(text: str) -> str:
    """Return the text without the thanks or the greeting that it begins with, and the particle that it ends with.

    All of it where there is no more.
    """
    text = _PARTICLE.sub("", text)
    for end in _PART_END.finditer(text):
        if is_small_talk(text[: end.start()]) and plain_words(text[end.end() :]):
            return text[end.end() :]
    return text


Shape = Literal["number", "acronym", "name", "word"]

MOST_BEFORE: Final = 50  # So near is a preposition; a search of all before would take seconds in a long text.
_BEFORE: Final = re.compile(r"(?<![^\W_])([^\W_]+)\s+(?:(?:the|a|an)\s+)?\Z", re.IGNORECASE)
# A word with what hangs together with it: K1, door-to-door, e-mail.
_WHOLE: Final = re.compile(r"[^\W_]+(?:[.'’&/-][^\W_]+)*")


class Term(NamedTuple):
    """A word that names something: its comparable form, how it is written, and where (`text[start:end]`).

    `light` words (give, number, day) name little. `preposition` is the one before it, or "".
    """

    key: str
    text: str
    start: int
    end: int
    shape: Shape
    light: bool
    preposition: str


@lru_cache(maxsize=1024)
def terms(text: str) -> tuple[Term, ...]:
    """Return the terms of a text in their order, each once."""
    found: dict[str, Term] = {}
    whole = {place: match for match in _WHOLE.finditer(text) for place in range(match.start(), match.end())}
    for token in tokens(text):
        is_acronym = token.text.isupper() and token.text not in {"A", "I"}
        if is_acronym or (token.kind != "stop" and token.text.lower() not in NAMELESS):
            match = whole.get(token.start)
            written = match.group() if match else token.text
            before = _BEFORE.search(text, max(0, token.start - MOST_BEFORE), token.start)
            preposition = before[1].lower() if before and before[1].lower() in PREPOSITIONS else ""
            shape: Shape = "name" if token.kind == "name" else "word"
            if token.kind == "number" or token.text.isupper():
                shape = "number" if token.kind == "number" else "acronym"
            term = Term(token.key, written, token.start, token.end, shape, token.kind == "light", preposition)
            found.setdefault(term.key, term)
    return tuple(found.values())
