"""Split a text into words: stemmed, weighted, with numbers in one form; decide whether a question is English."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from chains.text.words import LISTS, STOP_WORDS, stem, word_list

Kind = Literal["number", "name", "word", "light", "stop"]

WEIGHTS: Final[dict[Kind, float]] = {"number": 2.0, "name": 1.6, "word": 1.0, "light": 0.5, "stop": 0.0}
INFLECTED_WEIGHT: Final = 0.6  # -ed, -ing, -ly that a stem loses: a paraphrase changes verbs and adverbs first.

_WORD: Final = re.compile(r"(?:[A-Z]\.){2,}|\d+(?:[.,]\d+)*|(?!(?<=\d)[¹²³⁰⁴-⁹])[^\W\d_]+(?:['’][^\W\d_]+)*")
_SENTENCE_START: Final = re.compile(r"(?:^|[.!?:|>\n])[\s\"“”'‘(*_#\-]*$")
_UNITS: Final = word_list(LISTS["numerals"])
_TENS: Final = word_list("twenty thirty forty fifty sixty seventy eighty ninety")
ORDINALS: Final = word_list("first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")
_NUMERALS: Final = (
    {word: value for value, word in enumerate(_UNITS) if word != "one"}
    | {word: 10 * value for value, word in enumerate(_TENS, start=2)}
    | {word: value for value, word in enumerate(ORDINALS, start=1)}
)
_SCALES: Final = {"k": 10**3, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_IS_SCALED: Final = re.compile(rf"\dk\b|{'|'.join(scale for scale in _SCALES if scale != 'k')}", re.IGNORECASE)
MONTHS: Final = word_list("january february march april may june july august september october november december")
DAYS: Final = word_list("monday tuesday wednesday thursday friday saturday sunday")
_BEFORE_MONTH: Final = re.compile(r"\b(?:by|during|from|in|of|since|till|until)\s$")
_LONGER: Final = word_list("sept tues weds thur thurs")
SHORT_NAMES: Final = {
    short: name for name in (*MONTHS, *DAYS) for short in (name[:3], *_LONGER) if short[:3] == name[:3]
}
_SHORTEST_NAME: Final = 4  # Shorter ones are words as well where they are typed small: "sat", "mar".
MONTH_KEYS: Final = frozenset(map(stem, MONTHS))
CALENDAR: Final = MONTH_KEYS | frozenset(map(stem, DAYS))
# General words that move a text along and name nothing: a faithful paraphrase swaps them freely.
_LIGHT: Final = word_list(LISTS["light"])


class Token(NamedTuple):
    """One word of a text: its comparable form, what it carries, and where it stands (`text[start:end]`)."""

    key: str
    kind: Kind
    weight: float
    text: str
    start: int
    end: int


_LIGHT_STEMS: Final = frozenset(map(stem, _LIGHT))


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Return the text in lower case without accents, dots of acronyms, possessives and apostrophes."""
    decomposed = unicodedata.normalize("NFKD", text.lower())
    plain = "".join(letter for letter in decomposed if not unicodedata.combining(letter)).replace("’", "'")
    return plain.removesuffix("'s").replace("'", "").replace(".", "")


def number(text: str) -> str:
    """Return a figure's one written form: `1,000.50` and `1000.5` are the same number."""
    digits = text.replace(",", "")
    if digits.count(".") == 1:
        digits = digits.rstrip("0").rstrip(".")
    return digits.lstrip("0") or "0"


@lru_cache(maxsize=65536)
def classify(text: str, opens: bool) -> tuple[str, Kind, float]:
    """Return key, kind and weight of one word; a capital says nothing on a word that opens a sentence."""
    if text[0].isdecimal():
        return number(text), "number", WEIGHTS["number"]
    plain = fold(text)
    if plain in _NUMERALS:
        return str(_NUMERALS[plain]), "number", WEIGHTS["number"]
    capital = text[0].isupper()
    if (capital or len(plain) >= _SHORTEST_NAME) and (name := SHORT_NAMES.get(plain)):
        return stem(name), "word", WEIGHTS["word"]
    if plain in STOP_WORDS and not (len(text) > 1 and text.isupper()):
        return plain, "stop", 0.0
    key = stem(plain)
    kind: Kind = "light" if key in _LIGHT_STEMS else "word"
    if capital and not opens and plain not in MONTHS:
        kind = "name"
    loses = plain.endswith(("ed", "ing", "ly")) and len(key) <= len(plain) - len("ly")
    is_inflected = kind == "word" and (loses or plain.endswith("lly"))
    return key, kind, INFLECTED_WEIGHT if is_inflected else WEIGHTS[kind]


@lru_cache(maxsize=1024)
def tokens(text: str) -> tuple[Token, ...]:
    """Return every word of the text in order, stop words included, scales folded into their numbers."""
    words = _words(text)
    return tuple(_scaled(words) if _IS_SCALED.search(text) else words)


def _words(text: str) -> Iterator[Token]:
    """Yield the words one by one; the text before a capital decides whether it opens a sentence."""
    end = 0
    for match in _WORD.finditer(text):
        word, start = match.group(), match.start()
        opens = word[0].isupper() and bool(end == 0 or _SENTENCE_START.search(text, max(end, start - 12), start))
        end = match.end()
        is_month = word == "may" and _BEFORE_MONTH.search(text, max(0, start - 8), start)
        key, kind, weight = classify("May" if is_month else word, opens)
        yield Token(key, kind, weight, word, start, end)


def _scaled(words: Iterator[Token]) -> Iterator[Token]:
    """Fold `2.5 million`, `one million` and `50k` into one number token."""
    held: Token | None = None
    for word in words:
        scale = _SCALES.get(word.key)
        is_scale = scale is not None and held is not None and (word.key != "k" or word.start == held.end)
        if held is not None and scale is not None and is_scale and (held.kind == "number" or held.key == "one"):
            value = float(held.key) if re.fullmatch(r"\d+(?:\.\d+)?", held.key) else 1.0
            key = number(f"{value * scale:.2f}")
            held = Token(key, "number", WEIGHTS["number"], held.text, held.start, word.end)
            continue
        if held is not None:
            yield held
        held = word
    if held is not None:
        yield held


OTHER_SCRIPT: Final = re.compile(r"[^\W\d_\u0000-\u024f\u1e00-\u1eff]{2}")
FEWEST_WORDS: Final = 3  # Fewer may be names and terms, which are the same in many languages.


def is_english(question: str, language: str | None = None) -> bool:
    """Return whether a question may be English: a word of English grammar stands in it, or nothing speaks against it.

    Against it speak letters of another script, and a `language` that the asker chose.
    """
    words = tokens(question)
    if any(word.kind == "stop" for word in words):
        return True
    chosen = (language or "en").partition("-")[0].lower()
    return not OTHER_SCRIPT.search(question) and (chosen == "en" or len(words) < FEWEST_WORDS)
