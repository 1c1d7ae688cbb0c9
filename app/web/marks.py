"""Mark quoted words in sanitised HTML, also where they cross elements."""

import re
from collections.abc import Iterator
from html import escape, unescape
from itertools import takewhile

from chains.text.letters import letters, placed_letters

MARK_ID = "quote"
_TAG = r'<(?:"[^"]*"|[^>"])*>'
_TAGS = re.compile(f"({_TAG})")
_PIECE = re.compile(rf"(?P<tag>{_TAG})|(?P<entity>&#?\w+;)|(?P<text>[^<&]+|[<&])")
_CUT_ENTITY = re.compile(r"&[^;]*\Z")
_AFTER = re.compile(r"[\W_]*\Z")
# Fewer letters of a line stand in too many places.
FEWEST_LETTERS = 12


def mark(html: str, quote: str, *, skip: int = 0, anchored: bool = True) -> tuple[str, bool]:
    """Return the HTML with the quoted words in `<mark>`, and whether they were found.

    Letters and digits have to be the same; spaces, punctuation and elements between them may differ. Where the whole
    is not found, those of its lines are marked that are.

    Args:
        html: What the sanitiser returned: every attribute is quoted, every `<` of the text is escaped.
        quote: The words as they are shown, without markup.
        skip: How many earlier places with the same words are not meant.
        anchored: Whether the first mark has an id.
    """
    shown, places = _letters(html)
    found = _find(shown, letters(quote), skip)
    ranges = [(found, quote)] if found else list(_lines(shown, quote))
    first = anchored
    pieces: list[str] = []
    at = 0
    for (start, end), words in ranges:
        begin, finish = places[start][0], _with_sign(html, places[end - 1][1], words)
        pieces += [html[at:begin], _wrapped(html[begin:finish], first=first)]
        at, first = finish, False
    return "".join([*pieces, html[at:]]), bool(ranges)


def plain(html: str) -> str:
    return unescape(_TAGS.sub(" ", html))


def count(text: str, quote: str) -> int:
    """Return how often a text holds the letters of a quote."""
    wanted = letters(quote)
    return letters(text).count(wanted) if wanted else 0


def _letters(html: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the letters of the text, and where the character of each begins and ends in the HTML."""
    shown: list[str] = []
    places: list[tuple[int, int]] = []
    for piece in _PIECE.finditer(html):
        if piece["entity"]:
            for letter in letters(unescape(piece[0])):
                shown.append(letter)
                places.append(piece.span())
        elif piece["text"]:
            for letter, place in placed_letters(piece[0]):
                shown.append(letter)
                places.append((piece.start() + place, piece.start() + place + 1))
    return "".join(shown), places


def _find(shown: str, wanted: str, skip: int) -> tuple[int, int] | None:
    if not wanted:
        return None
    found = first = shown.find(wanted)
    while skip and found >= 0:
        found = shown.find(wanted, found + len(wanted))
        skip -= 1
    start = found if found >= 0 else first
    return (start, start + len(wanted)) if start >= 0 else None


def _lines(shown: str, quote: str) -> Iterator[tuple[tuple[int, int], str]]:
    at = 0
    for line in quote.splitlines():
        wanted = letters(line)
        start = shown.find(wanted, at) if len(wanted) >= FEWEST_LETTERS else -1
        if start >= 0:
            at = start + len(wanted)
            yield (start, at), line


def _with_sign(html: str, end: int, words: str) -> int:
    """Return the end with the signs after the last letter, `%` or a full stop, where the HTML has them too."""
    found = _AFTER.search(words.rstrip())
    signs = escape(found[0]) if found else ""
    pairs = zip(signs, html[end : end + len(signs)], strict=False)
    same = takewhile(lambda pair: pair[0] == pair[1], pairs)
    shown = _CUT_ENTITY.sub("", "".join(sign for sign, _ in same))
    return end + len(shown.rstrip())


def _wrapped(html: str, *, first: bool) -> str:
    """Return the HTML with each text between tags in a mark of its own, so that elements stay whole."""
    pieces = _TAGS.split(html)
    for number, piece in enumerate(pieces):
        if number % 2 == 0 and piece.strip():
            attribute = f' id="{MARK_ID}"' if first else ""
            pieces[number] = f'<mark class="quote"{attribute}>{piece}</mark>'
            first = False
    return "".join(pieces)
