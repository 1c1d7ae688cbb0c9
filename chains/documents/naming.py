"""The place that a citation points to: its name, its links, and the citations by number."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from textwrap import indent
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from typing_extensions import TypedDict

if TYPE_CHECKING:
    from chains.state import Answer, Citation, ClosestPassage

_NEXT = re.compile(r"\s*,\s*(?=https?://|N/A\b)", re.IGNORECASE)
_NONE = {"", "n/a", "none", "-"}
# Browsers take a backslash for a slash, and leave out tabs: such an address leads elsewhere than it seems to.
_NO_ADDRESS = re.compile(r"[\s\x00-\x20\x7f\\<>\"]")


def source_urls(given: object, *, hosts: Collection[str] = ()) -> list[str]:
    """Return the links among what is given, each once, in order; only those to the `hosts`, where there are any.

    A list of addresses or of `{url: ...}` is given, such a list as JSON, or one string. That may hold several
    addresses: it is split at a comma before `http://`, `https://` or `N/A`, and only there, because a comma is legal in
    an address (RFC 3986).
    """
    return list(dict.fromkeys(text for text in _texts(given) if is_link(text) and leads_to(text, hosts)))


def not_links(given: object) -> list[str]:
    return [text for text in _texts(given) if not is_link(text)]


def is_link(text: str) -> bool:
    """Return whether a text is an http(s) address with a host."""
    try:
        parts = urlsplit(text)
        known = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
    return known and _NO_ADDRESS.search(text) is None


def leads_to(url: str, hosts: Collection[str]) -> bool:
    """Return whether a link leads to one of the hosts, or to a subdomain of one; without hosts, to any."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    return not hosts or any(host == known or host.endswith(f".{known}") for known in hosts)


def with_hosts(metadata: Mapping[str, Any], hosts: Collection[str]) -> dict[str, Any]:
    """Return a chunk's metadata with links to these hosts only; without hosts, with all of them."""
    if not hosts or "source_urls" not in metadata:
        return dict(metadata)
    return {**metadata, "source_urls": json.dumps(source_urls(metadata["source_urls"], hosts=hosts))}


def _texts(given: object) -> Iterator[str]:
    if isinstance(given, str):
        decoded: object = given
        with suppress(ValueError, RecursionError):
            decoded = json.loads(given) if given.lstrip().startswith("[") else given
        if isinstance(decoded, list):
            yield from _texts(decoded)
        else:
            parts = (part.strip().rstrip(",") for part in _NEXT.split(given))
            yield from (part for part in parts if part.lower() not in _NONE)
    elif isinstance(given, Mapping):
        yield from _texts(given.get("url"))
    elif isinstance(given, list | tuple):
        for one in given:
            yield from _texts(one)


UNTITLED = "Unknown Document"
_HEADLESS = re.compile(r"(\|[^\n]*+)(?!\n[\s|:-]*-[\s|:-]*(?:\n|\Z))")


def place_name(title: str, section: str | None = None, page: int | None = None) -> str:
    """Return `Title > Section, page 3`, as far as each is known; a section of its title's name is not said."""
    name = f"{title} > {section}" if section and section != title else title
    return f"{name}, page {page}" if page else name


class Place(TypedDict):
    """Where words stand in the documents; `url` is the first address of their source."""

    title: str
    section: str | None
    page: int | None
    doc_id: str | None
    url: str | None


def place_of(words: "Citation | ClosestPassage") -> Place:
    known: Mapping[str, Any] = words
    url = known["url"] if "url" in known else next(iter(known["source_urls"]), None)
    return Place(title=words["title"], section=words["section"], page=words["page"], doc_id=words["doc_id"], url=url)


def place_in(metadata: Mapping[str, Any]) -> Place:
    return Place(
        title=str(metadata.get("title") or ""),
        section=metadata.get("section") or None,
        page=metadata.get("page") or None,
        doc_id=metadata.get("doc_id"),
        url=next(iter(source_urls(metadata.get("source_urls"))), None),
    )


def place_text(place: Place) -> str:
    """Return `Title > Section, page 3, address`, as far as each is known."""
    name = place_name(place["title"], place["section"], place["page"])
    return ", ".join(filter(None, [name, place["url"]]))


def unsupported_sentences(answer: "Answer") -> list[str]:
    return [answer["answer"][start:end] for start, end in answer.get("unsupported", ())]


def cited_by_number(citations: "Iterable[Citation]") -> "dict[int, Citation]":
    """Return the first matched citation of each number, in the order of the numbers."""
    first: dict[int, Citation] = {}
    for citation in citations:
        if citation["matched"] and citation["number"]:
            first.setdefault(citation["number"], citation)
    return dict(sorted(first.items()))


def passages_by_place(closest: "Iterable[ClosestPassage]") -> "list[list[ClosestPassage]]":
    """Return the passages of each section together, in the order of the first of each."""
    places: dict[tuple[object, ...], list[ClosestPassage]] = {}
    for passage in closest:
        place = (passage["doc_id"], passage["title"], passage["section"], passage["page"])
        places.setdefault(place, []).append(passage)
    return list(places.values())


def listed_markdown(name: str, passages: "Iterable[ClosestPassage]", mark: str = "- ") -> str:
    """Return the item of a markdown list: the name of a place, below it the passages of that place."""
    texts = (passage_markdown(passage["quote"], passage["table_head"]) for passage in passages)
    return "\n\n".join([mark + name, *(indent(text, " " * len(mark)) for text in texts)])


def passage_markdown(quote: str, table_head: str) -> str:
    """Return a passage in markdown that is whole: a table that the quote begins in the middle of has a head."""
    text = "\n".join(filter(None, (table_head, quote)))
    if headless := _HEADLESS.match(text):
        columns = max(1, headless[1].count("|") - 1)
        return f"|{' |' * columns}\n|{'---|' * columns}\n{text}"
    return text
