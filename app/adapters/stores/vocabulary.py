"""What a thread knows of the words in an FTS5 index, remembered until the index changes."""

import json
import sqlite3
from collections.abc import Sequence

from cachetools import LRUCache

from chains.text.words import one_error_away

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
