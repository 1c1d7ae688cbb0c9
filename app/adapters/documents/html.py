"""Read HTML pages as markdown: headings, lists and tables stay, menus and footers go."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Comment, Tag
from markdownify import MarkdownConverter

from app.adapters.documents.rows import one_line
from chains.errors import IngestionError
from chains.ingestion.source import SourceText, require_words, storable, title_of
from chains.ingestion.statements import audiences_in, plain_name, strictest
from chains.regular_files import read_bytes
from chains.source_urls import is_link

PARSER = "lxml"  # Python's own does not know where a tag ends that its author left open.
NON_CONTENT = "script, style, noscript, template, head, svg, iframe, object, form, button, select, [hidden]"
BOILERPLATE = (
    "nav, aside, footer, [role=navigation], [role=banner], [role=contentinfo], [role=search], [aria-hidden=true]"
)

_LOOKS_LIKE_MARKUP = re.compile(r"^([^\S\n]*+)(#{1,6}(?=\s|$)|[-=]++[^\S\n]*$|\||```|~~~)", re.MULTILINE)
_EMPTY_LINES = re.compile(r"\n{3,}")


def load_html(path: Path) -> SourceText:
    """Read an HTML page; its title is that of the page, or its first heading, or the file's name.

    Raises:
        IngestionError: the file cannot be read, or has no text.
    """
    page = BeautifulSoup(read_bytes(path), PARSER)
    metadata = _metadata(page, path)
    return SourceText(markdown_of(main_part(page)), 0, metadata)


def markdown_of(page: Tag) -> str:
    """Return the text below a tag as markdown.

    Raises:
        IngestionError: there is none, or the tags are nested beyond reason.
    """
    try:
        text = str(_Converter().convert_soup(page))
    except RecursionError as error:
        msg = "the tags of the page are nested too deeply to be read"
        raise IngestionError(msg) from error
    lines = (line.rstrip() for line in storable(text).split("\n"))
    text = _EMPTY_LINES.sub("\n\n", "\n".join(lines)).strip() + "\n"
    require_words(text)
    return text


class _Converter(MarkdownConverter):
    """Writes words as they are: only what would be taken for a heading, a table or a code block gets a backslash."""

    def __init__(self) -> None:
        super().__init__(heading_style="ATX", bullets="-", table_infer_header=True, strip=["a", "img"])

    def escape(self, text: str, parent_tags: set[str]) -> str:
        marked = text.replace("|", "\\|") if parent_tags & {"td", "th"} else text
        return _LOOKS_LIKE_MARKUP.sub(r"\1\\\2", marked)

    def convert_strong(self, node: Tag, text: str, parent_tags: set[str]) -> str:
        return text

    convert_b = convert_em = convert_i = convert_strong


def main_part(page: BeautifulSoup) -> Tag:
    """Return the part of a page that is its content; what surrounds it is removed from the page."""
    for tag in page.select(NON_CONTENT):
        tag.decompose()
    parts = page.select("main, [role=main]") or page.select("article")
    if len(parts) == 1 and parts[0].get_text(strip=True):
        return parts[0]
    for tag in page.select(BOILERPLATE):
        tag.decompose()
    for header in page.select("header"):
        if not header.select("h1"):
            header.decompose()
    return page


def _metadata(page: BeautifulSoup, path: Path) -> dict[str, str]:
    link = page.select_one("link[rel=canonical][href]")
    heading = page.select_one("h1")
    url = str(link["href"]) if link else ""
    found = {
        "audience": strictest(_audiences(page)),
        "title": words_of(page.title) or words_of(heading) or title_of(path),
        "source_org": _meta(page, "og:site_name"),
        "source_urls": json.dumps([url]) if is_link(url) else "",
        "last_updated": _meta(page, "article:modified_time")[:10],
    }
    return {name: value for name, value in found.items() if value}


def _audiences(page: BeautifulSoup) -> Iterator[str]:
    """Yield who the page says that it is for: in its `meta` tags, by an attribute of its root, in a comment."""
    for tag in page.find_all("meta"):
        names = (tag.get(name) for name in ("name", "property", "itemprop", "http-equiv"))
        if any(re.split(r"[.:]", plain_name(name))[-1] == "audience" for name in names if name):
            yield one_line(tag.get("content"))
    for tag in page.find_all(["html", "body"]):
        yield one_line(tag.get("data-audience"))
    for comment in page.find_all(string=lambda text: isinstance(text, Comment)):
        yield from audiences_in(str(comment))


def words_of(tag: Any) -> str:
    """Return the text below a tag in one line; empty where there is no tag."""
    return " ".join(tag.get_text(" ").split()) if tag else ""


def _meta(page: BeautifulSoup, name: str) -> str:
    tag = page.select_one(f'meta[property="{name}"][content]')
    return " ".join(str(tag["content"]).split()) if tag else ""
