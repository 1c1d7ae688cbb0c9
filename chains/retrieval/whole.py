"""Choose the passages for a question about documents as wholes: the beginning of each, or all of one or two."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from langchain_core.documents import Document

from chains.documents.library import Entry
from chains.documents.versions import editions_in, names_edition, two_versions, version_order
from chains.retrieval.filters import Passages
from chains.text.overviews import MOST_HELD, overview_of


class Titles(Protocol):
    """The documents that an audience may see, with what tells each from others of the same title."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """Return them by their ids."""

    @property
    def labels(self) -> Mapping[str, Sequence[str]]:
        """Return by its id what stands behind the title of a document."""

    def title(self, doc_id: str) -> str:
        """Return a title with what stands behind it."""


class ByDocument(Passages, Protocol):
    """An index that knows the passages of a document."""

    def chunks_of(self, document: str) -> list[str]:
        """Return the ids of a document's passages, in order."""


def whole_documents(query: str, titles: Titles, index: ByDocument, found: Sequence[Document]) -> list[str] | None:
    """Return the ids of the passages for a question about whole documents; None where it is none, or names no document.

    Args:
        query: the question.
        titles: the documents that the asker may see.
        index: gives the passages of a document.
        found: what a search for the question found, best first.
    """
    asked = overview_of(query, editions_in(query))
    if asked is None:
        return None
    shares = {doc_id: asked.share(entry.title) for doc_id, entry in titles.entries.items()}
    best = max(shares.values(), default=0.0)
    named = [doc_id for doc_id, share in shares.items() if share == best >= MOST_HELD]
    if asked.form == "list":
        first = [index.chunks_of(doc_id)[0] for doc_id in (named if best >= 1 else ())]
        return first + [str(one.id) for one in found if str(one.metadata["doc_id"]) not in named or best < 1]
    if not named or not (asked.subject or asked.form == "changes"):
        return None
    ids = {titles.title(doc_id): doc_id for doc_id in named}
    chosen = two_versions(list(ids), query)[::-1]
    if asked.form == "summary":
        chosen = [max(ids, key=lambda title: (names_edition(title, query), version_order(title)))]
    return [id_ for title in chosen for id_ in index.chunks_of(ids[title])] or None
