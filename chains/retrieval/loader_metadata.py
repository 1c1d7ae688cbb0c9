"""Read the metadata of a document as loaders, splitters and vector stores of LangChain leave it."""

import hashlib
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

from langchain_core.documents import Document

from chains.documents.source_urls import is_link
from chains.errors import ConfigurationError

# The names that loaders use. PyPDFLoader and its like count pages from 0, and say how many there are.
OURS = frozenset(
    {
        *("title", "section", "page", "source_urls", "doc_id", "score", "category", "jurisdiction"),
        *("audience", "source_org", "last_updated"),
    }
)
FILE_NAMES = ("file_name", "filename")
HEADERS = tuple(f"Header {level}" for level in range(1, 7))
PAGES_FROM_0 = frozenset({"page_label", "total_pages"})


def standard_metadata(document: Document, names: Mapping[str, str]) -> dict[str, Any]:
    """Return the document's metadata with `title`, `section`, `page`, `source_urls` and `doc_id`, as far as known.

    What is stated under these names stays. Else the title is the file's name, the last part of `source`, the first
    header or the document's id; the section is the last header; the address is `source` or `url`; the page is
    `page_label` or `page`. A document without a stated title gets a `doc_id` of its own source, or of its own text, so
    that two of them are never taken for one.

    Args:
        document: a retrieved document.
        names: for names of ours, the names that its metadata uses: `{"title": "doc_name"}`.
    """
    given = document.metadata
    metadata = {**given, **{ours: given[theirs] for ours, theirs in names.items() if theirs in given}}
    headers = [str(metadata[name]) for name in HEADERS if metadata.get(name)]
    source = str(metadata.get("source") or "")
    if not metadata.get("title"):
        files = (metadata.get(name) for name in FILE_NAMES)
        known = filter(None, (*files, _name_of(source), *headers[:1], metadata.get("id"), document.id))
        place = source or str(metadata.get("url") or "") or document.page_content
        digest = hashlib.blake2b(place.encode(errors="replace"), digest_size=6).hexdigest()
        metadata["doc_id"] = metadata.get("doc_id") or digest
        metadata["title"] = str(next(known, f"Untitled {metadata['doc_id']}"))
    if headers and not metadata.get("section") and headers[-1] != metadata.get("title"):
        metadata["section"] = headers[-1]
    if "source_urls" not in metadata and (
        links := [link for link in (source, str(metadata.get("url"))) if is_link(link)]
    ):
        metadata["source_urls"] = links[:1]
    return metadata | _page(metadata)


def check_names(names: Mapping[str, str]) -> Mapping[str, str]:
    """Return the names.

    Raises:
        ConfigurationError: one of them is none of ours.
    """
    if unknown := sorted(set(names) - OURS):
        msg = f"metadata names {unknown[0]!r}, which nothing reads; choose from {', '.join(sorted(OURS))}"
        raise ConfigurationError(msg)
    return names


def _name_of(source: str) -> str:
    """Return the last part of a path or an address; the host of an address without one."""
    if not is_link(source):
        return PurePosixPath(source.replace("\\", "/")).name
    parts = urlsplit(source)
    return unquote(PurePosixPath(parts.path).name) or parts.netloc


def _page(metadata: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the page as a number from 1: the printed one where it is a number."""
    label, page = metadata.get("page_label"), metadata.get("page", metadata.get("page_number"))
    if isinstance(label, str) and label.isdecimal():
        return {"page": int(label)}
    try:
        number = int(page) + bool(PAGES_FROM_0 & metadata.keys())
    except (TypeError, ValueError, OverflowError):
        return {"page": None} if "page" in metadata else {}
    return {"page": number if number > 0 else None}
