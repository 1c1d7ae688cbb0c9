"""Score how well a title or a section, as a model wrote it, fits the name that a passage has.

Four tiers: equal, one contained in the other at word borders, a short form made of the name's own words or initials,
and alike by the Dice coefficient of the character bigrams (Dice 1945; Sørensen 1948).
"""

import html
import re
import unicodedata
from collections import Counter
from functools import lru_cache
from typing import Literal, NamedTuple

from chains.text.words import stem, word_set

DICE_THRESHOLD = 0.5
SHORTEST_CONTAINED = 4
# A tier's floor lies above the ceiling of the next: an exact title always beats a contained one.
CONTAINED_FLOOR, CONTAINED_SPAN = 0.7, 0.25
LEAST_CONTAINED = CONTAINED_FLOOR + 0.4 * CONTAINED_SPAN
SHORT_FORM = 0.67
DICE_SPAN = 0.65
LONGEST_NAME = 40  # Words.
FEWEST_INITIALS = 2

_MARKUP = re.compile(r"\\(?=[\[\]\\*_`>#])|[*_`]{1,3}(?=\w)|(?<=\w)[*_`]{1,3}|[\u00ad\u200b-\u200f\u2060\ufeff]")
_SIGNS = str.maketrans({"–": "-", "—": "-", "‑": "-", "’": "'", "‘": "'", "“": '"', "”": '"', "&": " and "})
_BRACKETS = re.compile(r"[\[\](){}【】〔〕]")
_WORD = re.compile(r"[^\W_]+(?:['.&-][^\W_]+)*")
_SMALL = word_set("a an and at by for from in into of on or the to with")
_HALF = 0.5

Tier = Literal["equal", "holds", "held", "short", "alike"]
"""How a written name fits: it is equal, holds the actual one, is held by it, is a short form of it, or is alike."""


class Fit(NamedTuple):
    """A score from 0 to 1, the tier, and whether the name alone is enough, with no section beside it."""

    score: float
    tier: Tier
    certain: bool


@lru_cache(maxsize=8192)
def normalise(text: str) -> str:
    """Fold case, Unicode forms, entities, dashes, quotes, brackets, white space and markdown marks."""
    folded = _plain(text).translate(_SIGNS).casefold()
    return " ".join(_BRACKETS.sub(" ", folded).split()).strip(" .:;,\"'")


def _plain(text: str) -> str:
    """Return the text without markdown marks and entities, in one Unicode form; its case is kept."""
    return unicodedata.normalize("NFKC", html.unescape(_MARKUP.sub("", text)))


def dice(first: str, second: str) -> float:
    """Return the Dice coefficient of the character bigrams of two strings, 0 to 1; equal strings give 1."""
    if first == second:
        return 1.0 if first else 0.0
    ours, theirs = _bigrams(first), _bigrams(second)
    total = sum(ours.values()) + sum(theirs.values())
    return 2 * sum((ours & theirs).values()) / total if total else 0.0


@lru_cache(maxsize=8192)
def _bigrams(text: str) -> Counter[str]:
    return Counter(text[index : index + 2] for index in range(len(text) - 1))


def similarity(written: str, actual: str) -> float:
    """Return how well the `written` name fits the `actual` one: 1 equal, 0.7-0.95 contained, below that less.

    A short form that says too little to be certain is worth nothing.
    """
    found = fit(written, actual)
    return found.score if found and (found.certain or found.tier != "short") else 0.0


@lru_cache(maxsize=8192)
def fit(written: str, actual: str) -> Fit | None:
    """Return how the `written` name fits the `actual` one; None where it does not."""
    first, second = normalise(written), normalise(actual)
    if not first or not second:
        return None
    if first == second:
        return Fit(1.0, "equal", certain=True)
    share = _share_of_short_form(written, actual)
    # A single word of a title, or its initials, is most likely no citation but a word in brackets.
    certain = share is not None and share >= _HALF and len(first.split()) > 1
    if _contains(first, second) or _contains(second, first):
        shorter, longer = sorted((len(first), len(second)))
        score = CONTAINED_FLOOR + CONTAINED_SPAN * shorter / longer
        return Fit(score, "holds" if len(first) > len(second) else "held", certain or score >= LEAST_CONTAINED)
    if share is not None:
        return Fit(SHORT_FORM, "short", certain)
    coefficient = dice(first, second)
    # "Malaysia Import Rules" and "Indonesia Import Rules" differ by exchanged words.
    ours, theirs = first.split(), second.split()
    alike = coefficient > DICE_THRESHOLD and not (_lacks(ours, theirs) and _lacks(theirs, ours))
    return Fit(DICE_SPAN * coefficient, "alike", certain=True) if alike else None


def _contains(longer: str, shorter: str) -> bool:
    if not SHORTEST_CONTAINED <= len(shorter) < len(longer):
        return False
    return re.search(rf"(?<!\w)(?<!\d\.){re.escape(shorter)}(?!\w)(?!\.\d)", longer) is not None


def _lacks(words: list[str], others: list[str]) -> bool:
    # A number is either the same or another one; only words have typing errors.
    return any(
        word not in others
        if any(map(str.isdigit, word))
        else max((dice(word, other) for other in others), default=0.0) <= DICE_THRESHOLD
        for word in words
    )


def _share_of_short_form(written: str, actual: str) -> float | None:
    """Return the share of a name's words that a short form stands for; None where it is no short form of the name.

    Each word of a short form is a word of the name, or the initials of words side by side in it, in the name's order.
    """
    names, words = _WORD.findall(_plain(actual)), _WORD.findall(_plain(written))
    words = [word for word in words if word.casefold() not in _SMALL]
    at = matched = 0
    if not words or len(names) > LONGEST_NAME or len(words) > len(names):
        return None
    for word in words:
        wanted = stem(word.casefold())
        places = (place for place in range(at, len(names)) if stem(names[place].casefold()) == wanted)
        run = _place_of_initials(word, names, at) or next(((place, place + 1) for place in places), None)
        if run is None:
            return None
        matched += sum(name.casefold() not in _SMALL for name in names[run[0] : run[1]])
        at = run[1]
    return matched / max(1, sum(name.casefold() not in _SMALL for name in names))


def _place_of_initials(word: str, names: list[str], start: int) -> tuple[int, int] | None:
    letters = re.sub(r"[.&]", "", word.removesuffix("s"))
    if len(letters) < FEWEST_INITIALS or not letters.isupper():
        return None
    runs = (
        (first, last) for first in range(start, len(names)) for last in range(first + FEWEST_INITIALS, len(names) + 1)
    )
    for run in runs:
        initials = [(name[0].upper(), name.casefold() in _SMALL) for name in names[slice(*run)]]
        if letters in {"".join(one for one, _ in initials), "".join(one for one, is_small in initials if not is_small)}:
            return run
    return None
