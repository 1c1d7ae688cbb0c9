"""A document of the index -> HTML that is safe to show, with the quoted words marked."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from app.web import markdown, marks, words
from app.web.chips import without_bidi
from chains.documents.library import DocumentPart, Kind
from chains.documents.naming import passage_markdown

_HEADING = re.compile("<(/?)h([1-6])>")
PLAIN: frozenset[Kind] = frozenset({"email", "pdf", "slides", "text"})


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a document: as they stand in the source, where they begin there, and on which page."""

    text: str
    start: int
    page: int | None = None


def render(
    parts: Sequence[DocumentPart], kind: Kind, quote: Quote | None, *, title: str = "", language: str = words.DEFAULT
) -> tuple[str, bool]:
    """Return the HTML of a document's parts, and whether the quoted words are marked in it.

    A first heading that repeats the `title` is left out, because the title stands above the text already.
    """
    table = words.languages()[language]
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
            text = quote.text if kind in PLAIN else marks.plain(markdown.render(quote.text))
            before = part.text[: max(0, quote.start - part.start)]
            shown, marked = marks.mark(shown, text, skip=marks.count(before, quote.text))
        if part.page is not None:
            title = words.text(table, "viewer.page", page=part.page)
            shown = f'<section class="page" data-page="{part.page}"><h3>{escape(title)}</h3>\n{shown}</section>\n'
        html.append(shown)
    shown = "".join(html).removeprefix(f"<h3>{escape(title)}</h3>\n")
    return _HEADING.sub(_Levels(), shown), marked


def passage(quote: str, marked: str, table_head: str) -> str:
    """Return the HTML of a passage, to stand in an answer, with the words in it marked that fit the question best."""
    html = markdown.render(passage_markdown(quote, table_head))
    html, _ = marks.mark(html, marks.plain(markdown.render(marked)), anchored=False)
    return _HEADING.sub(_Levels(above=3), html)


class _Levels:
    """Gives headings levels below the one above without a gap: screen readers list them as an outline."""

    def __init__(self, above: int = 2) -> None:
        self._before = above

    def __call__(self, tag: re.Match[str]) -> str:
        if not tag[1]:
            self._before = min(int(tag[2]), self._before + 1)
        return f"<{tag[1]}h{self._before}>"
