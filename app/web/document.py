"""A document of the index -> HTML that is safe to show, with quoted words marked, also where they cross elements."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape, unescape
from os.path import commonprefix

from app.web import markdown
from app.web.markdown import without_bidi
from app.web.words import DEFAULT, languages
from app.web.words import text as text_of
from chains.documents.library import DocumentPart, Kind
from chains.documents.naming import passage_markdown
from chains.text.letters import letters, placed_letters

_HEADING = re.compile("<(/?)h([1-6])>")
PLAIN: frozenset[Kind] = frozenset({"email", "pdf", "slides", "text"})


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a document: as they stand in the source, where they begin there, and on which page."""

    text: str
    start: int
    page: int | None = None


def render(
    parts: Sequence[DocumentPart], kind: Kind, quote: Quote | None, *, title: str = "", language: str = DEFAULT
) -> tuple[str, bool]:
    """Return the HTML of parts, without a first heading that is the title, and whether the quote is marked in it."""
    table = languages()[language]
    html: list[str] = []
    marked = False
    for part in parts:
        if kind in PLAIN:
            paragraphs = (paragraph.strip() for paragraph in without_bidi(part.text).split("\n\n"))
            lines = (escape(paragraph).replace("\n", "<br>\n") for paragraph in paragraphs if paragraph)
            shown = "".join(f"<p>{paragraph}</p>\n" for paragraph in lines)
        else:
            shown = markdown.render(part.text)
        if quote and not marked and part.page == quote.page:
            text = quote.text if kind in PLAIN else plain(markdown.render(quote.text))
            before = part.text[: max(0, quote.start - part.start)]
            shown, marked = mark(shown, text, skip=count(before, quote.text))
        if part.page is not None:
            title = text_of(table, "viewer.page", page=part.page)
            shown = f'<section class="page" data-page="{part.page}"><h3>{escape(title)}</h3>\n{shown}</section>\n'
        html.append(shown)
    shown = "".join(html).removeprefix(f"<h3>{escape(title)}</h3>\n")
    return _HEADING.sub(_Levels(), shown), marked


def passage(quote: str, marked: str, table_head: str) -> str:
    """Return the HTML of a passage, to stand in an answer, with the words in it marked that fit the question best."""
    html = markdown.render(passage_markdown(quote, table_head))
    html, _ = mark(html, plain(markdown.render(marked)), anchored=False)
    return _HEADING.sub(_Levels(above=3), html)


class _Levels:
    """Gives headings levels below the one above without a gap: screen readers list them as an outline."""

    def __init__(self, above: int = 2) -> None:
        self._before = above

    def __call__(self, tag: re.Match[str]) -> str:
        if not tag[1]:
            self._before = min(int(tag[2]), self._before + 1)
        return f"<{tag[1]}h{self._before}>"


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
    places = [match.span() for match in re.finditer(re.escape(wanted), shown)] if wanted else []
    return next(iter([*places[skip:], *places]), None)


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
    same = commonprefix([signs, html[end : end + len(signs)]])  # noqa: RUF071 - of letters.
    return end + len(_CUT_ENTITY.sub("", same).rstrip())


def _wrapped(html: str, *, first: bool) -> str:
    """Return the HTML with each text between tags in a mark of its own, so that elements stay whole."""
    pieces = _TAGS.split(html)
    for number, piece in enumerate(pieces):
        if number % 2 == 0 and piece.strip():
            attribute = f' id="{MARK_ID}"' if first else ""
            pieces[number] = f'<mark class="quote"{attribute}>{piece}</mark>'
            first = False
    return "".join(pieces)
