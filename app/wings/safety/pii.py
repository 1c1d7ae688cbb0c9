"""Find personal data in a text by patterns, checksums and the words beside them, and put its kind in its place."""

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

from chains.ports import Entity, Redacted

BEFORE = 40  # Characters before a number in which words say what it is.
_LEAST_CARD_DIGITS, _PHONE_DIGITS = 13, range(7, 16)
_NRIC_WEIGHTS = (2, 7, 6, 5, 4, 3, 2)
_NRIC_LETTERS = {"S": "JZIHGFEDCBA", "F": "XWUTRQPNMLK", "M": "XWUTRQPNJLK"}
_NRIC_SERIES = {"S": ("S", 0), "T": ("S", 4), "F": ("F", 0), "G": ("F", 4), "M": ("M", 3)}
_IBAN_LENGTHS = range(15, 35)
_LEAST_GROUPS = 4  # Of an address of IP version 6.

_DATE = r"(?:\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|\d{4}[/.-]\d{1,2}[/.-]\d{1,2}|\d{1,2}(?:st|nd|rd|th)? (?:of )?[A-Z][a-z]{2,8},? \d{4}|[A-Z][a-z]{2,8} \d{1,2}(?:st|nd|rd|th)?,? \d{4})"


class Kind(NamedTuple):
    """A kind of personal data.

    Attributes:
        name: What stands for it in the text, in angle brackets.
        pattern: How it is written; the group `value`, where there is one, is what is taken out.
        is_valid: Whether a match really is one: its checksum, its number of digits.
        context: Words that have to stand before it; None needs none.
        unless: Words before it that say that it is something else.
    """

    name: str
    pattern: re.Pattern[str]
    is_valid: Callable[[str], bool] | None = None
    context: re.Pattern[str] | None = None
    unless: re.Pattern[str] | None = None


def digits_of(text: str) -> str:
    return "".join(character for character in text if character in "0123456789")


def is_card(text: str) -> bool:
    """Return whether the digits are those of a payment card: a known first digit, and Luhn's checksum (ISO/IEC 7812)."""
    digits = digits_of(text)
    if len(digits) < _LEAST_CARD_DIGITS or digits[0] not in "23456" or len(set(digits)) == 1:
        return False
    doubled = [int(digit) * 2 if place % 2 else int(digit) for place, digit in enumerate(reversed(digits))]
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0


def is_iban(text: str) -> bool:
    """Return whether the text is an IBAN: two check digits by modulo 97 (ISO 13616)."""
    plain = "".join(text.split()).upper()
    if len(plain) not in _IBAN_LENGTHS:
        return False
    return int("".join(str(int(letter, 36)) for letter in plain[4:] + plain[:4])) % 97 == 1


def is_nric(text: str) -> bool:
    """Return whether the text is a Singapore NRIC or FIN, by its last letter."""
    first, digits, last = text[0].upper(), text[1:-1], text[-1].upper()
    letters, offset = _NRIC_SERIES[first]
    weighed = sum(int(digit) * weight for digit, weight in zip(digits, _NRIC_WEIGHTS, strict=True))
    return _NRIC_LETTERS[letters][(weighed + offset) % 11] == last


def is_ssn(text: str) -> bool:
    """Return whether the number can be one of the US social security: no part is zero, and some areas are not given."""
    digits = digits_of(text)
    area, group, serial = digits[:3], digits[3:5], digits[5:]
    return area not in {"000", "666"} and group != "00" and serial != "0000"


def is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "." in text or "::" in text or text.count(":") >= _LEAST_GROUPS


def is_phone(text: str) -> bool:
    """Return whether there are as many digits as in a telephone number, and they are no date."""
    number = re.split(r"x|ext", text, maxsplit=1)[0]
    return len(digits_of(number)) in _PHONE_DIGITS and not re.fullmatch(rf"{_DATE}(?: .*)?", text.strip())


def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(text, re.IGNORECASE)


_GROUPED = r"(?<![\w.,/-])\(?\+?\d[\d().\- /]{5,20}\d(?: ?(?:x|ext\.?) ?\d{1,6})?(?![\w/-])"
_CALL = _pattern(
    r"\b(?:call\w*|phone\w*|tel(?:ephone)?|mobile|cell(?:phone)?|hp|handphone|whats ?app|fax|reach\w*|ring|dial|sms|text|hotline|"
    r"contact\w*|answer\w* (?:at|on)|number(?! of)|telefon\w*|ph)\b[^\n]{0,30}\Z"
)
_LINE = r"(?=[-\s\\,(]{1,3}(?:office|fax|mobile|home|work|cell|direct)\b)"
_OTHER_NUMBER = _pattern(
    r"\b(?:hs|tariff|heading|commodity|codes?|container\w*|order\w*|permit\w*|b/?l|bill of lading|booking\w*|invoice\w*|shipment\w*|"
    r"consignment\w*|tracking|awb|hawb|mawb|declaration\w*|uen|reference|ref|po|job|postal|zip|vessel|voyage|imo|un|section|clause|"
    r"article|chapter|paragraph|para|step|figure|table|version|release|lot|batch|part|serial|quote|quotation|sku|model)\b"
    r"(?: ?(?:code|no\.?|nos\.?|number|num|ref|id|#))*[\s:#.-]*(?:is|are|was)?[\s:#]*\Z"
)

KINDS: tuple[Kind, ...] = (
    Kind("API_KEY",
         _pattern(r"\b(?:sk|pk|rk)[-_](?:live|test|proj|ant|or)?[-_]?[a-z0-9_-]{16,}|\bgsk_[a-z0-9]{16,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b|"
             r"\bgh[pousr]_[a-z0-9]{20,}|\bgithub_pat_\w{20,}|\bxox[abprs]-[a-z0-9-]{10,}|\bAIza[\w-]{30,}|\bhf_[a-z0-9]{20,}|"
             r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*|\blsv2_\w{20,}|\bglpat-[\w-]{16,}|-----BEGIN [A-Z ]*PRIVATE KEY-----|"
             r"\b(?:api[ _-]?key|access[ _-]?key|secret(?:[ _-]?key)?|auth[ _-]?token|access[ _-]?token|token|passw(?:or)?d|pwd)"
             r"\s*(?:is\s*)?[:=]\s*[\"']?(?=[^\s\"']*[\d_-])[^\s\"',;]{6,}|\bbearer (?=\S*\d)[\w.~+/-]{16,}=*")),
    Kind("EMAIL", _pattern(r"(?<![\w.+-])[\w.!#$%&'*+/=?^`{|}~-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)*\.[a-z]{2,24}\b")),
    Kind("IBAN", _pattern(r"\b[a-z]{2}\d{2}(?: ?[a-z0-9]{4}){2,7}(?: ?[a-z0-9]{1,4})?\b"), is_iban),
    Kind("CREDIT_CARD", _pattern(r"(?<![\w.-])\d(?:[ -]?\d){12,18}(?![\w-])"), is_card),
    Kind("NRIC", _pattern(r"\b[STFGM]\d{7}[A-Z]\b"), is_nric),
    Kind("SSN", _pattern(r"(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])"), is_ssn),
    Kind("SSN", _pattern(r"(?<![\w-])\d{3}[ .]?\d{2}[ .]?\d{4}(?![\w-])"), is_ssn,
         _pattern(r"\b(?:ssn|social security)\b[^\n]{0,25}\Z")),
    Kind("IP_ADDRESS",
         _pattern(r"(?<![\w.:])(?:\d{1,3}(?:\.\d{1,3}){3}|(?=[0-9a-f:]*:[0-9a-f:]*:)[0-9a-f:]{4,39})(?![\w:]|\.\d)"),
         is_address,
         unless=_pattern(r"\b(?:section|clause|article|chapter|paragraph|para|step|heading|annex|rule|item)s?\s*\Z|(?:^|\n)[ #*]*\Z")),
    Kind("PASSPORT", _pattern(r"\b(?=[a-z]{0,2}\d)[a-z]{0,2}\d{6,9}[a-z]?\b"),
         context=_pattern(r"\bpassports?\b(?: ?(?:no\.?|number|num|id|#))*[\s:#,]*(?:is|are)?[\s:#]*\Z")),
    Kind("DRIVER_LICENSE", _pattern(r"\b(?=[a-z]*\d)[a-z]{0,2}\d{5,14}[a-z]?\b"),
         context=_pattern(r"\b(?:driv\w+'?s?|dl) ?(?:licen[cs]e)?(?: ?(?:no\.?|number|num|id|#))*[\s:#,]*(?:is)?[\s:#]*\Z")),
    Kind("DATE_OF_BIRTH", re.compile(rf"(?<!\w){_DATE}(?!\w)"),
         context=_pattern(r"\b(?:born|birth\w*|d\.?o\.?b\.?)\b[^\n]{0,20}\Z")),
    Kind("BANK_ACCOUNT", _pattern(r"(?<![\w.,-])\d(?:[ -]?\d){5,16}(?![\w-])"),
         context=_pattern(r"\b(?:bank (?:account|a/c|acct)|account|acct|a/c)(?: ?(?:no\.?|number|num|#))*[\s:#,]*(?:is|to)?[\s:#]*\Z")),
    Kind("PHONE", _pattern(r"(?<![\w.])\+\d[\d().\- ]{6,18}\d(?: ?(?:x|ext\.?) ?\d{1,6})?(?!\w)"), is_phone),
    Kind("PHONE",
         _pattern(r"(?<![\w.-])\(?(?:001-|1[-. ])?\(?\d{3}\)?[-. ]?\d{3}[-. ]\d{4}(?: ?(?:x|ext\.?) ?\d{1,6})?(?![\w-])"),
         is_phone, unless=_OTHER_NUMBER),
    Kind("PHONE", _pattern(r"(?<![\w.,/-])(?:\(?65\)?[ -])?[689]\d{3}[ -]\d{4}(?![\w/-]| \d)"), is_phone,
         unless=_OTHER_NUMBER),
    Kind("PHONE", _pattern(_GROUPED), is_phone, _CALL, _OTHER_NUMBER),
    Kind("PHONE", _pattern(rf"(?<![\w.,/-])\(?\+?\d[\d().\- ]{{5,20}}\d(?: ?x\d{{1,6}})?{_LINE}"), is_phone,
         unless=_OTHER_NUMBER),
)  # fmt: skip


def find_entities(text: str, kinds: Sequence[Kind] = KINDS) -> list[Entity]:
    """Return the personal data in a text, in order; where two kinds claim the same words, the first has them."""
    found: list[Entity] = []
    plain = text if text.isascii() else "".join(map(_plain, text))
    for kind in kinds:
        for match in kind.pattern.finditer(plain):
            before = plain[max(0, match.start() - BEFORE) : match.start()]
            is_meant = kind.context is None or kind.context.search(before)
            is_other = kind.unless is not None and kind.unless.search(before)
            is_free = all(match.end() <= other.start or other.end <= match.start() for other in found)
            if is_free and is_meant and not is_other and (kind.is_valid is None or kind.is_valid(match[0])):
                found.append(Entity(kind.name, *match.span()))
    return sorted(found, key=lambda entity: entity.start)


def redact(text: str) -> Redacted:
    entities = find_entities(text)
    parts, end = [], 0
    for entity in entities:
        parts += [text[end : entity.start], f"<{entity.kind}>"]
        end = entity.end
    return Redacted("".join([*parts, text[end:]]), list(dict.fromkeys(entity.kind for entity in entities)))


@lru_cache(4096)
def _plain(character: str) -> str:
    """Return the character as the patterns know it: numerals of any script, full width, dashes."""
    if unicodedata.category(character) == "Pd":
        return "-"
    folded = str(unicodedata.decimal(character, "")) or unicodedata.normalize("NFKC", character)
    return folded if len(folded) == 1 else character
