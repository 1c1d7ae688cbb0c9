"""The words of passages: tables of them and of packed postings, and their ranking by BM25.

A question is searched by its rarest words, with its typing errors put right; long documents are found by their names.
"""

import json
import re
import sqlite3
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import cache, cached_property, reduce
from itertools import chain, islice
from math import log
from struct import Struct
from typing import Any, Final, NamedTuple

import numpy as np

from app.ledger.database import Database
from app.ledger.schema import BLOCK
from chains.documents.audience import FILTERS
from chains.text.spelling import corrected
from chains.text.words import one_error_away, plain_words, searchable, stem, word_set

# Fewer than `chains.text.words.STOP_WORDS`, because words like "after" and "between" help to find a passage.
STOP_WORDS = word_set("""
    a about am an and any are as at be been but by can could did do does for from had has have he her him his how i
    if in into is it its may me might must my no not of on one or our out over per shall she should so such than that
    the their them then there these they this those to under up us was we were what when where which who whom why
    will with would you your
    """)
# Shorter stems have too many neighbours to tell a typing error from another word.
SHORTEST_STEM = 5
# Stems that are one error apart may be of different words ("pagination", "pain"); below this ratio the words are.
ALIKE = 0.75
# A document of so many passages is long, a report or a manual: it is asked about by its name.
LONG = 100
# A word is a name of the long documents whose titles hold it where they have such a part of all its passages.
OWN = 0.8
# About how many matches a search reads: it leaves out frequent words once they would exceed it.
BUDGET = 5000
# How many of the best matches are compared with a filter at once.
FILTERED_AT_ONCE = 500
# Words that are remembered: a question may hold any.
MOST_REMEMBERED = 10_000

LONG_DOCUMENTS = f"""
SELECT long.doc_id, size, meta FROM (
    SELECT doc_id, count(*) AS size, min(number) AS low FROM passages
    WHERE {{shown}} GROUP BY doc_id HAVING count(*) >= {LONG}
) AS long JOIN passages ON passages.doc_id = long.doc_id AND passages.number = low
"""


def condition(where: Mapping[str, str]) -> str:
    """Return the condition on `passages` that the values of these names have to be met."""
    return " AND ".join(f"{name} = :{name}" for name in FILTERS if name in where) or "1 = 1"


# BM25 as SQLite's FTS5 has it.
K1, B, LEAST_IDF = 1.2, 0.75, 1e-6
# A posting: a passage, how often it holds the term, and how many words it has.
ENTRY = np.dtype([("passage", ">i4"), ("count", ">i2"), ("tokens", ">i2")])
PACKED_ENTRY: Final = Struct(">ihh")
MOST_TOKENS = 32_767  # What 16 bits hold: a longer passage counts as one of this length.
EVERY = ""  # The term that every passage holds: its postings tell the number and the lengths of all.
ENTRIES = """
SELECT term, string_agg(entries, '') FROM postings WHERE term = ANY(:terms) AND public >= :public GROUP BY term
"""
COUNTS = f"""
SELECT term, sum(length(entries)) / {ENTRY.itemsize} FROM postings
WHERE term = ANY(:terms) AND public >= :public GROUP BY term
"""
TEXTS = "SELECT title || ' ' || section || ' ' || text FROM words WHERE row = ANY(:rows)"
OF_PASSAGES = """
SELECT words.row, coalesce(audience = 'public', false), title, words.section, text
FROM passages JOIN words ON words.row = passages.row WHERE id = ANY(:ids)
"""
UNPACK = "DELETE FROM postings WHERE block = :block AND public = :public AND term = ANY(:terms) RETURNING term, entries"
# The columns of the tables, as COPY sends them.
WORDS = {"row": "int8", "title": "text", "section": "text", "text": "text"}
POSTINGS = {"term": "text", "public": "bool", "block": "int4", "entries": "bytea"}


class Searched(NamedTuple):
    """What of a passage is searched: its row, whether it is public, its title, section path and text."""

    row: int
    public: bool
    title: str
    section: str
    text: str


class LongDocument(NamedTuple):
    """A document of many passages: its id, the number of its passages, and the words of its title."""

    id: str
    passages: int
    words: frozenset[str]


class Words:
    """The words of all passages, or of the public ones alone, as one version of the index has them."""

    def __init__(self, database: Database, *, public: bool) -> None:
        self._database, self._public = database, public
        self._frequencies: dict[str, tuple[int, list[str]]] = {}  # And the terms, by word.
        self._nearest: dict[str, str | None] = {}

    def search(self, question: str, limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return BM25 by passage, best first; empty when no word of the question is known.

        The rarest words are searched for, as many as match about `BUDGET` times, and the rarest that is known always.
        """
        known = self._known(words_of(question))
        chosen: list[str] = []
        spent = 0
        for frequency, word in sorted((known[word][0], word) for word in known):
            if not spent or spent + frequency <= BUDGET:
                chosen += known[word][1]
                spent += frequency
        return self.best(chosen, limit, where) if spent else {}

    def corrected(self, question: str, is_word: Callable[[str], bool]) -> str:
        """Return the question in words that the passages hold; one that `is_word` knows is no typing error."""
        return corrected(question, self.frequencies, is_word, self._known_neighbour)

    def best(self, terms: Sequence[str], limit: int, where: Mapping[str, str]) -> dict[str, float]:
        """Return BM25 of these terms by passage, best first."""
        (size, average), asked = self._size, Counter(terms)
        packed = self._packed(list(asked))
        frequencies = [len(entries) // ENTRY.itemsize for entries in packed.values()]
        # The size may be of a moment before.
        rarity = (log((max(0, size - frequency) + 0.5) / (frequency + 0.5)) for frequency in frequencies)
        weights = [asked[term] * max(LEAST_IDF, each) for term, each in zip(packed, rarity, strict=True)]
        entries = np.frombuffer(b"".join(packed.values()), ENTRY)
        counts, lengths = entries["count"].astype(float), entries["tokens"].astype(float) / average
        shares = np.repeat(weights, frequencies) * counts * (K1 + 1) / (counts + K1 * (1 - B + B * lengths))
        rows, places = np.unique(entries["passage"].astype(int), return_inverse=True)
        scores = np.bincount(places, shares, len(rows))
        order, hits = np.argsort(-scores, kind="stable"), dict[str, float]()
        # Public postings are of public passages; what other filters leave is looked for portion by portion.
        portion = limit if len(where) == self._public else max(limit, FILTERED_AT_ONCE)
        query = f"SELECT row, id FROM passages WHERE row = ANY(:rows) AND {condition(where)}"
        for start in range(0, len(order), portion):
            some = order[start : start + portion]
            ids = dict(map(tuple, self._database.rows(query, rows=rows[some].tolist(), **where)))
            pairs = zip(rows[some].tolist(), scores[some].tolist(), strict=True)
            hits |= {ids[row]: score for row, score in pairs if row in ids}
            if len(hits) >= limit:
                break
        return dict(islice(hits.items(), limit))

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
        return {word: count for word, (count, _) in self._known(words).items()}

    def _known(self, words: Sequence[str]) -> dict[str, tuple[int, list[str]]]:
        """Return the frequency of each word, and its terms."""
        memory = self._frequencies
        if len(memory) > MOST_REMEMBERED:  # Other threads may do the same.
            memory.clear()
        known = {word: each for word in words if (each := memory.get(word)) is not None}
        if new := [word for word in words if word not in known]:
            known |= (fresh := self._counted(new))
            memory.update(fresh)
        return known

    def _known_neighbour(self, word: str) -> str | None:
        """Return a known word whose stem is one typing error away, of several that which most passages hold."""
        if len(stem(word)) < SHORTEST_STEM:
            return None
        if word not in (nearest := self._nearest):
            counts, text = self._counts(one_error_away(stem(word))), ""
            if counts:  # The word stands in the first passage that holds the most frequent stem.
                [entries] = self._packed([min(counts, key=lambda term: (-counts[term], term))]).values()
                first = int(np.frombuffer(entries, ENTRY)["passage"].min())
                text = str(self._database.value(TEXTS, rows=[first]) or "")
            nearest[word] = next(iter(get_close_matches(word, sorted(set(plain_words(text))), 1, ALIKE)), None)
        return nearest[word]

    def _counted(self, words: Sequence[str]) -> dict[str, tuple[int, list[str]]]:
        terms = dict(zip(words, map(list, count_terms(words)), strict=True))
        of_terms = self._counts(chain.from_iterable(terms.values()))
        counts = {word: min((of_terms.get(term, 0) for term in terms[word]), default=0) for word in words}
        for pair in (word for word, count in counts.items() if count and " " in word):
            parts = (np.frombuffer(entries, ENTRY)["passage"] for entries in self._packed(terms[pair]).values())
            rows = reduce(np.intersect1d, parts)
            beside = re.compile(r"\b" + r"[^\W_]*[\W_]+".join(pair.split()), re.IGNORECASE)
            texts = self._database.rows(TEXTS, rows=rows[:BUDGET].tolist())
            counts[pair] = sum(bool(beside.search(text)) for (text,) in texts)
        return {word: (counts[word], terms[word]) for word in words}

    def _counts(self, terms: Iterable[str]) -> dict[str, int]:
        return dict(map(tuple, self._database.rows(COUNTS, terms=list(terms), public=self._public)))

    def _packed(self, terms: Sequence[str]) -> dict[str, bytes]:
        return dict(map(tuple, self._database.rows(ENTRIES, terms=terms, public=self._public)))

    @cached_property
    def _size(self) -> tuple[int, float]:
        """Return the number of passages, and of words in the average one."""
        entries = np.frombuffer(self._packed([EVERY]).get(EVERY, b""), ENTRY)
        return len(entries), float(entries["tokens"].mean()) or 1.0 if len(entries) else 1.0

    @cached_property
    def _long(self) -> list[LongDocument]:
        shown = "audience = 'public'" if self._public else "1 = 1"
        return [
            LongDocument(id_, size, frozenset(words_of(str(metadata_of(meta).get("title") or ""))))
            for id_, size, meta in self._database.rows(LONG_DOCUMENTS.format(shown=shown))
        ]


def add_words(database: Database, passages: Sequence[Searched]) -> None:
    """Add the words of passages to those that are there."""
    database.add_rows("words", WORDS, ((row, *texts) for row, _, *texts in passages))
    _repack(database, passages, lambda held, new: held + new)


def delete_words(database: Database, ids: Sequence[str]) -> None:
    """Delete the words of passages that are still there; an unknown id is not an error."""
    passages = [Searched(*row) for row in database.rows(OF_PASSAGES, ids=list(ids))]
    rows = np.array([passage.row for passage in passages])

    def without(held: bytes, _gone: bytes) -> bytes:
        entries = np.frombuffer(held, ENTRY)
        return entries[~np.isin(entries["passage"], rows)].tobytes()

    _repack(database, passages, without)
    database.run("DELETE FROM words WHERE row = ANY(:rows)", {"rows": rows.tolist()})


def _repack(database: Database, passages: Sequence[Searched], changed: Callable[[bytes, bytes], bytes]) -> None:
    """Change the postings of the terms of passages, given what is held of each term in a block and what they add."""
    texts = ["\n".join((title, section, text)) for *_, title, section, text in passages]
    packed: defaultdict[tuple[bool, int], dict[str, bytearray]] = defaultdict(lambda: defaultdict(bytearray))
    for passage, counts in zip(passages, count_terms(texts), strict=True):
        terms = packed[bool(passage.public), passage.row // BLOCK]
        length = min(MOST_TOKENS, counts.total())
        for term, count in chain(counts.items(), [(EVERY, 1)]):
            terms[term] += PACKED_ENTRY.pack(passage.row, min(MOST_TOKENS, count), length)
    for (public, block), terms in packed.items():
        held = dict(map(tuple, database.rows(UNPACK, public=public, block=block, terms=list(terms))))
        entries = ((term, changed(held.get(term, b""), bytes(new))) for term, new in terms.items())
        database.add_rows("postings", POSTINGS, ((term, public, block, left) for term, left in entries if left))


def words_of(question: str) -> list[str]:
    """Return the distinct words that are not stop words, or all words if there are no others."""
    words = list(dict.fromkeys(plain_words(searchable(question))))
    return [word for word in words if word not in STOP_WORDS] or words


def metadata_of(column: Any) -> dict[str, Any]:
    """Return metadata from its column: PostgreSQL's driver has read it, SQLite's has not."""
    return dict(json.loads(column) if isinstance(column, str) else column)


TOKENIZER = """
CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = 'porter unicode61');
CREATE VIRTUAL TABLE tokens USING fts5vocab(texts, 'instance');
"""
_counting: Final = threading.Lock()


@cache
def _tokenizer() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    connection.executescript(TOKENIZER)
    return connection


def count_terms(texts: Sequence[str]) -> list[Counter[str]]:
    """Return how often each text holds each of its terms: stems of its words, as FTS5 cuts and counts them."""
    counted: list[Counter[str]] = [Counter() for _ in texts]
    with _counting:
        _tokenizer().execute("BEGIN")
        try:
            rows = ((place, text.replace("\0", " ")) for place, text in enumerate(texts, start=1))
            _tokenizer().executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", rows)
            for term, place, count in _tokenizer().execute("SELECT term, doc, count(*) FROM tokens GROUP BY 1, 2"):
                counted[place - 1][term] = count
        finally:
            _tokenizer().execute("ROLLBACK")
    return counted
