"""Decide by a search whether a short question is a new one, or goes on with the one before it.

Both readings are searched: the question alone, and with what it takes from the conversation. The reading whose first
passage holds more of the question's own words wins. Spelling and spacing do not count: "cutoff" is in "cut-off".
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final

from chains.reformulation.terms import MEASURES, Shape, terms
from chains.state import Passage
from chains.text.words import one_error_away, plain_words, stem

Find = Callable[[str], Sequence[Passage]]
"""Returns the passages for a query, best first."""

# Below this cosine similarity a first passage whose heading has no word of the question is about something else.
NEAR: Final = 0.3
# A whole question is new where the passages of the other reading are so much further from its own words.
MARGIN: Final = 0.15
# What stands above a passage, in its metadata.
HEADINGS: Final = ("title", "section", "section_path", "jurisdiction")
# Shorter words begin too many others, and are one letter away from too many.
LONG: Final = 4


def stands_alone(question: str, leaned: str, find: Find, *, whole: bool) -> bool:
    """Return whether the documents answer the question alone, and not what it becomes in the conversation.

    Args:
        question: The user's words.
        leaned: The question with what it takes from the turns before.
        find: Searches for a query.
        whole: Whether it has a verb or an interrogative of its own.
    """
    own = _words(question)
    alone = find(question)
    if not own or not alone:
        return False
    is_headed = _missing(own, {**alone[0], "content": ""}, headings=("section",)) < len(own)
    if _score(alone[0]) < NEAR and not is_headed:
        return False
    missing, together = _missing(own, alone[0]), next(iter(find(leaned)), None)
    if together is None or 2 * missing > len(own):
        return together is None
    if whole:
        scores = (_score(one) for one in alone if one["content"] == together["content"])
        is_further = _score(alone[0]) - next(scores, 0.0) >= MARGIN
        return not missing and len(own) > 1 and (is_further or _lacks_rest(leaned, own, together))
    difference = _missing(own, together) - missing
    return difference > 0 or (not difference and _lacks_rest(leaned, own, together))


def _lacks_rest(leaned: str, own: set[str], passage: Passage) -> bool:
    """Return whether a passage lacks half of the names, or else of the words, that the question took over."""
    carried = _words(leaned, "acronym", "name") - own or _words(leaned) - own
    return 2 * _missing(carried, passage) >= len(carried)


def _score(passage: Passage) -> float:
    return passage["score"] or 0.0


def _words(text: str, *shapes: Shape) -> set[str]:
    told = (term for term in terms(text) if not term.light and (not shapes or term.shape in shapes))
    return {term.text.lower() for term in told} - MEASURES


def _missing(words: set[str], passage: Passage, headings: Sequence[str] = HEADINGS) -> int:
    """Return how many of the words the passage and the headings above it lack."""
    held = plain_words(" ".join([*(str(passage["metadata"].get(name, "")) for name in headings), passage["content"]]))
    known = {*held, *map(stem, held), *("".join(pair) for pair in pairwise(held))}
    return sum(not _is_held("".join(plain_words(word)), known) for word in words)


def _is_held(word: str, known: set[str]) -> bool:
    if word in known or stem(word) in known:
        return True
    return len(word) >= LONG and (any(one.startswith(word) for one in known) or bool(one_error_away(word) & known))
