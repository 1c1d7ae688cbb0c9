"""Questions in the words of the documents: typing errors put right, and formal words for everyday ones."""

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from itertools import chain, combinations, islice
from typing import Final

from chains.text.words import stem

MOST_CORRECTED, MOST_PHRASES = 5, 10  # Of one question: each look-up takes some milliseconds.
SHORTEST_CORRECTED: Final = 4  # Shorter words have too many neighbours to tell a typing error from another word.
SHORTEST_APART: Final = 3  # "cut" and "off" are words, shorter parts as "on" and "e" rarely are.
Counts = Callable[[Sequence[str]], Mapping[str, int]]
"""How often the documents hold each word or phrase."""

_LETTERS: Final = re.compile(r"\b[^\W\d_]+\b")  # No part of a code.
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_LONGEST, _REACH = 3, 4  # Words of a phrase, and words that it may stand among: "call it off".
_LINES: Final = files(__package__).joinpath("everyday.txt").read_text("utf-8").splitlines()[1:]
_FORMAL: Final = {  # By the stems of its words, each phrase and what it is formally.
    tuple(map(stem, phrase.split())): (phrase, formal.split(", ")) for phrase, formal in (x.split(": ") for x in _LINES)
}


def corrected(
    question: str, counts: Counts, is_word: Callable[[str], bool], neighbour: Callable[[str], str | None]
) -> str:
    """Return the question with words that the documents hold, in place of everyday and mistyped ones that they do not.

    Such a word is two where the documents hold those side by side: "cutoff" is "cut off". Else one that `is_word` knows
    stays as it is, and of others that are no abbreviation `neighbour` tells what is meant.
    """
    question = _in_formal_words(question, counts)
    words = [word for word in dict.fromkeys(_LETTERS.findall(question)) if len(word) >= SHORTEST_CORRECTED]
    counted = counts([word.lower() for word in words])
    unknown = [word for word in words if not (word.isupper() or counted[word.lower()])]
    meant: dict[str, str | None] = {}
    for word in unknown[:MOST_CORRECTED]:
        ends = range(SHORTEST_APART, len(word) - SHORTEST_APART + 1)
        pairs = counts([f"{word[:end]} {word[end:]}".lower() for end in ends])
        meant[word] = next((pair for pair, count in pairs.items() if count), None)
    mistyped = (word for word in unknown if not (meant.get(word) or is_word(word.lower())))
    meant |= {word: neighbour(word.lower()) for word in islice(mistyped, MOST_CORRECTED)}
    return _LETTERS.sub(lambda word: meant.get(word[0]) or word[0], question)


def _in_formal_words(question: str, counts: Counts) -> str:
    stems = [stem(re.sub(r"['\u2019]", "", word.lower())) for word in _WORD.findall(question)]
    among = (range(start, min(start + _REACH, len(stems))) for start in range(len(stems)))
    matches = (
        (places, *_FORMAL[key])
        for some in among
        for length in range(_LONGEST, 0, -1)
        for places in combinations(some, length)
        if places[0] == some[0] and (key := tuple(stems[place] for place in places)) in _FORMAL
    )
    if not (phrases := list(islice(matches, MOST_PHRASES))):
        return question
    counted = counts(list(dict.fromkeys(chain.from_iterable([phrase, *formal] for _, phrase, formal in phrases))))
    words: dict[int, str] = {}
    for places, phrase, formal in phrases:
        written = next((word for word in formal if counted[word]), "")
        if written and not counted[phrase] and words.keys().isdisjoint(places):
            words |= dict.fromkeys(places, "") | {places[0]: written}
    numbers = iter(range(len(stems)))
    text = _WORD.sub(lambda word: words.get(next(numbers), word[0]), question)
    return re.sub(r" +(?=[ ?!.,]|$)", "", text) if words else question
