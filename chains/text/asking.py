"""Tell what kind of answer a question asks for, and whether a text gives one."""

import re
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Final, Literal

from chains.text.quantities import DIMENSIONS, MEASURES, SINCE, UNITS, quantities
from chains.text.tokens import DAYS, MONTHS, tokens
from chains.text.words import LISTS, one_error_away, stem, word_list

Kind = Literal[
    "phone", "mail", "address", "duration", "count", "share", "money", "number", "date", "who", "where", "definition",
    "verdict", "list", "manner", "exception",
]  # fmt: skip

_UNITS_OF_TIME: Final = r"(?:\w+ )?(?:minutes|hours|days|weeks|months|years)"
_AMOUNTS: Final = (
    "amount|deposit|limit|m(?:ax|in)imum|number|percentage|population|rate|salary|size|tariff|tax|threshold|total|value"
    "|wage|weight"
)
_NAMED: Final = r"^(?!.*\b(?:how|when|why|can|do|does|is|are|will|by|via|an?)\b)(?:[\w'-]+ ){0,4}[\w'-]+"
"""Up to five words without a verb: "claims email"."""
_FORMS: Final[tuple[tuple[Kind, str], ...]] = (
    (
        "phone",
        r"\b(?:tele)?(?:phone|fax) (?:number|no|nr)\b|\btel no\b|\bhotline\b(?! (?:availab|hours|open))"
        rf"|{_NAMED} (?:tele)?phone\W*$",
    ),
    ("mail", rf"\be-?mail address(?:es)?\b|(?<!by )(?<!via )\be-?mail (?:for|of)\b|{_NAMED} e-?mail\W*$"),
    ("address", r"(?<!mail )\baddress(?:es)?\b"),
    ("duration", rf"\bhow (?:long|soon|quick(?:ly)?|fast(?! (?:is|are))|far ahead|many {_UNITS_OF_TIME})\b"),
    ("count", rf"\bhow many (?!{_UNITS_OF_TIME}\b)\w+(?: \w+)?"),
    ("share", r"\bper ?cent(?:age)?\b|\b(?:commission|discount|duty|gst|interest|tax|vat) rates?\b"),
    (
        "money",
        r"(?<!free of )(?<!without )(?<!no )\b(?:price|cost|fee|(?:sur)?charge|premium|fine)s?\b"
        r"(?!(?: \w+)? (?:cover|include|relate[ds]?)\b)"
        r"|\bwhat do (?:i|we) (?:pay|owe)\b"
        r"|\bhow much (?:is|are|was|were|for)\b(?!.*\b(?:weight|load|size|capacity|population|number|percentage|allowed"
        r"|included|left|needed|permitted|required)\b)",
    ),
    (
        "number",
        r"\bhow (?:much|big|tall|far(?! ahead)|high|large|heavy|deep|old)\b"
        rf"|\b(?:what|whats|what's) (?:is|was|are|were)? ?(?:the |our |your )?(?:\w+ ){{0,3}}?"
        rf"(?:{_AMOUNTS})s?\b"
        rf"|\b(?:{_AMOUNTS})s?(?=\s+(?:for|of|on|per)\b|\W*$)",
    ),
    (
        "date",
        rf"{LISTS['when']}|\b(?:what|which|latest) (?:year|date|day|month|time)\b|\bhow (?:often|fast|early|late)\b"
        r"|\b(?:deadline|cut-?off)s?\b",
    ),
    ("who", r"\bwho(?:se|m|s)?\b|\b(?:what|which) (?:person|company|team|actor|actress|singer|band)\b"),
    ("where", r"\bwheres?\b|\b(?:what|which) (?:country|city|place|state|town|part)\b|^(?:location|place|room|venue)$"),
    ("definition", r"\b(?:defin\w+|means?|meaning|stands? for|acronym|abbreviation)\b"),
    ("verdict", r"^\W*(?:can|could|do|does|did|is|are|was|were|will|would|should|must|may|has|have)\b(?!['’])"),
    (
        "list",
        r"^\W*(?:which|list|name)\b|\b(?:types|kinds|examples|ways|steps|docs|documents|documentation|papers|permits"
        r"|requirements|items|options|reasons)\b"
        r"|\bwhat (?:do|must|should) (?:i|we|you) (?:(?:have|need) to )?(?:do|bring|need|prepare|provide|show|take)\b",
    ),
    ("manner", r"\bhow (?:do|does|did|to|can|could|should|would)\b|\bsteps\b"),
    ("exception", rf"^\W*(?:wh\w+|list|name)\b.*(?:\b(?:except|exclu\w+|exempt\w*)\b|{LISTS['negation']})"),
)
_ASKS: Final = {kind: re.compile(form, re.IGNORECASE) for kind, form in _FORMS}
MEASURED: Final[frozenset[Kind]] = frozenset({"duration", "count", "share", "money", "number", "date"})
"""The kinds of answer that a figure or a time stands in."""
# Words for which an amount of money stands.
PRICES: Final = frozenset(map(stem, word_list("charge cost fee fine premium price supplement surcharge")))
LISTED: Final[frozenset[Kind]] = frozenset({"list", "manner"})  # The kinds of answer that are often lists.
OPEN: Final[frozenset[Kind]] = frozenset({"verdict", "definition", *LISTED})
"""The kinds beside which a measure is only mentioned: "Do you charge for it?"."""

_LENGTHS: Final = frozenset({"duration", "working duration", "months", "length", "hours of a day"})
_DATES: Final = frozenset({"date", "day of the year"})
_COINS: Final = frozenset(map(stem, ("cents", "dollars", "euros", "francs", "p", "pence", "pounds")))
_PRODUCTS: Final = frozenset({"x"})  # Of "120 x 80 x 15 cm" the last figure has the unit.
_NO_MONEY: Final = MEASURES | _LENGTHS | _DATES
_MEASURES: Final[Mapping[Kind, Callable[[set[str]], bool]]] = {
    "duration": lambda measures: not measures.isdisjoint(_LENGTHS),
    "share": lambda measures: "%" in measures,
    "money": lambda measures: any(one in _COINS or not any(map(str.islower, one)) for one in measures),
}
ROLES: Final = word_list(LISTS["roles"])
"""Words for who does something: as good as a name where one asks who."""
_MONTHS: Final = "|".join(month.title() for month in MONTHS)
PLACES: Final = re.compile(r"\b(?:at|in|near|on) (?:the )?[A-Z]\w+(?:[ -][A-Z]\w+)*")
_CLOCK: Final = re.compile(r"(?:^|[:(–-] ?)\d{1,2}:\d\d\b")
_NO_DAY: Final = rf"(?!(?:{'|'.join(day.title() for day in DAYS)}|{_MONTHS})s?\b)"
_GIVES: Final[Mapping[Kind, re.Pattern[str]]] = {
    "phone": re.compile(r"\d(?:[\s()/.-]{0,2}\d){5,}"),
    "mail": re.compile("@"),
    "address": re.compile(
        r"@|https?://|www\.|\b(?:Street|Road|Avenue|Lane|Square|Drive|Quay|Boulevard|P\.? ?O\.? Box)\b"
        r"|stra(?:\u00df|ss)e\b"
        r"|\b\d{1,4}[a-z]? [A-Z]\w+(?: [A-Z]\w+)*, |, \d{4,5}\b|\b\d{5} [A-Z]|\b[A-Z]{1,2}\d{1,2}[A-Z]? \d[A-Z]{2}\b"
    ),
    "duration": re.compile(
        r"\b(?:no(?= \w)|not|never|unlimited|until|till|as (?:soon|long|quickly)|immediate(?:ly)?|instant(?:ly)?"
        r"|at once|within|during|straight away|overnight|depend(?:s|ing)?|var(?:y|ies)|before|after|upon"
        r"|(?:second|minute|hour|day|week|month|year)s?)\b",
        re.IGNORECASE,
    ),
    "money": re.compile(r"\b(?:free|included|waived|no (?:charge|cost|fee)s?)\b", re.IGNORECASE),
    "number": re.compile(r"\b(?:half|none|hundred|thousand|million)\b", re.IGNORECASE),
    "date": re.compile(
        r"\b1\d\d\d\b|\b20\d\d\b|\b\d{1,2}:\d\d\b|\b(?:minute|hour|day|week|month|year|decade|centur)(?:s|y|ies)?\b"
        rf"|(?:\d|\b(?:in|of|by|from|to|until|till|since|every|each|and|or|late|early|mid)|[,(])[ -]"
        rf"(?:{_MONTHS})\b|^(?:{_MONTHS})\b|\b(?:{_MONTHS}) \d"
        r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)(?:s|nes|rs|ur)?(?:day)?\b"
        r"|\b(?:daily|weekly|monthly|annual(?:ly)?)\b"
        r"|\b(?:morning|noon|midnight|afternoon|evening|o'clock)\b|\b\d{1,2} ?[ap]\.?m\b"
    ),
    "who": re.compile(
        rf"(?<=[a-z0-9,;:)] ){_NO_DAY}[A-Z][a-z]+|\b{_NO_DAY}[A-Z][\w.]+ {_NO_DAY}[A-Z]"
        rf"|\b(?:[Aa]n?|[Tt]he|[Ee](?:ach|very)|[Yy]?[Oo]ur|[Bb]y|[Aa]ny|[Aa]ll|[Oo]nly) "
        rf"(?:[\w-]+ ){{0,2}}?(?:{'|'.join(ROLES)})s?\b|\b(?:{'|'.join(ROLES)})['\u2019]s "
    ),
    "where": re.compile(rf"\b(?:in|at|on|near|from|to|of) (?:the )?{_NO_DAY}[A-Z]|{LISTS['where']}"),
    "definition": re.compile(r"\b(?:is|are|means?|stands for|refers to)\b"),
    "verdict": re.compile(LISTS["verdict"], re.IGNORECASE),
    "exception": re.compile(rf"\b(?:except|exclu\w+|exempt\w*|unless)\b|{LISTS['negation']}", re.I),
}  # fmt: skip
_PART_OF_PRICE: Final = re.compile(
    r"(?::|\bpay|\bcosts?) (?:nothing|(?:a )?(?:half|quarter|third)|all of it)\b"
    r"|\b(?:half|quarter|third|whole|full|all)(?: of)?(?: the)? (?:amount|cost|fee|price|sum)\b",
    re.IGNORECASE,
)
STRICT: Final[tuple[Kind, ...]] = ("phone", "mail", "address", "duration", "count", "share", "money")
"""Kinds whose figures have a measure by which another kind is told: the first that is asked for counts."""


@lru_cache(maxsize=1024)
def kinds(question: str) -> frozenset[Kind]:
    """Return the kinds of answer that the form of a question asks for."""
    asked = {kind for kind, form in _ASKS.items() if form.search(question)}
    return frozenset(asked - {"number"} if asked & {"duration", "date", "money"} else asked)


def is_measured(wanted: Collection[Kind]) -> bool:
    """Return whether only a figure or a time answers."""
    return not MEASURED.isdisjoint(wanted) and OPEN.isdisjoint(wanted)


def fits(text: str, wanted: Collection[Kind], question: str) -> float:
    """Return 1 where a statement is of a kind that is wanted, -1 where it would have to be and is not, else 0."""
    given = {_gives(kind, text, question) for kind in wanted if kind in _GIVES or kind in STRICT}
    if True in given:
        return 1.0
    return -1.0 if given == {False} and "exception" not in wanted and OPEN.isdisjoint(wanted) else 0.0


def gives_what_is_asked(text: str, question: str) -> bool:
    """Return False if a text gives figures of another kind: TEU for ships, an address for a telephone number."""
    return fits(text, kinds(question).intersection(STRICT), question) >= 0


def _gives(kind: Kind, text: str, question: str) -> bool | None:
    """Return whether a text gives an answer of a kind; None where no figure would tell, or none has its unit.

    A clock's time is also a length, as of a song, but no number of days.
    """
    form = _GIVES.get(kind)
    if kind == "number":
        asked_for = {measure for word, measure in DIMENSIONS.items() if measure and f"how {word} " in question.lower()}
        measures = {one.measure for one in quantities(text) if not one.label} - {"date"}
        if measures & (asked_for | {"", *_PRODUCTS} if asked_for else measures):
            return True
    if kind not in STRICT[3:]:
        return bool(form and form.search(text))
    known = {(one.measure, one.low, one.high) for one in quantities(question)}
    figures = [one for one in quantities(text) if not one.label and (one.measure, one.low, one.high) not in known]
    measures = {one.measure for one in figures if not SINCE.search(text, 0, one.start)} - _PRODUCTS
    if not measures:
        is_open = kind == "money" and "how much" not in question.lower()
        return bool(form.search(text)) or (None if is_open else False) if form else None
    if kind == "duration" and form:  # "Until 31 March"; a song of 3:45.
        is_long, is_dated = "how long" in question.lower(), not measures.isdisjoint(_DATES)
        if (is_dated and (not is_long or form.search(text))) or (is_long and _CLOCK.search(text)):
            return True
    if kind in _MEASURES:
        is_open = "" in measures or (kind == "money" and bool(_PART_OF_PRICE.search(text)))
        return _MEASURES[kind](measures) or (None if is_open else False)
    asked = _ASKS["count"].search(question)
    nouns = asked[0].split()[2:] if asked else []
    keys = {word.key for word in tokens(" ".join(nouns))}
    is_time = any(not UNITS.keys().isdisjoint(one_error_away(noun)) for noun in nouns)  # With a slip of the pen.
    return is_time or not all(one not in keys and (one in _NO_MONEY or one == "%" or one.isupper()) for one in measures)
