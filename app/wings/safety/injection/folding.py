"""Text -> the forms of it in which an attack may hide: in other letters, spaced out, encoded."""

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import unquote

from chains.safety.cleaning import without_invisible

_BLANKS = re.compile(r"[^\S\n]+")
_LINE_ENDS = re.compile(r"\n(?: ?\n)+")
_TAGS = re.compile("[\U000e0020-\U000e007e]+")
_MARKS = re.compile("[\u0300-\u036f]")
_MIXED = re.compile(r"\b(?=\w*[a-z])(?=\w*[\u0370-\u04ff])\w+\b")
_LEET = re.compile(r"(?<![\w@$])(?=[a-z@$0-9]*[013457@$])(?=[@$0-9]*[a-z])[a-z@$013457]{4,}(?![\w@$])")
# Words that an attack would write with digits.
_TELLING = re.compile(r"ignor|disreg|forget|previ|prior|instruc|prompt|system|reveal|rules|overr|pretend|assist|secret")
_SPACED = re.compile(r"(?<!\w)\w(?:[ .\-_*]\w){5,}(?!\w)")
_SEPARATORS = re.compile(r"[ .\-_*]")
_BASE64 = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){16,}")
_PERCENT = re.compile(r"(?:%[0-9a-fA-F]{2}){3,}")
_ENTITY = re.compile(r"&#?\w{2,8};")
# Letters of other alphabets that look like Latin ones.
_LOOKALIKES = str.maketrans("аеорсухіјѕԁһӏкмтвнαειοκνρτυχ", "aeopcyxijsdhlkmtbhaeiokvptux")
_DIGITS = str.maketrans("013457@$", "oieastas")
LEAST_PRINTABLE = 0.85
MOST_DECODED = 20


def fold(text: str) -> str:
    """Return the text in lower case, in compatible forms, without accents and what nobody sees."""
    untagged = _TAGS.sub(lambda found: f" {''.join(chr(ord(tag) - 0xE0000) for tag in found[0])} ", text)
    shown = without_invisible(untagged)
    if shown.isascii():
        return shown.lower()
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", shown))
    folded = unicodedata.normalize("NFC", plain).casefold()
    return _MIXED.sub(lambda found: found[0].translate(_LOOKALIKES), folded)


def views(text: str) -> Iterator[str]:
    """Yield the folded text, and what it holds in disguise: spaced letters, digits for letters, encoded words."""
    text = _LINE_ENDS.sub("\n\n", _BLANKS.sub(" ", text))  # Else phrases search long white space again and again.
    folded = fold(text)
    yield folded
    spaced = _SPACED.sub(lambda found: _SEPARATORS.sub("", found[0]), folded)
    if spaced != folded:
        yield spaced
    plain = _LEET.sub(_spelt, folded)
    if plain != folded:
        yield plain
    if hidden := "\n".join(_decoded(text)):
        yield fold(hidden)


def _spelt(found: re.Match[str]) -> str:
    word = found[0].translate(_DIGITS)
    return word if _TELLING.search(word) else found[0]


def _decoded(text: str) -> Iterator[str]:
    for run in _BASE64.findall(text)[:MOST_DECODED]:
        padded = run.rstrip("=") + "=" * (-len(run.rstrip("=")) % 4)
        with suppress(binascii.Error, ValueError):
            yield from _text(base64.b64decode(padded, altchars=b"-_" if "-" in run or "_" in run else None))
    for run in _HEX.findall(text)[:MOST_DECODED]:
        yield from _text(bytes.fromhex(run.replace(":", "").replace(" ", "")))
    if _PERCENT.search(text):
        yield unquote(text)
    if _ENTITY.search(text):
        yield html.unescape(text)


def _text(raw: bytes) -> Iterator[str]:
    text = raw.decode("utf-8", errors="ignore")
    letters = sum(character.isalpha() or character.isspace() for character in text)
    if text and len(text.encode()) >= LEAST_PRINTABLE * len(raw) and letters >= LEAST_PRINTABLE * len(text):
        yield text
