"""Tell how strongly a statement holds the terms of a question."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.wings.offline.question import Question, join_initials, written_out
from chains.ports import WordSimilarity
from chains.text.tokens import CALENDAR, DAYS, MONTHS, Token, fold, tokens
from chains.text.words import LISTS, STOP_WORDS, stem

_CYCLES: Final = tuple(
    (names, re.compile(rf"\b({form})\.?(?: \d+)? ?(?:to|until|through|-|\u2013) ?(?:\d+ )?({form})\b"))
    for names in (DAYS, MONTHS)
    for form in ["|".join(f"{name[:3]}(?:{name[3:]})?s?" for name in names)]
)
_CALLED: Final = re.compile(  # What stands before "15 June to 15 September" where the words before it are its name.
    r"(?:^|[.;(] ?)(?:the )?((?:[a-z-]+ ){0,2}[a-z-]+)(?: (?:is|are|runs?|lasts?|means)|(?: – [a-z ]+)?:| [=(–])"
    r" ?(?:from |between )?(?:\d+ )?$"
)
_WEEK: Final = re.compile(r"\bweek(end|day)s?\b")
_CHRISTMAS: Final = re.compile(LISTS["christmas"])
_HYPHENED: Final = re.compile(r"\b[^\W\d_]+-[^\W\d_]+\b")
SAME: Final = 0.6  # The share of the words of two texts from which one repeats the other.

Matrix = NDArray[np.float64]
Flags = NDArray[np.bool_]

_EXACT: Final = STOP_WORDS | CALENDAR
"""Words beside which no other one counts: each is near to all others of its kind, and "ONE" is a name."""
WORD_FLOOR: Final = 0.4  # Cosines of words below this are chance.
NAME_FLOOR: Final = 0.6  # A city and its country are this near, two cities often nearer than two things.
LONGEST_ACRONYM: Final = 5
MOST_BETWEEN: Final = 2  # Words such as the column's name between an abbreviation and what it stands for.
_MEANS: Final = re.compile(r"[\s*_)]*(?:[–—:=|(]|(?:means|stands for)\b)")


class Words(NamedTuple):
    """The content words of a text by key, and its abbreviations with what they mean: "shipping instructions (SI)".

    Of "High season is 15 June to 15 September" the months are `long_forms` as well.
    """

    keys: dict[str, str]
    long_forms: list[tuple[str, frozenset[str]]]


@lru_cache(maxsize=1 << 12)
def words_of(text: str) -> Words:
    text = join_initials(text)
    found = tokens(text)
    keys = {token.key: fold(token.text) for token in found if token.weight}
    for hyphened in _HYPHENED.findall(text) if "-" in text else ():  # Many write "checkin".
        word = fold(hyphened.replace("-", ""))
        keys[stem(word)] = word
    lower, spans = text.lower(), list[tuple[str, frozenset[str]]]()
    for names, form in _CYCLES:  # "Mon-Fri" and "October to April" name what lies between.
        for span in form.finditer(lower):
            first, last = (
                next(at for at, name in enumerate(names) if name.startswith(end[:3])) for end in span.groups()
            )
            named = (names * 2)[first : first + (last - first) % len(names) + 1]
            keys |= {stem(name): name for name in named}
            if called := _CALLED.search(lower, 0, span.start()):
                name = frozenset(token.key for token in tokens(called[1]) if token.weight)
                spans += [(stem(one), name) for one in named if len(name) > 1]
            if (half := {"january", "july"}.intersection(named)) and len(half) == 1:
                keys |= {(season := "winter" if "january" in half else "summer"): season}
    if _CHRISTMAS.search(lower):
        keys[stem("christmas")] = "christmas"
    for part in _WEEK.findall(lower):
        keys |= {stem(day): day for day in (DAYS[5:] if part == "end" else DAYS[:5])}
    runs = (found, [token for token in found if token.weight])  # "Bill of lading (BL)".
    return Words(keys, [*spans, *(long for run in runs for long in _long_forms(run, text))])


def _long_forms(run: Sequence[Token], text: str) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield each abbreviation of a text with the words that it stands for (Schwartz and Hearst, 2003)."""
    for place, token in enumerate(run):
        size = len(token.text)
        if not (token.text.isupper() and 1 < size <= LONGEST_ACRONYM):
            continue
        behind = range(place + 1, place + 2 + MOST_BETWEEN) if _MEANS.match(text, token.end) else ()
        before = [place - size] if place >= size and text[: token.start].endswith("(") else []
        for start in (*before, *behind):
            words = run[start : start + size]
            if "".join(word.text[0] for word in words).lower() == token.text.lower():
                yield token.key, frozenset(word.key for word in words if word.weight)


def repeats(text: str, other: str) -> bool:
    """Return whether another text says the same: it has all words of this one, or most and all figures."""
    mine, theirs = (set(words_of(one).keys) for one in (text, other))
    alike = len(mine & theirs) >= SAME * len(mine | theirs)
    return mine <= theirs or (alike and not any(key[0].isdigit() for key in mine ^ theirs))


class Matcher:
    """Compares texts with the terms of a question; all `texts` that will be compared are given, for their words."""

    def __init__(self, question: Question, texts: Sequence[str], similarity: WordSimilarity | None) -> None:
        self._terms, self._is_who = question.terms, "who" in question.wants
        vocabulary = {key: word for text in texts for key, word in words_of(text).keys.items()}
        self._column = {key: column for column, key in enumerate(vocabulary)}
        self._near = self._nearness(list(vocabulary.values()), similarity)
        asked = {term.key: row for row, term in enumerate(self._terms)}
        defined = {pair for text in texts for pair in words_of(text).long_forms}
        pairs = [pair for short, long in defined for pair in ((frozenset({short}), long), (long, frozenset({short})))]
        # The words in a text that say terms in other words: a term's abbreviation, or what it stands for.
        self._equal = [(said, [asked[key] for key in keys]) for said, keys in pairs if keys and keys <= asked.keys()]

    def _nearness(self, vocabulary: Sequence[str], similarity: WordSimilarity | None) -> Matrix:
        """Return how near each word is to each term, shape (terms, words + 1); the last column is of no word."""
        near = np.zeros((len(self._terms), len(vocabulary) + 1))
        if similarity is not None and self._terms and vocabulary:
            found = similarity([term.word for term in self._terms], vocabulary)
            floors = np.array([[NAME_FLOOR if term.named else WORD_FLOOR] for term in self._terms])
            exact = np.array([[term.word[0].isdigit() or term.key in _EXACT] for term in self._terms])
            near[:, :-1] = np.where((found >= floors) & ~exact, np.sqrt(np.maximum(found, 0.0)), 0.0)
        for row, term in enumerate(self._terms):
            agent = stem(f"{term.key}er") if self._is_who else ""  # Who teaches is the teacher.
            for key in (term.key, stem(written_out(term.word, term.capital)), agent):
                if key in self._column:
                    near[row, self._column[key]] = 1.0
        return near

    def rows(self, texts: Sequence[str]) -> Matrix:
        """Return how strongly each text holds each term, 0-1, shape (texts, terms)."""
        found = np.zeros((len(texts), len(self._terms)))
        for place, words in enumerate(map(words_of, texts)):
            if columns := [self._column.get(key, -1) for key in words.keys]:
                found[place] = self._near[:, columns].max(axis=1)
            for said, terms in self._equal:
                if said <= words.keys.keys():
                    found[place, terms] = 1.0
        return found

    def is_asked(self, key: str, least: float) -> bool:
        """Return whether a word is one of the question's, or as near to one."""
        return bool(self._near[:, self._column.get(key, -1)].max(initial=0.0) >= least)
