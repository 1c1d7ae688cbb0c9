"""Escape document text before it enters a prompt, so that it cannot pass for the prompt's own structure."""

import re
import unicodedata

# Characters that show nothing but belong to neither the separators, the control and format characters nor the marks.
_BLANK_LETTERS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_OPENING_BRACKETS = frozenset("[\uff3b【\u3014\u301a\u27e6")
_AFTER_OPENING = re.compile("[<\uff1c\ufe64]([^<\uff1c\ufe64]*)")


def one_line(text: object) -> str:
    """Return the text on one line: white space and control characters become single blanks, format characters go."""
    kinds = ((character, unicodedata.category(character)) for character in str(text))
    return " ".join("".join(" " if kind == "Cc" else character for character, kind in kinds if kind != "Cf").split())


def escape_brackets(text: str) -> str:
    """Put a backslash before every square bracket and backslash."""
    return re.sub(r"[\\\[\]]", r"\\\g<0>", text)


def escape_line_starts(text: str) -> str:
    """Escape the bracket that opens a line, and write every line end of Unicode as a line feed.

    Blanks and invisible characters before the bracket do not hide it.
    """
    return "\n".join(map(_escape_line_start, text.splitlines()))


def _escape_line_start(line: str) -> str:
    for place, character in enumerate(line):
        if character in _OPENING_BRACKETS:
            return f"{line[:place]}\\{line[place:]}"
        if not _is_blank(character):
            break
    return line


def _is_blank(character: str) -> bool:
    """Return whether a character shows nothing where it begins a line."""
    return unicodedata.category(character)[0] in "CMZ" or character in _BLANK_LETTERS


def escape_tag(text: str, name: str) -> str:
    """Write `<` as `&lt;` where it opens or closes a tag of that name, however it is spaced, cased or typeset."""

    def escaped(found: re.Match[str]) -> str:
        return f"&lt;{found[1]}" if _letters(found[1]).startswith(name) else found[0]

    return _AFTER_OPENING.sub(escaped, text)


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(letter for letter in folded if letter.isalpha() and letter not in _BLANK_LETTERS)
