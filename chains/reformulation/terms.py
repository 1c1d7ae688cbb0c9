"""The words that say what a question is about, and those that are small talk."""

import re
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from chains.text.tokens import tokens
from chains.text.words import STOP_WORDS, plain_words, word_set

GRAMMAR: Final = STOP_WORDS | word_set(  # Words that name no subject.
    "actually again back either else hm hmm instead like mean meant ok okay other others please rather same sorry such "
    "there wait yes"
)
PREPOSITIONS: Final = word_set("above at below by for from in into of on over through to under via with within")

SMALL_TALK_SIGNS: Final = {
    "small_talk_person": word_set("colleague human manager person someone supervisor"),
    "small_talk_complaint": word_set(
        "annoying awful crap dumb frustrating garbage horrible idiot nonsense pathetic ridiculous rubbish stupid "
        "terrible unhelpful useless worst wrong wtf"
    ),
    "small_talk_thanks": word_set(
        "thanks thank thx ty tks cheers great nice perfect super excellent wonderful cool awesome brilliant lovely bye "
        "goodbye impressive kasih makasih danke dankeschön dank prima tschüss wiedersehen"
    ),
    "small_talk": word_set(
        "hello eh hi hey understood noted alright okay ok welcome good got fine halo hai selamat baik sip oke hallo "
        "guten moin"
    ),
}
"""By the name of the text that answers it, the words of which small talk has one; the first kind counts."""

# English, Indonesian, German.
_SMALL_TALK: Final = frozenset().union(*SMALL_TALK_SIGNS.values()) | word_set(
    "a again all an and anyone answer answers appreciated are bad boss bot bro can clear complete completely connect "
    "could day dear do doing evening fast for have help helped helpful helps how i info information is it job just "
    "later let like lot madam many me morning much my need night now of please quick quickly real really right s see "
    "sir so speak sure talk team that the there this to today too us useful very want was well with work would yep yes "
    "you your atas bantuannya banyak jumpa malam pagi sampai siang sore terima untuk abend auf bis bald besten das für "
    "gut herzlichen hilfe ihre ihnen ja klar mein morgen nochmals sehr tag viele vielen war"
)
_PART_END: Final = re.compile(r"(?<=[.!?])\s+|,\s+")
_PRAISE: Final = re.compile(  # What is said behind thanks: "you were quick".
    r"(?:you (?:did|helped|saved|solved|were)|you(?:['’]re| are) (?:an?|so|the|very)"
    r"|(?:it|that|this)(?:['’]s| (?:did|helped|is|solved|was)))\b"
    r"(?!.*\b(?:about|by|for|from|how|in|to|wh\w+|with)\b)[^?]{0,40}",
    re.IGNORECASE,
)
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
        if is_acronym or (token.kind != "stop" and token.text.lower() not in GRAMMAR):
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
