"""Name the place that a citation points to, and list citations by number."""

import re
from collections.abc import Iterable, Mapping
from textwrap import indent
from typing import TYPE_CHECKING, Any

from typing_extensions import TypedDict

from chains.documents.source_urls import source_urls

if TYPE_CHECKING:
    from chains.state import Answer, Citation, ClosestPassage

UNTITLED = "Unknown Document"
_HEADLESS = re.compile(r"(\|[^\n]*+)(?!\n[\s|:-]*-[\s|:-]*(?:\n|\Z))")


def place_name(title: str, section: str | None = None, page: int | None = None) -> str:
    """Return `Title > Section, page 3`, as far as each is known."""
    name = f"{title} > {section}" if section else title
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
