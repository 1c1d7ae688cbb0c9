"""The words of a question that an FTS5 index is searched by: with those near to its typing errors, rarest first."""

import json
import sqlite3
from collections.abc import Sequence
from string import ascii_lowercase

from cachetools import LRUCache

from chains.text.words import plain_words, stem, word_set

# Fewer than `chains.text.words.STOP_WORDS`, because words like "after" and "between" help to find a passage.
STOP_WORDS = word_set("""
    a about am an and any are as at be been but by can could did do does for from had has have he her him his how i
    if in into is it its may me might must my no not of on or our out over per shall she should so such than that
    the their them then there these they this those to under up us was we were what when where which who whom why
    will with would you your
    """)
NEAREST = "SELECT term FROM terms WHERE term IN (SELECT value FROM json_each(?)) ORDER BY doc DESC, term LIMIT 1"
# Shorter stems have too many neighbours to tell a typing error from another word.
SHORTEST_CORRECTED = 5
# A look-up takes some milliseconds, so that only the first unknown words of a question are corrected.
MOST_CORRECTED = 5
# Words that a thread remembers: a question may hold any.
MOST_REMEMBERED = 10_000


class SearchWords:
    """Chooses the words of one thread's searches, and remembers what it read of them while the index stays the same.

    Args:
        budget: About how many matching rows a search may read.
    """

    def __init__(self, budget: int) -> None:
        self._budget = budget
        self._frequencies: LRUCache[str, int] = LRUCache(MOST_REMEMBERED)  # The number of chunks of a word.
        self._nearest_to: LRUCache[str, str | None] = LRUCache(MOST_REMEMBERED)  # The known stem one error away.
        self._version = -1

    def chosen(self, connection: sqlite3.Connection, question: str) -> tuple[list[str], list[str]]:
        """Return the words of the question, and the known stems near to its unknown words; rarest first."""
        self._refresh(connection)
        words = _words(question)
        asked = {*words, *map(stem, words)}
        near = {self._nearest(connection, stem(word)) for word in self._unknown(connection, words)}
        affordable = self._affordable(connection, [*words, *(word for word in near if word and word not in asked)])
        return [word for word in affordable if word in words], [word for word in affordable if word not in words]

    def misspelt(self, connection: sqlite3.Connection, question: str) -> list[str]:
        """Return the words of the question that the index does not hold, but that are near to one it holds."""
        self._refresh(connection)
        return [word for word in self._unknown(connection, _words(question)) if self._nearest(connection, stem(word))]

    def _refresh(self, connection: sqlite3.Connection) -> None:
        (version,) = connection.execute("PRAGMA data_version").fetchone()
        if version != self._version:  # Another connection has written.
            self.forget()
            self._version = version

    def forget(self) -> None:
        """Forget what was read: the index changes."""
        self._frequencies.clear()
        self._nearest_to.clear()

    def _unknown(self, connection: sqlite3.Connection, words: Sequence[str]) -> list[str]:
        """Return the first few words that the index does not hold."""
        return [word for word in words if word.isalpha() and not self._frequency(connection, word)][:MOST_CORRECTED]

    def _nearest(self, connection: sqlite3.Connection, unknown: str) -> str | None:
        """Return the most frequent known stem that is one typing error away."""
        if len(unknown) < SHORTEST_CORRECTED:
            return None
        known = self._nearest_to
        if unknown not in known:
            row = connection.execute(NEAREST, (json.dumps(sorted(_one_error_away(unknown))),)).fetchone()
            known[unknown] = str(row[0]) if row else None
        return known[unknown]

    def _affordable(self, connection: sqlite3.Connection, words: Sequence[str]) -> list[str]:
        """Return the words, rarest first, within the budget; the rarest that the index holds is always included."""
        chosen: list[str] = []
        spent = 0
        for frequency, word in sorted((self._frequency(connection, word), word) for word in words):
            if not spent or spent + frequency <= self._budget:
                chosen.append(word)
                spent += frequency
        return chosen

    def _frequency(self, connection: sqlite3.Connection, word: str) -> int:
        known = self._frequencies
        if word not in known:
            query = "SELECT count(*) FROM words WHERE words MATCH ?"
            (known[word],) = connection.execute(query, (f'"{word}"',)).fetchone()
        return int(known[word])


def _words(question: str) -> list[str]:
    """Return the distinct words that are not stop words, or all words if there are no others."""
    words = list(dict.fromkeys(plain_words(question)))
    return [word for word in words if word not in STOP_WORDS] or words


def _one_error_away(word: str) -> set[str]:
    """Return what differs from the word by one letter that is missing, added, replaced or swapped with the next."""
    splits = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    return {
        *(left + right[1:] for left, right in splits if right),
        *(left + right[1] + right[0] + right[2:] for left, right in splits if len(right) > 1),
        *(left + letter + right[1:] for left, right in splits if right for letter in ascii_lowercase),
        *(left + letter + right for left, right in splits for letter in ascii_lowercase),
    }
