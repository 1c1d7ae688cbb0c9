"""Find personal data in a text by patterns, checksums and the words beside them, and put its kind in its place."""

import ipaddress
import re
import unicodedata
from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

from chains.ports import Entity, Redacted
from chains.text.pattern_file import read_patterns

BEFORE = 40  # Characters before a number in which words say what it is.
_LEAST_CARD_DIGITS, _PHONE_DIGITS = 13, range(7, 16)
_NRIC_WEIGHTS = (2, 7, 6, 5, 4, 3, 2)
_NRIC_LETTERS = {"S": "JZIHGFEDCBA", "F": "XWUTRQPNMLK", "M": "XWUTRQPNJLK"}
_NRIC_SERIES = {"S": ("S", 0), "T": ("S", 4), "F": ("F", 0), "G": ("F", 4), "M": ("M", 3)}
_IBAN_LENGTHS = range(15, 35)
_LEAST_GROUPS = 4  # Of an address of IP version 6.

_FRAGMENTS, _BLOCKS = read_patterns(__package__, "personal_data.txt")


class Kind(NamedTuple):
    """A kind of personal data: its name stands for it in the text, and `value` of its pattern is what is taken out.

    `is_valid` checks a match by its checksum or number of digits. The words before it have to match `context`, and must
    not match `unless`.
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
    return len(digits_of(number)) in _PHONE_DIGITS and not re.fullmatch(rf"{_FRAGMENTS['DATE']}(?: .*)?", text.strip())


CHECKS = {check.__name__: check for check in (is_card, is_iban, is_nric, is_ssn, is_address, is_phone)}


def _kind(name: str, check: str = "", *around: str, pattern: str) -> Kind:
    before = (re.compile(_FRAGMENTS[words], re.IGNORECASE) if words else None for words in around)
    return Kind(name, re.compile(pattern, re.IGNORECASE), CHECKS.get(check), *before)


KINDS = tuple(_kind(*head.split("; "), pattern=pattern) for head, pattern in _BLOCKS)


def find_entities(text: str) -> list[Entity]:
    """Return the personal data in a text, in order; where two kinds claim the same words, the first has them."""
    found: list[Entity] = []
    plain = text if text.isascii() else "".join(map(_plain, text))
    for kind in KINDS:
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
