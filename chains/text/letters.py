"""Reduce a text to what a reader sees, or escape it so that it cannot pass for the structure of a prompt."""

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
_BLANK_LETTERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_NO_BLANK_LETTERS: Final = dict.fromkeys(map(ord, _BLANK_LETTERS))
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
    marked = unicodedata.normalize("NFKD", text.translate(_NO_BLANK_LETTERS))
    shown = (letter for letter in marked if unicodedata.category(letter) not in {"Cf", "Mn", "Me"})
    return unicodedata.normalize("NFC", "".join(shown)).casefold().translate(_LOOKALIKES)


@lru_cache(maxsize=1 << 12)
def skeleton(text: str) -> str:
    """Return the letters and digits of a name, with those that look alike made equal."""
    return _OTHERS.sub("", folded(text).translate(_ALIKE)).replace("rn", "m")


_OPENING_BRACKETS = frozenset("[\uff3b【\u3014\u301a\u27e6")
_AFTER_OPENING = re.compile("[<\uff1c\ufe64]([^<\uff1c\ufe64]*)")


def one_line(text: object) -> str:
    """Return the text on one line: white space and control characters become single blanks, format characters go."""
    line = str(text)
    if not line.isprintable():
        kinds = ((character, unicodedata.category(character)) for character in line)
        line = "".join(" " if kind == "Cc" else character for character, kind in kinds if kind != "Cf")
    return " ".join(line.split())


def escape_brackets(text: str) -> str:
    """Put a backslash before every square bracket and backslash."""
    return re.sub(r"[\\\[\]]", r"\\\g<0>", text)


def escape_line_starts(text: str) -> str:
    """Escape the bracket that opens a line, and write every line end of Unicode as a line feed.

    Blanks and invisible characters before the bracket do not hide it.
    """
    lines = []
    for line in text.splitlines():
        kinds = enumerate(map(unicodedata.category, line))
        seen = (place for place, kind in kinds if kind[0] not in "CMZ" and line[place] not in _BLANK_LETTERS)
        place = next(seen, len(line))
        is_bracket = line[place : place + 1] in _OPENING_BRACKETS
        lines.append(f"{line[:place]}\\{line[place:]}" if is_bracket else line)
    return "\n".join(lines)


def escape_tag(text: str, name: str) -> str:
    """Write `<` as `&lt;` where it opens or closes a tag of that name, however it is spaced, cased or typeset."""

    def escaped(tag: re.Match[str]) -> str:
        plain_letters = unicodedata.normalize("NFKC", tag[1]).casefold()
        shown = "".join(letter for letter in plain_letters if letter.isalpha() and letter not in _BLANK_LETTERS)
        return f"&lt;{tag[1]}" if shown.startswith(name) else tag[0]

    return _AFTER_OPENING.sub(escaped, text)


_LINK = re.compile(r"\\?!?\[([^\[\]\n]{0,300})\]\([^()\s]{0,600}\)")
_TAG = re.compile(r"</?[A-Za-z][^<>\n]{0,120}>")
_EMPHASIS = re.compile(
    r"\*\*+|~~+|`+|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)|(?<![\w*])\*(?=[\w\"'(])|(?<=[\w.!?:)\"'])\*(?![\w*])"
)
_ESCAPE = re.compile(r"\\([\\`*_{}\[\]()#+\-.!|<>~])")
_QUOTED = re.compile(r"\n\s*(?:>\s?)+")
_MARKS = frozenset("*_`~[<\\")


def plain(markdown: str) -> str:
    """Strip markdown's marks and keep its words, on one line."""
    text = _QUOTED.sub(" ", markdown) if ">" in markdown else markdown
    if not _MARKS.isdisjoint(text):
        text = _TAG.sub(" ", _LINK.sub(r"\1", text))
        text = _ESCAPE.sub(r"\1", _EMPHASIS.sub("", text))
    return " ".join(text.split())


LONGEST_HEADING: Final = 120
_MARKUP: Final = re.compile(r"[][*_`#<|~\\]")


def heading(text: str) -> str:
    """Return a text on one line and without markup, as a heading; a long one ends with a whole word."""
    plain = _MARKUP.sub("", one_line(text)).strip()
    plain = plain[:1].upper() + plain[1:]
    return plain if len(plain) <= LONGEST_HEADING else f"{plain[:LONGEST_HEADING].rsplit(maxsplit=1)[0]} …"
