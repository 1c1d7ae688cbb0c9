"""A title and a section as a model wrote them -> how well a passage fits, from 0 to 1.

Three tiers, as in the pilot: equal, one contained in the other at word borders, alike by the Dice coefficient of
their character bigrams (Dice 1945; Sørensen 1948).
"""

import re
import unicodedata
from collections import Counter
from functools import lru_cache

DICE_THRESHOLD = 0.5
SHORTEST_CONTAINED = 4
# A tier's floor lies above the ceiling of the next: an exact title always beats a contained one.
CONTAINED_FLOOR, CONTAINED_SPAN = 0.7, 0.25
_DICE_SPAN = 0.65

_MARKUP = re.compile(r"\\(?=[\[\]\\*_`>#])|[*_`]{1,3}(?=\w)|(?<=\w)[*_`]{1,3}")
_DASHES = str.maketrans({"–": "-", "—": "-", "‑": "-", "’": "'", "‘": "'", "“": '"', "”": '"'})


@lru_cache(maxsize=8192)
def normalise(text: str) -> str:
    """Fold case, Unicode forms, dashes, quotes, white space and markdown marks."""
    folded = unicodedata.normalize("NFKC", _MARKUP.sub("", text)).translate(_DASHES).casefold()
    return " ".join(folded.split()).strip(" .:;,\"'")


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


@lru_cache(maxsize=8192)
def likeness(written: str, actual: str) -> float:
    """Return how well the `written` name fits the `actual` one: 1 equal, 0.7-0.95 contained, 0.33-0.65 alike, 0 not."""
    first, second = normalise(written), normalise(actual)
    if not first or not second:
        return 0.0
    if first == second:
        return 1.0
    if _contained(first, second):
        shorter, longer = sorted((len(first), len(second)))
        return CONTAINED_FLOOR + CONTAINED_SPAN * shorter / longer
    coefficient = dice(first, second)
    alike = coefficient > DICE_THRESHOLD and not _exchanges_a_word(first, second)
    return _DICE_SPAN * coefficient if alike else 0.0


def _exchanges_a_word(first: str, second: str) -> bool:
    """Return whether one name has a word in the place of another: "Malaysia Import Rules", "Indonesia Import Rules"."""
    ours, theirs = first.split(), second.split()
    return _lacks(ours, theirs) and _lacks(theirs, ours)


def _lacks(words: list[str], others: list[str]) -> bool:
    return any(max((dice(word, other) for other in others), default=0.0) <= DICE_THRESHOLD for word in words)


def _contained(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    if len(shorter) < SHORTEST_CONTAINED:
        return False
    return re.search(rf"(?<!\w){re.escape(shorter)}(?!\w)", longer) is not None
