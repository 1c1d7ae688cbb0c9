"""Read HTML pages as markdown: headings, lists and tables stay, menus and footers go."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bs4 import BeautifulSoup, Comment, Tag

from chains.documents.naming import is_link
from chains.ingestion.markup import HEADINGS, PARSER, STRUCK, markdown_of
from chains.ingestion.source import SourceText, given, left_out, own_title, title_of
from chains.ingestion.statements import audiences_in, plain_name, strictest
from chains.ingestion.tables import one_line
from chains.regular_files import read_bytes

NON_CONTENT = (
    "script, style, noscript, template, head, svg, iframe, object, select, textarea, [hidden]:not([hidden=until-found])"
)
# A button names what it opens where it stands in a heading, or says so.
OPENS = (
    "h1 *, h2 *, h3 *, h4 *, h5 *, h6 *, summary *, dt *, [aria-expanded], [aria-controls], [class*=accordion],"
    "[class*=faq], [class*=question], [data-toggle=collapse], [data-bs-toggle=collapse]"
)
# A form that only asks, if it has no sentence; others are pages as old servers send them, all of it within one form.
FORM = "form:not(:has(p, h1, h2, h3, h4, table, li, dd, article))"
BOILERPLATE = "nav, footer, [role=navigation], [role=banner], [role=contentinfo], [role=search]"

_SENTENCE = re.compile(r"(?:\w+\W+){3,}\w+[.!?:]")
_SURROUNDS = re.compile(
    r"sidebar|related|advert|promo|share|social|newsletter|cookie|\b(?:ad|ads|toc|nav|menu)\b", re.IGNORECASE
)
_UNSEEN = re.compile(
    r"visibility:\s*hidden|opacity:\s*0(?![.\d])|font-size:\s*0(?![.\d])|(?:left|top|indent):\s*-\d{4}"
    r"|(?<!-)color:\s*([^;\s]+)\s*;(?:.*;)?\s*background(?:-color)?:\s*\1\s*(?:;|$)"
)


def load_html(path: Path) -> SourceText:
    """Read an HTML page; its title is that of the page, or its first heading, or the file's name."""
    page = BeautifulSoup(read_bytes(path), PARSER)
    metadata = _metadata(page, path)
    warnings = tuple(without_unseen(page))
    return SourceText(markdown_of(main_part(page)), 0, metadata, warnings=warnings)


def without_unseen(page: Tag) -> Iterator[str]:
    """Remove what is struck out and what is hidden for good, and yield what was left out; what opens stays."""
    opened = {name for tag in page.select("[aria-controls]") for name in str(tag["aria-controls"]).split()}
    for tag in page.select("[hidden]"):
        is_text = sum(len(words_of(link)) for link in tag.select("a")) * 2 <= len(words_of(tag))
        if is_text and (tag.get("id") in opened or tag.get("role") == "tabpanel"):
            del tag["hidden"]
    hidden = page.select("[hidden]:not([hidden=until-found])")
    for words, tags in (
        ("struck out", page.select(STRUCK)),
        ("hidden", [tag for tag in hidden if _SENTENCE.search(words_of(tag))]),
        ("hidden by its style", [tag for tag in page.select("[style]") if _UNSEEN.search(str(tag["style"]))]),
    ):
        texts = [words_of(tag) for tag in tags if not tag.decomposed]
        for tag in tags:
            tag.decompose()
        yield from left_out(texts, words)


def main_part(page: BeautifulSoup) -> Tag:
    """Return the part of a page that is its content; what surrounds it is removed from the page."""
    forms = [form for form in page.select(FORM) if not _SENTENCE.search(words_of(form))]
    for tag in [*page.select(f"{NON_CONTENT}, button:not({OPENS})"), *forms]:
        tag.decompose()
    for button in page.select("button"):
        button.name = "span" if button.find_parent(HEADINGS) else "p"
    parts = page.select("main, [role=main]") or page.select("article")
    if len(parts) == 1 and parts[0].get_text(strip=True):
        return parts[0]
    surrounding = list(page.select(BOILERPLATE))
    for aside in page.select("aside, [aria-hidden=true]"):
        text, names = words_of(aside), f"{aside.get('class')} {aside.get('id')}"
        links = sum(len(words_of(link)) for link in aside.select("a"))
        # A list of links stands beside the text; a remark of whole sentences is text.
        if _SURROUNDS.search(names) or links * 2 > len(text) or not _SENTENCE.search(text):
            surrounding.append(aside)
    for tag in surrounding:
        tag.decompose()
    for header in page.select("header"):
        if not header.select("h1"):
            header.decompose()
    return page


def _metadata(page: BeautifulSoup, path: Path) -> dict[str, str]:
    link = page.select_one("link[rel=canonical][href]")
    heading = page.select_one("h1")
    url = str(link["href"]) if link else ""
    audiences: list[str] = []
    for tag in page.find_all("meta"):
        names = (tag.get(name) for name in ("name", "property", "itemprop", "http-equiv"))
        if any(re.split(r"[.:]", plain_name(name))[-1] == "audience" for name in names if name):
            audiences.append(one_line(tag.get("content")))
    audiences += [one_line(tag.get("data-audience")) for tag in page.find_all(["html", "body"])]
    for comment in page.find_all(string=lambda text: isinstance(text, Comment)):
        audiences += audiences_in(str(comment))
    return given(
        audience=strictest(audiences),
        title=own_title(words_of(page.title), words_of(heading)) or title_of(path),
        source_org=_meta(page, "og:site_name"),
        source_urls=json.dumps([url]) if is_link(url) else "",
        file_date=_meta(page, "article:modified_time")[:10],
    )


def words_of(tag: Any) -> str:
    """Return the text below a tag in one line; empty where there is no tag."""
    return " ".join(tag.get_text(" ").split()) if tag else ""


def _meta(page: BeautifulSoup, name: str) -> str:
    tag = page.select_one(f'meta[property="{name}"][content]')
    return " ".join(str(tag["content"]).split()) if tag else ""
