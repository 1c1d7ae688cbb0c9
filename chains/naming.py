"""Name the place that a citation points to, and list citations by number."""

import re
from collections.abc import Iterable
from textwrap import indent
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chains.state import Answer, Citation, ClosestPassage

UNTITLED = "Unknown Document"
_HEADLESS = re.compile(r"(\|[^\n]*+)(?!\n[\s|:-]*-[\s|:-]*(?:\n|\Z))")


def place_name(title: str, section: str | None = None, page: int | None = None) -> str:
    """Return `Title > Section, page 3`, as far as each is known."""
    name = f"{title} > {section}" if section else title
    return f"{name}, page {page}" if page else name


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
