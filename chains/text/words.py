"""Words: their stems, those that carry no meaning of their own, and figures in one written form."""

import re
from functools import lru_cache
from string import ascii_lowercase
from threading import Lock
from typing import Final

import snowballstemmer

from chains.text.pattern_file import read_patterns


def word_list(words: str) -> list[str]:
    return words.split()


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that lists them, without their order."""
    return frozenset(words.split())


LISTS: Final = dict(read_patterns(__package__, "words.txt")[1])
STOP_WORDS: Final = word_set(LISTS["grammar"])
"""Words of grammar. A word in capitals that is one of these may still be a name."""

_IRREGULAR: Final = {form: word for word, form in (pair.split(":") for pair in LISTS["irregular"].split())}
_APART: Final = word_set(LISTS["apart"])
_PLAIN: Final = re.compile(r"[^\W_]+")
LONGEST_WORD: Final = 40
_STEMMER: Final = snowballstemmer.stemmer("english")
_ONE_AT_A_TIME: Final = Lock()


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """Return the Snowball (Porter2) stem of a lower-case word; of an irregular form that of its first form.

    A word whose stem means something else is its own.
    """
    word = _IRREGULAR.get(word, word)
    if word in _APART:
        return word
    with _ONE_AT_A_TIME:  # The stemmer keeps the word it works on in itself.
        return str(_STEMMER.stemWord(word[:LONGEST_WORD]))


def plain_words(text: str) -> list[str]:
    """Return the runs of letters and digits of a text, in lower case, in order."""
    return _PLAIN.findall(text.lower())


def one_error_away(word: str) -> set[str]:
    """Return what differs from the word by one letter that is missing, added, replaced or swapped with the next."""
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    return {
        *(left + right[1:] for left, right in splits if right),
        *(left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1),
        *(left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase),
        *(left + letter + right for left, right in splits for letter in ascii_lowercase),
    }


_THOUSANDS: Final = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?![\d,])")
_FISCAL_YEAR: Final = re.compile(r"\bFY\s?['’]?(?:20)?(\d\d)\b", re.IGNORECASE)
_QUARTER: Final = re.compile(r"\b(?:Q([1-4])|([1-4])Q)[\s-]?(?:FY)?['’]?(?:20)?(\d\d)\b", re.IGNORECASE)


def searchable(text: str) -> str:
    """Return the text with `1,577` as `1577`, `FY22` and `FY2022` as `FY 2022`, and `2Q22` as `Q2 2022`."""
    text = _QUARTER.sub(lambda found: f"Q{found[1] or found[2]} 20{found[3]}", text)
    text = _FISCAL_YEAR.sub(r"FY 20\1", text)
    return _THOUSANDS.sub(lambda found: found[0].replace(",", ""), text)
