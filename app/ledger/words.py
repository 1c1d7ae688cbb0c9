"""The words of passages: FTS5 tables in SQLite, terms and postings in PostgreSQL; BM25 of both is the same.

A question is searched by its rarest words, with its typing errors put right; long documents are found by their names.
"""

import json
import re
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property, reduce
from itertools import chain
from math import log
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.ledger.database import Database
from app.ledger.schema import TOKENIZER
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
# A document of so many passages is long, a report or a manual: it is asked about by its name.
LONG = 100
# A word is a name of the long documents whose titles hold it where they have such a part of all its passages.
OWN = 0.8
# About how many matches a search reads: it leaves out frequent words once they would exceed it.
BUDGET = 5000
# Words that are remembered: a question may hold any.
MOST_REMEMBERED = 10_000
_WORD: Final = re.compile(r"[^\W_]+")

LONG_DOCUMENTS = f"""
SELECT long.doc_id, size, meta FROM (
    SELECT doc_id, count(*) AS size, min(number) AS low FROM passages
    WHERE {{shown}} GROUP BY doc_id HAVING count(*) >= {LONG}
) AS long JOIN passages ON passages.doc_id = long.doc_id AND passages.number = low
"""
FILTERED = ("audience", "category", "jurisdiction")


def condition(where: Mapping[str, str]) -> str:
    """Return the condition on `passages` that the values of these names have to be met."""
    return " AND ".join(f"{name} = :{name}" for name in FILTERED if name in where) or "1 = 1"


class LongDocument(NamedTuple):
    """A document of many passages: its id, the number of its passages, and the words of its title."""

    id: str
    passages: int
    words: frozenset[str]


class Words(ABC):
    """The words of all passages, or of the public ones alone, as one version of the index has them."""

    def __init__(self, database: Database, *, public: bool) -> None:
        self._database, self._public = database, public
        self._count = "public_passages" if public else "passages"
        self._frequencies: dict[str, int] = {}  # The number of passages that hold a word.
        self._nearest: dict[str, str | None] = {}

    @abstractmethod
    def best(self, words: Sequence[str], limit: int, where: Mapping[str, str]) -> Iterable[Any]:
        """Return ids with BM25 of these words, best first."""

    @abstractmethod
    def _counted(self, words: Sequence[str]) -> Mapping[str, int]:
        """Return the number of passages that hold each word, or phrase; 0 for one that none does."""

    @abstractmethod
    def _example(self, stems: list[str]) -> str:
        """Return the text of a passage that holds the most frequent of the stems; empty where none is known."""

    def search(self, question: str, limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return BM25 by passage, best first; empty when no word of the question is known.

        The rarest words are searched for, as many as match about `BUDGET` times, and the rarest that is known always.
        """
        words = words_of(question)
        counts = self.frequencies(words)
        chosen: list[str] = []
        spent = 0
        for frequency, word in sorted((counts[word], word) for word in words):
            if not spent or spent + frequency <= BUDGET:
                chosen.append(word)
                spent += frequency
        return dict(map(tuple, self.best(chosen, limit, where))) if spent else {}

    def corrected(self, question: str, is_word: Callable[[str], bool]) -> str:
        """Return the question with the known words in place of those that differ from them by a typing error.

        A word that no passage holds is two words where some passage holds those side by side: "cutoff" is "cut off".
        Else a word that `is_word` knows stays as it is.
        """
        words = words_of(question)
        counts = self.frequencies(words)
        unknown = [
            word for word in words if word.isalpha() and not counts[word] and len(stem(word)) >= SHORTEST_CORRECTED
        ]
        meant: dict[str, str] = {}
        for word in unknown[:MOST_CORRECTED]:
            pairs = [f"{word[:at]} {word[at:]}" for at in range(SHORTEST_APART, len(word) - SHORTEST_APART + 1)]
            if known := [pair for pair, count in self.frequencies(pairs).items() if count]:
                meant[word] = known[0]
        mistyped = [word for word in unknown if word not in meant and not is_word(word)]
        meant |= {word: near for word in mistyped[:MOST_CORRECTED] if (near := self._known_neighbour(word))}
        return _WORD.sub(lambda match: meant.get(match[0].lower(), match[0]), question) if meant else question

    def named(self, question: str) -> dict[str, float]:
        """Return the long documents that the question names: by id the part of the named words that their titles hold.

        A rare word counts for more than one of many titles. Nothing is returned where no word of the question is a
        name, as "Pfizer" is of the reports whose titles hold it, or where all long documents have the same names.
        """
        documents = self._long
        holders = {word: [each for each in documents if word in each.words] for word in words_of(question)}
        telling = {word: holding for word, holding in holders.items() if 0 < len(holding) < len(documents)}
        counts = self.frequencies(list(telling))
        if not any(sum(each.passages for each in holding) >= OWN * counts[word] for word, holding in telling.items()):
            return {}
        weights = {word: log(1 + len(documents) / len(holding)) for word, holding in telling.items()}
        total = sum(weights.values())
        shares = {each.id: sum(weights[word] for word in each.words & weights.keys()) / total for each in documents}
        return {id_: share for id_, share in shares.items() if share}

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """Return the number of passages that hold each word, or phrase; 0 for one that none does."""
        memory = self._frequencies
        if len(memory) > MOST_REMEMBERED:  # Other threads may do the same.
            memory.clear()
        counts = {word: count for word in words if (count := memory.get(word)) is not None}
        if new := [word for word in words if word not in counts]:
            counts |= (fresh := self._counted(new))
            memory.update(fresh)
        return counts

    def _known_neighbour(self, word: str) -> str | None:
        """Return a known word whose stem is one typing error away, of several that which most passages hold."""
        known = self._nearest
        if word not in known:
            text = self._example(sorted(one_error_away(stem(word))))
            known[word] = next(iter(get_close_matches(word, sorted(set(plain_words(text))), 1, ALIKE)), None)
        return known[word]

    @cached_property
    def _long(self) -> list[LongDocument]:
        shown = "audience = 'public'" if self._public else "1 = 1"
        return [
            LongDocument(id_, size, frozenset(words_of(str(metadata_of(meta).get("title") or ""))))
            for id_, size, meta in self._database.rows(LONG_DOCUMENTS.format(shown=shown))
        ]


def words_of(question: str) -> list[str]:
    """Return the distinct words that are not stop words, or all words if there are no others."""
    words = list(dict.fromkeys(plain_words(searchable(question))))
    return [word for word in words if word not in STOP_WORDS] or words


def metadata_of(column: Any) -> dict[str, Any]:
    """Return metadata from its column: PostgreSQL's driver has read it, SQLite's has not."""
    return dict(json.loads(column) if isinstance(column, str) else column)


BEST = """
SELECT id, -score FROM (
    SELECT rowid AS found, bm25({words}) AS score FROM {words} WHERE {words} MATCH :match ORDER BY score LIMIT :limit
) JOIN passages ON row = found ORDER BY score
"""
BEST_WHERE = """
SELECT id, -bm25({words}) AS score FROM {words} JOIN passages ON row = {words}.rowid
WHERE {words} MATCH :match AND {where} ORDER BY score DESC LIMIT :limit
"""
FREQUENCIES = """
SELECT value, (SELECT count(*) FROM {words} WHERE {words} MATCH '"' || value || '"') FROM json_each(:asked)
"""
EXAMPLE = """
SELECT title || ' ' || section || ' ' || text
FROM (SELECT term AS known FROM {words}_terms WHERE term = ANY(:stems) ORDER BY doc DESC, term LIMIT 1)
CROSS JOIN {words} ON {words} MATCH '"' || known || '"' LIMIT 1
"""


class FtsWords(Words):
    """The words in a table of FTS5."""

    def best(self, words: Sequence[str], limit: int, where: Mapping[str, str]) -> Iterable[Any]:
        match = " OR ".join(f'"{word}"' for word in words)
        return self._rows(BEST_WHERE if where else BEST, match=match, limit=limit, where=condition(where), **where)

    def _counted(self, words: Sequence[str]) -> Mapping[str, int]:
        return dict(map(tuple, self._rows(FREQUENCIES, asked=list(words))))

    def _example(self, stems: list[str]) -> str:
        return "".join(str(text) for (text,) in self._rows(EXAMPLE, stems=stems))

    def _rows(self, query: str, *, where: str = "", **values: Any) -> Sequence[Any]:
        table = "public_words" if self._public else "words"
        return self._database.rows(query.format(words=table, where=where), **values)


# As FTS5 has them.
K1, B, LEAST_IDF = 1.2, 0.75, 1e-6
ENTRY = np.dtype([("passage", ">i4"), ("count", ">i2"), ("tokens", ">i2")])
ENTRIES = """
SELECT terms.term, {count}, string_agg(entries, '') FROM terms JOIN postings ON postings.term = number
WHERE terms.term = ANY(:terms) AND (public OR :all) GROUP BY terms.term
"""
COUNTS = "SELECT term, {count} FROM terms WHERE term = ANY(:terms) AND {count} > 0 ORDER BY {count} DESC, term"
HOLDER = """
SELECT coalesce(meta ->> 'title', '') || ' ' || passages.section || ' ' || text
FROM passages JOIN words ON rowid = row WHERE row = :row
"""
SIDE_BY_SIDE = "SELECT count(*) FROM words WHERE rowid = ANY(:rows) AND text ~* :beside"
SIZE = """
SELECT count(*), coalesce(sum(tokens), 0) FROM words JOIN passages ON row = words.rowid
WHERE audience = 'public' OR :all
"""


class PostingsWords(Words):
    """The words in tables of terms and postings."""

    def best(self, words: Sequence[str], limit: int, where: Mapping[str, str]) -> Iterable[Any]:
        size, average = self._size
        asked = Counter(chain.from_iterable(count_terms(words)))
        passages, shares = [np.zeros(0, int)], [np.zeros(0)]
        for term, holding, entries in self._entries(list(asked)):
            # The size may be of a moment before.
            weight = asked[term] * max(LEAST_IDF, log((max(0, size - holding) + 0.5) / (holding + 0.5)))
            counts, lengths = entries["count"].astype(float), entries["tokens"] / average
            passages.append(entries["passage"])
            shares.append(weight * counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths)))
        rows, places = np.unique(np.concatenate(passages), return_inverse=True)
        scores = np.bincount(places, np.concatenate(shares), len(rows))
        # Public postings are of public passages; what other filters leave is looked for among all.
        some = np.argsort(-scores, kind="stable")[: limit if len(where) == self._public else None]
        query = f"SELECT row, id FROM passages WHERE row = ANY(:rows) AND {condition(where)}"
        ids = dict(map(tuple, self._database.rows(query, rows=rows[some].tolist(), **where)))
        pairs = zip(rows[some].tolist(), scores[some].tolist(), strict=True)
        return [(ids[row], score) for row, score in pairs if row in ids][:limit]

    def _counted(self, words: Sequence[str]) -> Mapping[str, int]:
        terms = dict(zip(words, map(list, count_terms(words)), strict=True))
        every = [*chain.from_iterable(terms.values())]
        held = dict(map(tuple, self._database.rows(COUNTS.format(count=self._count), terms=every)))
        counts = {word: min((held.get(term, 0) for term in terms[word]), default=0) for word in words}
        for pair in (word for word, count in counts.items() if count and " " in word):
            rows = reduce(np.intersect1d, (entries["passage"] for _, _, entries in self._entries(terms[pair])))
            beside = r"\m" + r"\w*\W+".join(pair.split())
            counts[pair] = self._database.value(SIDE_BY_SIDE, rows=rows.tolist(), beside=beside)
        return counts

    def _example(self, stems: list[str]) -> str:
        term = self._database.value(COUNTS.format(count=self._count), terms=stems)
        rows = [int(entries["passage"].min()) for _, _, entries in self._entries([term] if term else [])]
        return str(self._database.value(HOLDER, row=rows[0]) or "") if rows else ""

    def _entries(self, terms: Sequence[str]) -> list[tuple[str, int, NDArray[Any]]]:
        rows = self._database.rows(ENTRIES.format(count=self._count), terms=list(terms), all=not self._public)
        return [(term, count, np.frombuffer(entries, ENTRY)) for term, count, entries in rows]

    @cached_property
    def _size(self) -> tuple[int, float]:
        [[passages, tokens]] = self._database.rows(SIZE, all=not self._public)
        return int(passages), float(tokens) / passages if passages else 1.0


TABLES_OF_TERMS = f"""
CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = '{TOKENIZER}');
CREATE VIRTUAL TABLE tokens USING fts5vocab(texts, 'instance');
"""
_counting: Final = threading.Lock()


@cache
def _term_tables() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(TABLES_OF_TERMS)
    return connection


def count_terms(texts: Sequence[str]) -> list[Counter[str]]:
    """Return how often each text holds each of its terms, which FTS5 counts, so that both dialects hold the same."""
    counted: list[Counter[str]] = [Counter() for _ in texts]
    with _counting:
        _term_tables().execute("DELETE FROM texts")
        rows = ((place, text.replace("\0", " ")) for place, text in enumerate(texts, start=1))
        _term_tables().executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
        for term, place, count in _term_tables().execute("SELECT term, doc, count(*) FROM tokens GROUP BY 1, 2"):
            counted[place - 1][term] = count
    return counted
