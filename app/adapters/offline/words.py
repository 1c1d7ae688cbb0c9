"""Text in, comparable terms out: stems, with the names of one thing folded into one term."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from threading import Lock

import snowballstemmer

from app.adapters.offline.vocabulary import SAME_THING, STOP_WORDS

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+")
_STEMMER = snowballstemmer.stemmer("english")
_ONE_AT_A_TIME = Lock()
_LONGEST_NAME = 6


@lru_cache(maxsize=1 << 15)
def stem(word: str) -> str:
    """Return the stem of a lower-case word, with the ends of nouns made from verbs taken off as well."""
    with _ONE_AT_A_TIME:  # The stemmer keeps the word it works on in itself.
        root = str(_STEMMER.stemWord(word[:40]))
    for ending in ("ment", "ic", "i"):
        if word.endswith("i"):
            break
        if root.endswith(ending) and len(root) - len(ending) > 2:  # noqa: PLR2004 - a root keeps three letters
            return root.removesuffix(ending)
    return root


def tokens(text: str) -> list[str]:
    """Split into words and numbers; case is kept, letters and digits never share a token."""
    return _TOKEN.findall(text)


def _one_term(token: str) -> str | None:
    """Return a token's term; a stop word in capitals is a name (the carrier ONE) and stays as it is."""
    lower = token.lower()
    if lower not in STOP_WORDS:
        return stem(lower)
    return token if len(token) > 1 and token.isupper() else None


def _fold(names: str) -> tuple[str, list[tuple[str, ...]]]:
    spelled = [tuple(stem(token.lower()) for token in tokens(name)) for name in names.split("|")]
    return "~" + "_".join(spelled[0]), spelled


@lru_cache(maxsize=1)
def _concepts() -> dict[str, dict[tuple[str, ...], str]]:
    """Return concept terms by the stems that spell them, grouped by the first stem."""
    table: dict[str, dict[tuple[str, ...], str]] = {}
    for line in SAME_THING.strip().splitlines():
        concept, spellings = _fold(line)
        for spelling in spellings:
            table.setdefault(spelling[0], {})[spelling] = concept
    return table


def _concept_at(stems: Sequence[str], start: int) -> tuple[str, int]:
    """Return the concept spelled from `start` on and its length in words; the longest wins, "" and 1 if none."""
    spellings = _concepts().get(stems[start], {})
    for length in range(_LONGEST_NAME if spellings else 0, 0, -1):
        concept = spellings.get(tuple(stems[start : start + length]))
        if concept:
            return concept, length
    return "", 1


def folded(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield (term, first word) in order, concepts in place of the words that spell them, stop words left out."""
    stems = [stem(word.lower()) for word in words]
    index = 0
    while index < len(stems):
        concept, length = _concept_at(stems, index)
        term = concept or _one_term(words[index])
        if term:
            yield term, words[index]
        if concept == "~electron_bill_of_lade":
            yield "~bill_of_lade", words[index]
        index += length


@lru_cache(maxsize=1 << 12)
def terms(text: str) -> frozenset[str]:
    """Return every term of a text: concepts, and the single words that spell them too."""
    words = tokens(text)
    found = {term for word in set(words) if (term := _one_term(word))}
    found.update(term for term, _ in folded(words))
    return frozenset(found)
