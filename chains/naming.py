"""Name the place that a citation points to, and list citations by number."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chains.state import Answer, Citation

UNTITLED = "Unknown Document"


def place_name(title: str, section: str | None = None, page: int | None = None) -> str:
    """Return `Title > Section, page 3`, as far as each is known."""
    name = f"{title} > {section}" if section else title
    return f"{name}, page {page}" if page else name


def unsupported_sentences(answer: "Answer") -> list[str]:
    """Return the answer's sentences that no passage supports."""
    return [answer["answer"][start:end] for start, end in answer.get("unsupported", ())]


def cited_by_number(citations: "Iterable[Citation]") -> "dict[int, Citation]":
    """Return the first matched citation of each number, in the order of the numbers."""
    first: dict[int, Citation] = {}
    for citation in citations:
        if citation["matched"] and citation["number"]:
            first.setdefault(citation["number"], citation)
    return dict(sorted(first.items()))
