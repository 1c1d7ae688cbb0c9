"""Text from outside, made safe for a terminal: no escape sequences, no forged lines, no reversed words."""

import re

# Control characters but tab and line feed, lone surrogates, and the marks that change the direction of text.
_UNPRINTABLE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff"
_ANY = re.compile(f"[{_UNPRINTABLE}]")
_ANY_OR_LINE_END = re.compile(f"[{_UNPRINTABLE}\n]")


def printable(text: str) -> str:
    """Replace what a terminal would obey; each character by itself, so that pieces of a stream need no memory."""
    return _ANY.sub("\N{REPLACEMENT CHARACTER}", text)


def escaped(text: str, *, lines: bool = False) -> str:
    r"""Write the same characters as escapes like \u001b, which JSON reads back; line ends too unless `lines`."""
    pattern = _ANY if lines else _ANY_OR_LINE_END
    return pattern.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
