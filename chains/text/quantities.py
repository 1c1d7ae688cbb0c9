"""Read the quantities of a text: figures with their units in one measure, times of day and dates, as intervals."""

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from chains.text.tokens import MONTHS, ORDINALS, Token, tokens
from chains.text.words import LISTS, word_set

Bound = Literal["exact", "most", "least", "about"]


class Quantity(NamedTuple):
    """A figure or a date: its measure, the interval that it names, and its place (`text[start:end]`).

    The interval is in the measure's base unit: minutes of duration, months, grams, millimetres, litres, days of the
    calendar. `most` and `least` are bounds ("up to 5 days"), `about` is an estimate. A `label` numbers something
    ("step 3").
    """

    measure: str
    low: float
    high: float
    start: int
    end: int
    bound: Bound = "exact"
    label: bool = False

    def contradicts(self, other: "Quantity") -> bool:
        """Return whether both cannot hold for one thing; estimates and other measures contradict nothing."""
        if self.measure != other.measure or "about" in {self.bound, other.bound}:
            return False
        if self.measure == "hours of a day" or (self.bound == other.bound != "exact"):
            return (self.low, self.high) != (other.low, other.high)
        mine, theirs = self._allowed(), other._allowed()
        return mine[1] < theirs[0] or theirs[1] < mine[0]

    @property
    def kind(self) -> str:
        """Return the measure; working days are days."""
        return self.measure.removeprefix("working ")

    @property
    def is_range(self) -> bool:
        return self.low < self.high or self.bound in {"most", "least"}

    def equals(self, other: "Quantity") -> bool:
        """Return whether both name one value of one measure, whatever their bounds."""
        return (self.measure, self.low, self.high) == (other.measure, other.low, other.high)

    def holds(self, other: "Quantity") -> bool:
        """Return whether the interval or bound holds another figure."""
        low, high = self._allowed()
        return low <= other.low and other.high <= high

    def _allowed(self) -> tuple[float, float]:
        low = float("-inf") if self.bound == "most" else self.low
        return low, float("inf") if self.bound == "least" else self.high


UNITS: Final[dict[str, tuple[str, float]]] = {
    unit: (measure, factor)
    for measure, named in {
        "duration": {"second seconds sec": 1 / 60, "minute minutes min mins": 1.0, "hour hours hr hrs h": 60.0}
        | {"day days night nights": 1440.0, "week weeks": 10080.0},
        "months": {"month months": 1.0, "year years yr yrs yo": 12.0},
        "mass": {"g gram grams": 1.0, "kg kilo kilos kilogram kilograms": 1e3, "t ton tons tonne tonnes": 1e6},
        "length": {"mm millimetre millimetres": 1.0, "cm centimetre centimetres": 10.0}
        | {"m metre metres meter meters": 1e3, "km kilometre kilometres": 1e6},
        "volume": {"ml millilitre millilitres": 1e-3, "l litre litres liter liters": 1.0, "cbm": 1e3},
        "data": {"mb": 1.0, "gb": 1e3, "tb": 1e6},
    }.items()
    for units, factor in named.items()
    for unit in units.split()
}
MEASURES: Final = frozenset(measure for measure, _ in UNITS.values())
_KINDS_OF_DAYS: Final = {"working": "working ", "business": "working ", "office": "working "}
_SKIPPED: Final = word_set("calendar consecutive full whole more further additional extra")
_IN_SPACE: Final = re.compile(r"[23]d\b", re.IGNORECASE)  # "3D" is no number of things.
DIMENSIONS: Final = {"deep": "length", "heavy": "mass", "high": "", "long": "", "tall": "length", "wide": "length"}
"""Words for a dimension, each with its measure; a fee is high as well, and a day long."""
_CURRENCIES: Final = {"S$": "SGD", "US$": "USD", "RM": "MYR", "Rp": "IDR", "€": "EUR", "£": "GBP", "A$": "AUD"}
_MOST: Final = re.compile(LISTS["most"])
_LEAST: Final = re.compile(LISTS["least"])
_ABOUT: Final = re.compile(LISTS["roughly"])
_OR_MORE: Final = re.compile(r"\s?(?:\+|(?:or|and) (?:more|over|above|longer|up|older|upwards))")
_OR_LESS: Final = re.compile(r"\s?(?:or|and) (?:less|fewer|below|under|shorter|younger)\b")
# "Up to 24 hours before arrival" names the last moment: an earlier one is farther from the arrival.
_UNTIL: Final = re.compile(r"\b(?:up to|until|by|(?:no|not) later than)\s*$")
_LATER: Final = re.compile(r"\blater than\s*$")
_AHEAD: Final = re.compile(r"\s(?:before|prior to|ahead of|in advance)\b")
_TYPED: Final = "aud|cad|chf|cny|eur|gbp|hkd|idr|inr|jpy|myr|nzd|php|sgd|thb|usd|vnd"  # No words in small letters.
_BEFORE: Final = re.compile(rf"(?:([A-Z]{{0,3}}[$€£¥])\s?|\b([A-Z]{{3}}|RM|Rp|{_TYPED})\.?\s?)$")
_BEHIND: Final = re.compile(
    rf"[*†¹²³⁰⁴-⁹]*\s?(?:(?P<percent>%|per ?cent\b)|(?P<currency>(?:[A-Z]{{3}}|{_TYPED})\b|€|£)|° ?(?P<degrees>[CF])\b)"
)
_AGE: Final = re.compile(LISTS["age"], re.IGNORECASE)
_LABELS: Final = word_set(LISTS["labels"])
_DIALLED: Final = word_set("call dial ring phone")  # "Call 112", but "call 20 minutes ahead".
LONGEST_WAIT: Final = 99
JOINS: Final = re.compile(r"\s*(?:-|–|—|to|and|until|through)\s*(?:[A-Z]{0,3}[$€£¥]\s?|[A-Z]{3}\s)?$", re.IGNORECASE)
_GERMAN: Final = {"m\u00e4r": "mar", "mai": "may", "okt": "oct", "dez": "dec"}  # The others begin as in English.
_MONTH: Final = (
    rf"(?P<month>{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?"
    r"|(?:januar|februar|m\u00e4rz|mai|juni|juli|oktober|dezember)\b)"
)
_DATE: Final = re.compile(
    r"\b(?P<iso>(?:19|20)\d\d-\d\d-\d\d)\b|\b(?P<numeric>\d{1,2}[./]\d{1,2}[./](?:19|20)\d\d)\b"
    rf"|\b(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.(?!\smay))?(?: of)?\s)?{_MONTH}"
    r"(?:\s(?P<late>\d{1,2})(?:st|nd|rd|th)?\b(?!\s?[:%]))?(?:,?\s(?P<year>(?:19|20)\d\d)\b)?",
    re.IGNORECASE,
)
_ORDINAL: Final = re.compile(r"\d+(?:st|nd|rd|th| of)\b")
_YEAR: Final = re.compile(r"(?:19|20)\d\d$")
_CLOCK: Final = re.compile(r"\b(\d{1,2})(?::(\d\d))?\s?([ap]\.?m\b\.?)|\b([01]?\d|2[0-4]):(\d\d)\b", re.IGNORECASE)
_PART_OF_HOUR: Final = re.compile(r"(?<!and )(?<!and a )\b(?:(half)|quarter)(?: of)?(?:[ -]an?)?[ -]hours?\b", re.I)
_HOURS: Final = tuple(re.compile(rf"\s*(?:-|–|—|to|until{joins})\s*") for joins in ("", "|and"))
SINCE: Final = re.compile(r"\b(?:since|as of|effective|in force since|with effect from)\W*$", re.IGNORECASE)
"""What stands before the date from which something holds."""
_ORDINARY: Final = re.compile(r"\d*(?:\.\d+)?$")


@lru_cache(maxsize=1 << 12)
def quantities(text: str) -> tuple[Quantity, ...]:
    parts = ((30 if found[1] else 15, *found.span()) for found in _PART_OF_HOUR.finditer(text))
    lengths = (Quantity("duration", minutes, minutes, start, end) for minutes, start, end in parts)
    timed = sorted([*_dates(text), *_times(text), *lengths], key=lambda one: one.start)
    words = tokens(text)
    plain = [
        place
        for place, word in enumerate(words)
        if word.kind == "number"
        and word.text.lower() not in ORDINALS
        and _ORDINARY.match(word.key)
        and not any(one.start <= word.start < one.end for one in timed)
    ]
    figures = _ranges(text, [_figure(text, words, place) for place in plain])
    return tuple(sorted([*timed, *figures], key=lambda one: one.start))


def _dates(text: str) -> Iterator[Quantity]:
    for match in _DATE.finditer(text):
        year, day = match["year"], int(match["day"] or match["late"] or 0)
        is_numeric = match["iso"] or match["numeric"]
        is_verb = match["month"] == "may" and not _ORDINAL.match(match[0])
        if not is_numeric and not year and (not day or is_verb):
            continue  # "March" alone, or the verb "may".
        measure = "date" if year or is_numeric else "day of the year"
        try:
            if match["iso"]:
                first = last = date.fromisoformat(match["iso"])
            elif match["numeric"]:  # The day stands first, but where it would be no month: "12/31/2026".
                number, month, of_year = map(int, re.split(r"[./]", match["numeric"]))
                first = last = date(of_year, *((month, number) if month <= len(MONTHS) else (number, month)))
            else:
                named = match["month"][:3].lower()
                named = _GERMAN.get(named, named)
                month = next(number for number, name in enumerate(MONTHS, 1) if name.startswith(named))
                first = date(int(year or 2000), month, day or 1)
                last = first.replace(day=day or monthrange(first.year, month)[1])
        except ValueError:
            continue
        start, end = match.span()
        yield Quantity(measure, first.toordinal(), last.toordinal(), start, end, _bound(text, start, end))


def _times(text: str) -> Iterator[Quantity]:
    """Yield the times of day, in minutes; two that are joined are the hours of a day."""
    matches = list(_CLOCK.finditer(text))
    while matches:
        first = matches.pop(0)
        between = "between" in text[max(0, first.start() - 12) : first.start()].lower()
        if matches and _HOURS[between].fullmatch(text, first.end(), matches[0].start()):
            last = matches.pop(0)
            yield Quantity("hours of a day", _minutes(first), _minutes(last), first.start(), last.end())
        else:
            yield Quantity("time of day", _minutes(first), _minutes(first), first.start(), first.end())


def _minutes(match: re.Match[str]) -> int:
    if not match[3]:
        return 60 * int(match[4]) + int(match[5])
    return 60 * (int(match[1]) % 12 + 12 * (match[3][0] in "pP")) + int(match[2] or 0)


def _figure(text: str, words: Sequence[Token], place: int) -> Quantity:
    word = words[place]
    value, start, end = float(word.key), word.start, word.end
    name = words[place - 1].text.lower() if place else ""
    is_code = text[max(0, start - 1) : start].isalpha() and text[start - 1] != "x"  # "H2", but "120x80".
    is_code |= _IN_SPACE.match(text, start) is not None
    label = is_code or name in _LABELS or (name in _DIALLED and value > LONGEST_WAIT)
    if behind := _BEHIND.match(text, word.end):
        name = behind["currency"] and _CURRENCIES.get(behind["currency"], behind["currency"].upper())
        measure = "%" if behind["percent"] else name or "temperature"
        return Quantity(measure, value, value, start, behind.end(), _bound(text, start, behind.end()))
    if before := _BEFORE.search(text, max(0, start - 5), start):
        name = before[1] or before[2]
        start = before.start()
        return Quantity(_CURRENCIES.get(name, name.upper()), value, value, start, end, _bound(text, start, end))
    if _YEAR.match(word.text) and not label and (place + 1 == len(words) or words[place + 1].text not in UNITS):
        first, last = (date(int(word.text), *day).toordinal() for day in ((1, 1), (12, 31)))
        return Quantity("date", first, last, start, end, _bound(text, start, end))
    measure, factor, end = _unit(text, words, place)
    if measure not in MEASURES and start in _ages(text):
        measure, factor, end = *UNITS["years"], word.end
    return Quantity(measure, value * factor, value * factor, start, end, _bound(text, start, end), label)


@lru_cache(maxsize=64)
def _ages(text: str) -> set[int]:
    return {found.start(group) for found in _AGE.finditer(text) for group in range(1, 5)}


def _unit(text: str, words: Sequence[Token], place: int) -> tuple[str, float, int]:
    """Return what a figure counts, what it is multiplied with, and where its unit ends."""
    kind, end = "", words[place].end
    for word in words[place + 1 : place + 4]:
        between = text[end : word.start]
        if between.strip(" -()*†¹²³⁰⁴⁵⁶⁷⁸⁹") or word.text.lower() in DIMENSIONS:
            break
        plain, end = word.text.lower(), word.end
        if plain in _KINDS_OF_DAYS:
            kind = _KINDS_OF_DAYS[plain]
        elif plain == "cubic":
            return "volume", 1e3, end
        elif plain in UNITS and (word.text.islower() or word.text in {"MB", "GB", "TB", "CBM"}):
            measure, factor = UNITS[plain]
            return kind + measure, factor, end
        elif word.kind not in {"stop", "number"} and plain not in _SKIPPED:
            return word.key, 1, end
        elif word.kind in {"stop", "number"} and word.key != words[place].key:  # "Three (3) minutes".
            break
    return "", 1, words[place].end


def _bound(text: str, start: int, end: int) -> Bound:
    before = text[max(0, start - 40) : start].lower()
    if _UNTIL.search(before) and _AHEAD.match(text, end):
        return "least"
    is_late = _LATER.search(before) and _AHEAD.match(text, end)
    if is_late or _MOST.search(before) or _OR_LESS.match(text, end):
        return "most"
    if _OR_MORE.match(text, end) or _LEAST.search(before):
        return "least"
    return "about" if _ABOUT.search(before) else "exact"


def _ranges(text: str, figures: list[Quantity]) -> Iterator[Quantity]:
    """Yield the figures, two that are joined as one range: "3 to 5 days", "between 3 and 5 days"."""
    while figures:
        first = figures.pop(0)
        if not figures or not _is_range(text, first, figures[0]):
            yield first
            continue
        last = figures.pop(0)
        low, measure = first.low, last.measure or first.measure
        if last.measure and first.measure != last.measure:  # The unit stands behind the last alone.
            digits = re.search(r"\d[\d,.]*", text[last.start : last.end])
            written = float(digits[0].replace(",", "").rstrip(".")) if digits else 1.0
            low *= last.high / (written or 1.0)
        low, high = min(low, last.high), max(low, last.high)
        yield last._replace(measure=measure, low=low, high=high, start=first.start, bound=first.bound)


def _is_range(text: str, first: Quantity, last: Quantity) -> bool:
    digits = re.match(r"\D{0,5}[\d.,]*\d|\w+", text[first.start :])
    gap = text[first.start + (digits.end() if digits else 0) : last.start]
    alone = first.measure in {"", last.measure} or not last.measure
    between = "between" in text[max(0, first.start - 12) : first.start].lower()
    joined = JOINS.fullmatch(gap) or JOINS.fullmatch(text[first.end : last.start])
    return bool(alone and joined and first.high != last.high and (between or "and" not in gap.lower()))
