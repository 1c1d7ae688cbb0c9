"""The words of a question that an index is searched by: with those near to its typing errors, rarest first."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from cachetools import LRUCache

from chains.text.words import one_error_away, plain_words, searchable, stem, word_set

# Fewer than `chains.text.words.STOP_WORDS`, because words like "after" and "between" help to find a passage.
STOP_WORDS = word_set("""
    a about am an and any are as at be been but by can could did do does for from had has have he her him his how i
    if in into is it its may me might must my no not of on or our out over per shall she should so such than that
    the their them then there these they this those to under up us was we were what when where which who whom why
    will with would you your
    """)
# Shorter stems have too many neighbours to tell a typing error from another word.
SHORTEST_CORRECTED = 5
# A look-up takes some milliseconds, so that only the first unknown words of a question are corrected.
MOST_CORRECTED = 5


class Vocabulary(Protocol):
    """What an index knows of its words."""

    def frequencies(self, words: Sequence[str]) -> Mapping[str, int]:
        """Return the number of chunks that hold each word; 0 for one that none does."""

    def nearest(self, unknown: str) -> str | None:
        """Return the stem one typing error away that most chunks hold, of several the first by letters, or None."""


class Chosen(NamedTuple):
    """What a question is searched by, rarest first: its words, and the known stems near to its unknown words."""

    words: list[str]
    near: list[str]


def choose(question: str, vocabulary: Vocabulary, *, budget: int) -> Chosen:
    """Return the words to search by, so that about `budget` rows match at most.

    The rarest word that is known is always among them.
    """
    words = words_of(question)
    frequencies = dict(vocabulary.frequencies(words))
    asked = {*words, *map(stem, words)}
    known = [_nearest(word, vocabulary) for word in _unknown(words, frequencies)]
    near = [word for word in dict.fromkeys(known) if word and word not in asked]
    frequencies |= vocabulary.frequencies(near)
    affordable = _affordable([*words, *near], frequencies, budget)
    return Chosen([word for word in affordable if word in words], [word for word in affordable if word not in words])


def words_of(question: str) -> list[str]:
    """Return the distinct words that are not stop words, or all words if there are no others."""
    words = list(dict.fromkeys(plain_words(searchable(question))))
    return [word for word in words if word not in STOP_WORDS] or words


def _unknown(words: Sequence[str], frequencies: Mapping[str, int]) -> list[str]:
    """Return the first few words that the index does not hold."""
    return [word for word in words if word.isalpha() and not frequencies[word]][:MOST_CORRECTED]


def _nearest(word: str, vocabulary: Vocabulary) -> str | None:
    """Return the most frequent known stem that is one typing error away."""
    unknown = stem(word)
    return vocabulary.nearest(unknown) if len(unknown) >= SHORTEST_CORRECTED else None


def _affordable(words: Sequence[str], frequencies: Mapping[str, int], budget: int) -> list[str]:
    """Return the words, rarest first, within the budget; the rarest that the index holds is always included."""
    chosen: list[str] = []
    spent = 0
    for frequency, word in sorted((frequencies[word], word) for word in words):
        if not spent or spent + frequency <= budget:
            chosen.append(word)
            spent += frequency
    return chosen


NEAREST = "SELECT term FROM {}_terms WHERE term IN (SELECT value FROM json_each(?)) ORDER BY doc DESC, term LIMIT 1"
FREQUENCY = "SELECT count(*) FROM {0} WHERE {0} MATCH ?"
# Words that a thread remembers: a question may hold any.
MOST_REMEMBERED = 10_000


class FtsVocabulary:
    """The words in a table, as one thread's connection has read them."""

    def __init__(self, table: str) -> None:
        self.table = table
        self._frequencies: LRUCache[str, int] = LRUCache(MOST_REMEMBERED)  # The number of chunks of a word.
        # By the unknown word: its hundreds of neighbours as a key would take 40 kB for each.
        self._nearest: LRUCache[str, str | None] = LRUCache(MOST_REMEMBERED)
        self._version = -1
        self._connection: sqlite3.Connection

    def over(self, connection: sqlite3.Connection) -> "FtsVocabulary":
        """Return itself, asking this connection; what another connection has changed meanwhile is forgotten."""
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:
            self.forget()
            self._version = version
        self._connection = connection
        return self

    def forget(self) -> None:
        """Forget what was read: the index changes."""
        self._frequencies.clear()
        self._nearest.clear()

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """Return the number of chunks that hold each word; 0 for one that none does."""
        return {word: self._frequency(word) for word in words}

    def nearest(self, unknown: str) -> str | None:
        """Return the stem one typing error away that most chunks hold, of several the first by letters, or None."""
        known = self._nearest
        if unknown not in known:
            stems = json.dumps(sorted(one_error_away(unknown)))
            row = self._connection.execute(NEAREST.format(self.table), (stems,)).fetchone()
            known[unknown] = str(row[0]) if row else None
        return known[unknown]

    def _frequency(self, word: str) -> int:
        known = self._frequencies
        if word not in known:
            (known[word],) = self._connection.execute(FREQUENCY.format(self.table), (f'"{word}"',)).fetchone()
        return int(known[word])
