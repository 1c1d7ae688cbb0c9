"""Reduce a text to its letters and digits, or to what a reader sees: no invisible characters, plain lookalikes."""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

_OTHERS = re.compile(r"[\W_]+")
# Letters of other alphabets, and small capitals, that look like Latin letters.
_LOOKALIKES: Final = str.maketrans(
    "аеорсухіјѕԁһӏкмтвнпгαειοκνρτυχηɩıɪɴᴛᴇʀᴀʟոս", "aeopcyxijsdhlkmtbhnraeiokvptuxniiinteralnu"
)
# Shown as nothing or as a blank, though they count as letters or signs.
_BLANK_LETTERS: Final = dict.fromkeys(map(ord, "\u115f\u1160\u2800\u3164\uffa0"))
# Letters and digits that only careful readers can distinguish.
_ALIKE: Final = str.maketrans("i1|!0345@$", "lllloeasas")


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


def visible(text: str) -> str:
    """Return the text in compatibility form (wide letters made plain), without format characters."""
    if text.isascii():
        return text
    return "".join(letter for letter in unicodedata.normalize("NFKC", text) if unicodedata.category(letter) != "Cf")


def folded(text: str) -> str:
    """Return the text in lower case and plain letters, without accents and invisible characters."""
    if text.isascii():
        return text.lower()
    marked = unicodedata.normalize("NFKD", text.translate(_BLANK_LETTERS))
    shown = (letter for letter in marked if unicodedata.category(letter) not in {"Cf", "Mn", "Me"})
    return unicodedata.normalize("NFC", "".join(shown)).casefold().translate(_LOOKALIKES)


@lru_cache(maxsize=1 << 12)
def skeleton(text: str) -> str:
    """Return the letters and digits of a name, with those that look alike made equal."""
    return _OTHERS.sub("", folded(text).translate(_ALIKE)).replace("rn", "m")
