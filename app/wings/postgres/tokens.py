"""Text -> terms, exactly as the word index in SQLite has them: by SQLite's own tokenizer."""

import sqlite3
import threading
from collections import Counter
from collections.abc import Sequence

from app.wings.postgres.characters import keepable

TOKENIZER = "porter unicode61"
SCHEMA = f"""
CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = '{TOKENIZER}');
CREATE VIRTUAL TABLE tokens USING fts5vocab(texts, 'instance');
"""


class Tokenizer:
    """Counts the terms of texts in an FTS5 table in memory, so that both word indexes hold the same; thread-safe."""

    def __init__(self) -> None:
        self._connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._connection.executescript(SCHEMA)
        self._lock = threading.Lock()

    def counts(self, texts: Sequence[str]) -> list[Counter[str]]:
        """Return how often each text holds each of its terms."""
        found: list[Counter[str]] = [Counter() for _ in texts]
        with self._lock:
            self._connection.execute("DELETE FROM texts")
            rows = ((place, keepable(text)) for place, text in enumerate(texts, start=1))
            self._connection.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
            for term, place, count in self._connection.execute("SELECT term, doc, count(*) FROM tokens GROUP BY 1, 2"):
                found[place - 1][term] = count
        return found
