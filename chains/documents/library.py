"""The documents of an index: their metadata, and their text put together from chunks."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

from langchain_core.documents import Document

from chains.documents.audience import Audience, audience_of
from chains.documents.naming import source_urls
from chains.documents.versions import told_apart, with_labels
from chains.text.letters import letters

Kind = Literal["markdown", "html", "pdf", "docx", "text", "slides", "table", "email", "book", "records"]

KINDS: dict[str, Kind] = {
    **dict.fromkeys((".md", ".markdown", ".mdx", ".adoc", ".rst"), "markdown"),
    **dict.fromkeys((".htm", ".html", ".xhtml"), "html"),
    ".pdf": "pdf",
    **dict.fromkeys((".docx", ".odt", ".rtf"), "docx"),
    ".pptx": "slides",
    **dict.fromkeys((".csv", ".tsv", ".xlsm", ".xlsx"), "table"),
    **dict.fromkeys((".eml", ".msg"), "email"),
    ".epub": "book",
    **dict.fromkeys((".json", ".jsonl", ".ndjson"), "records"),
}
# Longer documents are put together around the wanted place only, up to this many characters.
MOST_CHARACTERS = 300_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A document of the index. `pages` is the number of its last page with text; None where it has no pages."""

    doc_id: str
    title: str
    category: str
    audience: Audience
    organisation: str
    jurisdiction: str
    last_updated: str
    ingested_at: str | None
    chunks: int
    pages: int | None
    kind: Kind
    source_urls: list[str]

    def allows(self, audience: Audience) -> bool:
        """Return whether somebody who sees this audience's documents may see it."""
        return audience == "internal" or self.audience == "public"


def describe(
    first: Document, last: Document, *, chunks: int, written: float | None, hosts: Collection[str] = ()
) -> Entry:
    """Return what the first and the last of a document's chunks tell about it.

    Its links lead to the `hosts` only, if there are any; `written` is when it was last written, in seconds since 1970;
    None where that is not known.
    """
    metadata = first.metadata
    names = ("title", "category", "jurisdiction", "last_updated")
    return Entry(
        **{name: str(metadata.get(name) or "") for name in names},
        doc_id=str(metadata.get("doc_id") or first.id),
        audience=audience_of(metadata),
        organisation=str(metadata.get("source_org") or ""),
        ingested_at=None if written is None else datetime.fromtimestamp(written, UTC).isoformat(timespec="seconds"),
        chunks=chunks,
        pages=last.metadata.get("page"),
        kind=KINDS.get(PurePosixPath(str(metadata.get("file_path"))).suffix.lower(), "text"),
        source_urls=source_urls(metadata.get("source_urls"), hosts=hosts),
    )


@dataclass(frozen=True)
class Titles:
    """Documents by id, with what tells each from others of its title; `metadata` is that of the first passage."""

    entries: Mapping[str, Entry] = field(default_factory=dict)
    metadata: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @cached_property
    def labels(self) -> Mapping[str, Sequence[str]]:
        """Return by its id what stands behind the title of a document, on this day: which version it is."""
        return told_apart(list(self.metadata.values()))

    def title(self, doc_id: str) -> str:
        return with_labels(self.entries[doc_id].title, self.labels.get(doc_id, ()))


class QuotePlace(NamedTuple):
    """Where words stand: offsets in the source, and the page."""

    start: int
    end: int
    page: int | None


def locate(
    chunks: Sequence[Document], quote: str, *, near: Mapping[str, Any], start: int | None = None
) -> QuotePlace | None:
    """Return where words of one of a document's chunks, all of them in order, stand; None where it does not hold them.

    White space and punctuation may differ. Of several chunks that hold the words, that at `start` is meant, if that
    place in the source is known, or else the one that fits best to what is known of its metadata.
    """
    wanted = letters(quote)
    if not wanted:
        return None
    fitting = [chunk for chunk in chunks if quote in chunk.page_content] or [
        chunk for chunk in chunks if wanted in letters(chunk.page_content)
    ]
    if not fitting:
        return None

    def fit(chunk: Document) -> tuple[bool, int]:
        holds = start is not None and chunk.metadata["start_char"] <= start < chunk.metadata["end_char"]
        return holds, sum(chunk.metadata.get(name) == value for name, value in near.items())

    best = max(fitting, key=fit)
    first = best.metadata["start_char"]
    place = max(best.page_content.find(quote, max(0, (start or 0) - first)), best.page_content.find(quote), 0)
    return QuotePlace(first + place, first + place + len(quote), best.metadata.get("page"))


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """A page of a document, or all of it: its text, and the offset in the source at which that begins."""

    text: str
    start: int
    page: int | None = None


def parts_of(chunks: Sequence[Document]) -> list[DocumentPart]:
    """Return the pages of a document, or all of it as one part; what chunks have in common stands there once."""
    pages = groupby(chunks, key=lambda chunk: chunk.metadata.get("page"))
    return [_part(list(group), page) for page, group in pages]


def around(chunks: Sequence[Document], place: int, *, limit: int = MOST_CHARACTERS) -> Sequence[Document]:
    """Return as many chunks around an offset as have `limit` characters together, in order."""
    starts = [chunk.metadata["start_char"] for chunk in chunks]
    first = max((number for number, start in enumerate(starts) if start <= place), default=0)
    last, size = first, len(chunks[first].page_content)
    while first > 0 or last < len(chunks) - 1:
        following = last + 1 if last < len(chunks) - 1 else None
        added = [number for number in (following, first - 1) if number is not None and number >= 0]
        size += sum(len(chunks[number].page_content) for number in added)
        if size > limit:
            break
        first, last = min(first, *added), max(last, *added)
    return chunks[first : last + 1]


def _part(chunks: Sequence[Document], page: int | None) -> DocumentPart:
    begin = at = chunks[0].metadata["start_char"]
    pieces: list[str] = []
    path: list[str] = []
    for chunk in chunks:
        start, end = chunk.metadata["start_char"], chunk.metadata["end_char"]
        following = json.loads(chunk.metadata.get("section_path") or "[]")
        if start > at:
            # White space around a chunk is not kept in it. A line end is right wherever a space was, and a table needs
            # it. Between two chunks stand headings without text of their own as well; level 1 is the document's title.
            bare = [
                f"{'#' * min(6, level + 2)} {name}"
                for level, name in enumerate(following[:-1])
                if path[: level + 1] != following[: level + 1]
            ]
            text = "".join(f"\n\n{heading}" for heading in bare)
            pieces.append((text if len(text) <= start - at else "").ljust(start - at, "\n"))
        if end > at:
            pieces.append(chunk.page_content[max(0, at - start) :])
            at = end
        path = following
    return DocumentPart("".join(pieces), begin, page)
