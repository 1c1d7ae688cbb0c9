"""The words of a question that an index is searched by, its typing errors put right, and the documents it names."""

import json
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from math import log
from typing import Final, NamedTuple, Protocol

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
# Shorter parts of a word are rarely words: "cut" and "off" are, "on" and "e" are not.
SHORTEST_APART = 3
# A look-up takes some milliseconds, so that only the first unknown words of a question are corrected.
MOST_CORRECTED = 5
# Stems that are one error apart may be of different words ("pagination", "pain"); below this ratio the words are.
ALIKE = 0.75
# A document of so many chunks is long, a report or a manual: it is asked about by its name.
LONG = 100
# A word is a name of the long documents whose titles hold it where they have such a part of all its chunks.
OWN = 0.8
_WORD: Final = re.compile(r"[^\W_]+")


class LongDocument(NamedTuple):
    """A document of many chunks: its id, the number of its chunks, and the words of its title."""

    id: str
    chunks: int
    words: frozenset[str]


class Vocabulary(Protocol):
    """What an index knows of its words."""

    def frequencies(self, words: Sequence[str]) -> Mapping[str, int]:
        """Return the number of chunks that hold each word; 0 for one that none does."""

    def nearest(self, word: str) -> str | None:
        """Return a known word whose stem is one typing error away, of several that which most chunks hold, or None."""

    def long_documents(self) -> Sequence[LongDocument]:
        """Return the documents of at least `LONG` chunks."""


def choose(question: str, vocabulary: Vocabulary, *, budget: int) -> list[str]:
    """Return the words to search by, rarest first, so that about `budget` rows match at most.

    The rarest word that is known is always among them.
    """
    words = words_of(question)
    return _affordable(words, vocabulary.frequencies(words), budget)


def correct(question: str, vocabulary: Vocabulary, is_word: Callable[[str], bool]) -> str:
    """Return the question with the known words in place of those that differ from them by a typing error.

    A word that no chunk holds is two words where some chunk holds those side by side: "cutoff" is "cut off". Else a
    word that `is_word` knows stays as it is.
    """
    words = words_of(question)
    unknown = _unknown(words, vocabulary.frequencies(words))
    meant = {word: apart for word in unknown[:MOST_CORRECTED] if (apart := _apart(word, vocabulary))}
    mistyped = [word for word in unknown if word not in meant and not is_word(word)]
    meant |= {word: near for word in mistyped[:MOST_CORRECTED] if (near := vocabulary.nearest(word))}
    return _WORD.sub(lambda found: meant.get(found[0].lower(), found[0]), question) if meant else question


def named(question: str, vocabulary: Vocabulary) -> dict[str, float]:
    """Return the long documents that the question names: by id the part of the named words that their titles hold.

    A rare word counts for more than one of many titles. Nothing is returned where no word of the question is a name,
    as "Pfizer" is of the reports whose titles hold it, or where all long documents have the same names.
    """
    documents = vocabulary.long_documents()
    holders = {word: [one for one in documents if word in one.words] for word in words_of(question)}
    telling = {word: holding for word, holding in holders.items() if 0 < len(holding) < len(documents)}
    if not any(_is_name(word, holding, vocabulary) for word, holding in telling.items()):
        return {}
    weights = {word: log(1 + len(documents) / len(holding)) for word, holding in telling.items()}
    total = sum(weights.values())
    shares = {one.id: sum(weights[word] for word in one.words & weights.keys()) / total for one in documents}
    return {id_: share for id_, share in shares.items() if share}


def _is_name(word: str, holding: Sequence[LongDocument], vocabulary: Vocabulary) -> bool:
    return sum(one.chunks for one in holding) >= OWN * vocabulary.frequencies([word])[word]


def words_of(question: str) -> list[str]:
    """Return the distinct words that are not stop words, or all words if there are no others."""
    words = list(dict.fromkeys(plain_words(searchable(question))))
    return [word for word in words if word not in STOP_WORDS] or words


def _unknown(words: Sequence[str], frequencies: Mapping[str, int]) -> list[str]:
    """Return the words that the index does not hold, and that are long enough to be corrected."""
    return [
        word for word in words if word.isalpha() and not frequencies[word] and len(stem(word)) >= SHORTEST_CORRECTED
    ]


def _apart(word: str, vocabulary: Vocabulary) -> str | None:
    """Return the two words that a word is written from, if a chunk holds them side by side."""
    pairs = [f"{word[:at]} {word[at:]}" for at in range(SHORTEST_APART, len(word) - SHORTEST_APART + 1)]
    return next((pair for pair, chunks in vocabulary.frequencies(pairs).items() if chunks), None)


def closest(word: str, text: str) -> str | None:
    """Return the word of a text that is most like the given one, or None."""
    return next(iter(get_close_matches(word, sorted(set(plain_words(text))), 1, ALIKE)), None)


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
EXAMPLE = "SELECT title || ' ' || section || ' ' || text FROM {0} WHERE {0} MATCH ? LIMIT 1"
FREQUENCY = "SELECT count(*) FROM {0} WHERE {0} MATCH ?"
LONG_DOCUMENTS = f"""
SELECT document, size, title FROM (
    SELECT document, count(*) AS size, min(row) AS first FROM chunks
    WHERE :audience IS NULL OR audience = :audience GROUP BY document HAVING count(*) >= {LONG}
) JOIN words ON words.rowid = first
"""  # noqa: S608 - a number of ours.
# Words that a thread remembers: a question may hold any.
MOST_REMEMBERED = 10_000


class FtsVocabulary:
    """The words in a table, as one thread's connection has read them; `audience` is that of its chunks, if one."""

    def __init__(self, table: str, audience: str | None = None) -> None:
        self.table = table
        self._audience = audience
        self._long: list[LongDocument] | None = None
        self._frequencies: LRUCache[str, int] = LRUCache(MOST_REMEMBERED)  # The number of chunks of a word.
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
        self._long = None

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """Return the number of chunks that hold each word; 0 for one that none does."""
        return {word: self._frequency(word) for word in words}

    def nearest(self, word: str) -> str | None:
        """Return a known word whose stem is one typing error away, of several that which most chunks hold, or None."""
        known = self._nearest
        if word not in known:
            stems = json.dumps(sorted(one_error_away(stem(word))))
            found = self._connection.execute(NEAREST.format(self.table), (stems,)).fetchone()
            known[word] = closest(word, self._example(found[0])) if found else None
        return known[word]

    def long_documents(self) -> list[LongDocument]:
        """Return the documents of at least `LONG` chunks."""
        if self._long is None:
            rows = self._connection.execute(LONG_DOCUMENTS, {"audience": self._audience})
            self._long = [LongDocument(id_, chunks, frozenset(words_of(title))) for id_, chunks, title in rows]
        return self._long

    def _example(self, term: str) -> str:
        """Return the words of a chunk that holds the term."""
        row = self._connection.execute(EXAMPLE.format(self.table), (f'"{term}"',)).fetchone()
        return row[0] if row else ""

    def _frequency(self, word: str) -> int:
        known = self._frequencies
        if word not in known:
            (known[word],) = self._connection.execute(FREQUENCY.format(self.table), (f'"{word}"',)).fetchone()
        return int(known[word])
