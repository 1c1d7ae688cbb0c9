"""The letters and digits of a text: what stays the same when it is set in other type, with other spaces and signs."""

import re
import unicodedata
from collections.abc import Iterator

_OTHERS = re.compile(r"[\W_]+")


def letters(text: str) -> str:
    """Return the letters and digits of a text, case folded, without anything between them."""
    return _OTHERS.sub("", unicodedata.normalize("NFKC", text).casefold())


def placed_letters(text: str) -> Iterator[tuple[str, int]]:
    """Yield each letter or digit as in `letters`, and the place of the character that it comes from.

    One character may be several letters: a ligature, a sharp s.
    """
    for place, character in enumerate(text):
        if character.isascii():
            if character.isalnum():
                yield character.lower(), place
            continue
        for letter in letters(character):
            yield letter, place
