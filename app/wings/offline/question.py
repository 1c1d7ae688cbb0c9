"""Read a question: its terms, what each of them carries, and the kind of answer that it asks for."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from chains.ports import WordSimilarity
from chains.text.asking import Kind, kinds
from chains.text.pattern_file import read_patterns
from chains.text.quantities import UNITS, Quantity, quantities
from chains.text.spelling import corrected
from chains.text.tokens import MONTHS, SHORT_NAMES, WEIGHTS, Token, fold, tokens
from chains.text.words import STOP_WORDS, one_error_away, plain_words, stem

_WHAT_IS: Final = re.compile(r"^\W*(?:(?:what|who)(?: is| are| was| were|['\u2019]?s)|explain|describe)\b", re.I)
_COMPARES: Final = re.compile(r"\b(?:compar\w+|differ\w*|versus|vs)\b", re.I)
_CODE: Final = re.compile(r"\b[A-Z]{2,4}[- ]?\d{5,}\b")
_THOUSANDS: Final = re.compile(
    r"(?<=(?<![\d.,])\d) (?=\d{3}\b)|(?<=(?<![\d.,])\d\d) (?=\d{3}\b)|(?<=\d{3}) (?=\d{3}\b)|(?<=\d)\.(?=000\b)"
)
_FOR_A: Final = re.compile(r"\bfor an? (?=(?:whole |full )?(?:hour|day|night|week|month|year)\b)", re.I)
_MAY: Final = re.compile(r"^May(?= \D)")  # The verb.
_MINUTES: Final = re.compile(r"(?<=\d)[ -]?min\b", re.I)  # Behind anything else it is the least.
# What the asker supposes, and may be wrong about.
_PREMISE: Final = re.compile(r"^\W*since\b(?! \w+ \d{4})[^,?]*|\b(?:because|given that|now that)\b[^,?]*", re.I)
_FIGURE: Final = re.compile(r"\d[\d.,]*(?: ?%)?")
_INITIALS: Final = re.compile(
    r"\b([A-Z])/([A-Z])(?:/([A-Z]))?\b|\b([a-z])/([a-z])\b"
    r"|\b((?i:ash|easter|good|palm|shrove|whit)) (?=(?i:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|\b((?i:boxing)) (?=day\b)"
)
WORDS: Final = dict(read_patterns(__package__, "words.txt")[1])
_UNANSWERABLE: Final = re.compile(WORDS["unanswerable"], re.IGNORECASE)
_FORM_WORDS: Final = frozenset(map(stem, WORDS["asking"].split()))
_ASKED: Final = re.compile(WORDS["measure"], re.I)
# "How much for 2 adults": the answer says the price of one. "How long" only asks; "long hair" is not short.
_COUNTED: Final = re.compile(
    r"\bhow (long)\b"
    rf"|\bhow much\b.{{0,40}}?\b(\d{{1,2}}|two|three|four|five|six) (?!(?:{'|'.join(UNITS)})\b)[a-z]+(?:s\b|\W*$)",
    re.I,
)
_GERUND: Final = re.compile(WORDS["gerund"], re.I)
_COUNTRY_OF: Final = dict(pair.split("=") for pair in WORDS["countries"].split())
COUNTRIES: Final = frozenset(map(stem, _COUNTRY_OF.values()))
"""Countries whose names mean nothing else; they are names in small letters as well."""
_FEASTS: Final = {
    "(?:christmas|xmas) eve": "24 December",
    "(?:christmas|xmas)(?: day)?": "25 December",
    "boxing ?day": "26 December",
    "new year['’]?s eve": "31 December",
    "new year(?:['’]?s)?(?: day)?": "1 January",
}
_NUMBERED: Final = "band class grade group level size tier week year zone"  # Things of which a column has several.
_SERIES: Final = re.compile(rf"\b({_NUMBERED.replace(' ', '|')}) (\d{{1,2}})\b", re.IGNORECASE)
DAY: Final = "day of the year"
COUNTED: Final = frozenset(map(stem, _NUMBERED.split())) | {DAY}
"""Measures of figures that tables of anything have."""
FEAST_WORDS: Final = frozenset(map(stem, ["boxingday", "christmas", "day", "eve", "new", "xmas", "year"]))
_SHORT_FORMS: Final = SHORT_NAMES | dict(pair.split("=") for pair in WORDS["short"].split())
_VOWELS: Final = frozenset("aeiou")
_SHORT_SUBJECT: Final = 2
_WITHIN_NAME: Final = frozenset((" ", "-", " & "))
_JOINS: Final = re.compile(
    r"\s*(?:,|and|or|/|,\s*and|,\s*or)\s*(?:(?:which|what|how long) )?(?:(?:in|for|to|from|of|by|with) )?(?:the )?",
    re.I,
)
CONTEXT_WORD: Final = 0.5  # What a word keeps that stands in the statement before the question.
FORM_WORD: Final = 0.3  # What a word keeps that only asks: `year` of "what year".


class Term(NamedTuple):
    """One content word of a question; a name begins with a capital and is no abbreviation.

    `asks` marks a word that says what is asked for, `fixed` a name, a figure or a month, which an answer has to hold.
    """

    key: str
    word: str
    weight: float
    named: bool
    capital: bool
    asks: bool
    fixed: bool

    @property
    def carries(self) -> bool:
        """Return whether it names something: it is no verb form, and does not only ask."""
        return self.weight >= WEIGHTS["word"] and not self.asks


@dataclass(frozen=True, slots=True)
class Question:
    """What a question asks for.

    Attributes:
        codes: numbers with letters (a container's, a booking's), which evidence must hold as written.
        names: its names and figures, else the names of what it is asked on; each by the places of its terms.
        sides: those of the names that it asks about one by one: which it compares, or joins by a comma or by "and".
        quantities: its figures, which ranges may hold; of a follow-up, `fresh_quantities` are its own.
        fresh: which terms are new, where the others are taken over from the questions before it; else empty.
        unanswerable: whether no document can answer it.
    """

    text: str
    terms: tuple[Term, ...]
    wants: frozenset[Kind]
    codes: frozenset[str]
    names: list[list[int]]
    sides: list[list[int]]
    quantities: list[Quantity]
    fresh_quantities: list[Quantity]
    fresh: list[int]
    unanswerable: bool


def read(text: str, own: str = "", said: str = "") -> Question:
    """Read a question: of what stands beside its `own` words, where they are given, an answer needs the names alone.

    `said` is what the user typed, where the question leans on those before it.
    """
    joined, own, new_words = (  # Figures that it supposes go: "since the VAT is 10 %, ...".
        _PREMISE.sub(lambda premise: _FIGURE.sub("", premise[0]), join_initials(_MAY.sub("may", words)))
        for words in (_MINUTES.sub(" minutes", part) for part in (text, own, said))
    )
    words = tokens(joined)
    content = [token for token in words if token.weight]
    terms = tuple(_terms(joined, content, trust_capitals=not joined.isupper()))
    names, joint = _names(joined, content, terms)
    asking = {token.key for token in tokens(own or joined)}
    context = [name for name in names if not any(terms[row].key in asking for row in name)]
    names, joint = ([one for one in some if one not in context] for some in (names, joint))
    # A question that names another place is not asked on this one; a figure of the statement is the asker's own.
    names = names or [name for name in context if all(terms[row].capital for row in name)]
    if any(term.carries for term in terms if term.key in asking):
        weaker = (term._replace(asks=True, weight=CONTEXT_WORD * term.weight) for term in terms)
        terms = tuple(term if term.key in asking else other for term, other in zip(terms, weaker, strict=True))
    # Behind a whole question stand words of those before, which ask for nothing.
    asks_for = own or (said if said and text.startswith(f"{said} ") else joined)
    wants = kinds(asks_for)
    new = {token.key for token in tokens(new_words)}
    fresh = [] if all(term.key in new for term in terms) else [row for row, term in enumerate(terms) if term.key in new]
    return Question(
        text=text,
        terms=terms,
        wants=wants | {"definition"} if _WHAT_IS.search(asks_for) and len(terms) <= _SHORT_SUBJECT else wants,
        codes=frozenset(_CODE.findall(asks_for)),
        names=names,
        sides=(names if len(names) > 1 else []) if _COMPARES.search(joined) else joint,
        quantities=_figures(asks_for),
        fresh_quantities=_figures(said),
        fresh=[row for row in fresh if not terms[row].asks],
        unanswerable=bool(_UNANSWERABLE.search(asks_for)),
    )


def _figures(text: str) -> list[Quantity]:
    """Return the figures of a question; a feast is its day, and "year 2" one of the years of a column."""
    for form, day in _FEASTS.items():
        text = re.sub(rf"\b{form}\b", day, text, flags=re.IGNORECASE)
    text = _FOR_A.sub("for 1 ", _THOUSANDS.sub("", text))
    numbered = [
        Quantity(stem(match[1].lower()), number := float(match[2]), number, *match.span(2))
        for match in _SERIES.finditer(text)
    ]
    places = {figure.start for figure in numbered}
    return [*(figure for figure in quantities(text) if not figure.label and figure.start not in places), *numbered]


def in_words_of(texts: Sequence[str], question: str, similarity: WordSimilarity) -> str:
    """Return the question with each everyday or mistyped word as the texts write it.

    A typing error is what neither the word table nor the texts know, where these hold a word that differs by one letter
    or begins with it; of several the one that they hold most often.
    """
    words = [word for text in texts for word in plain_words(f"{text} {text.replace('-', '')}")]  # "ebike".
    known, stemmed = Counter(words), " ".join(["", *map(stem, words), ""])

    def counts(phrases: Sequence[str]) -> dict[str, int]:
        return {phrase: stemmed.count(" ".join(["", *map(stem, phrase.split()), ""])) for phrase in phrases}

    def is_word(word: str) -> bool:
        return word in _SHORT_FORMS or any(similarity([form], [form]).any() for form in (word, word.removesuffix("s")))

    def neighbour(word: str) -> str | None:
        forms = one_error_away(word) | one_error_away(word.removesuffix("s"))  # "Pilows" for a "pillow".
        begun = {long for long in known if long.startswith(stem(word))}  # "Limos" for "limousines".
        return max(sorted(forms & known.keys() - STOP_WORDS or begun), key=known.__getitem__, default=None)

    return corrected(question, counts, is_word, neighbour)


def written_out(word: str, capital: bool) -> str:
    """Return the word that a short form or the code of a country stands for, else "".

    In small letters a code with a vowel may be another word: "de", "in", "my".
    """
    is_code = capital or not _VOWELS.intersection(word)
    return _SHORT_FORMS.get(word) or (_COUNTRY_OF.get(word, "") if is_code else "")


def join_initials(text: str) -> str:
    """Write an abbreviation with strokes, and a feast, as one word: `B/L` is `BL`, and Good Friday is no Friday."""
    return _INITIALS.sub(lambda found: "".join(part or "" for part in found.groups()), text)


def _terms(text: str, content: list[Token], *, trust_capitals: bool) -> list[Term]:
    found: dict[str, Term] = {}
    asked = {found.start(found.lastindex or 0) for form in (_ASKED, _COUNTED) for found in form.finditer(text)}
    nouns = {gerund.start(1) for gerund in _GERUND.finditer(text)}
    for token in content:
        country = token.key in COUNTRIES
        capital = country or (token.kind == "name" and trust_capitals)
        named = country or (capital and not token.text.isupper())
        asks = (token.key in _FORM_WORDS or token.start in asked) and not named
        share = FORM_WORD if asks else 1.0
        fixed = capital or token.text[0].isdigit() or (fold(token.text) in MONTHS and token.text[0].isupper())
        weight = WEIGHTS["word"] if token.start in nouns else token.weight
        found.setdefault(token.key, Term(token.key, fold(token.text), weight * share, named, capital, asks, fixed))
    return list(found.values())


def _names(text: str, content: list[Token], terms: tuple[Term, ...]) -> tuple[list[list[int]], list[list[int]]]:
    """Return the names and figures of a question, and those among them that commas or "and" join."""
    rows = {term.key: row for row, term in enumerate(terms) if term.fixed and not term.asks}
    found: list[list[int]] = []
    joint: list[list[int]] = []
    end = 0
    for token in content:
        if token.key not in rows:
            continue
        name, between, figure = [rows[token.key]], text[end : token.start], token.text[0].isdigit()
        end = token.end
        if found and not figure and between in _WITHIN_NAME:
            found[-1] += name
            continue
        if found and not figure and _JOINS.fullmatch(between):
            joint += [one for one in (found[-1], name) if not any(one is other for other in joint)]
        found.append(name)
    return found, joint
