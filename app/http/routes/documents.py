"""GET /api/documents and /documents/{doc_id}: the list of documents, and one with the quoted words marked."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from langchain_core.documents import Document
from pydantic import BaseModel, Field
from starlette.responses import HTMLResponse, JSONResponse

from app.adapters.sessions.identity import Identity, Scope
from app.http.openapi import error_responses, ok_response
from app.http.questions import identity_of
from app.http.routes.page import language_of
from app.ports import MOST_FILES
from app.web import document, view
from app.wiring import Services
from app.wiring.library import UPLOAD_CATEGORIES, Library
from app.wiring.storage import parser
from chains.errors import VectorStoreError
from chains.library import Entry, Kind, around, locate, parts_of

MOST_LISTED = 500
OLD = timedelta(days=365)
UNKNOWN = "There is no such document."

router = APIRouter(tags=["Documents"])

DocId = Annotated[str, Path(description="From the list, or from a citation.", examples=["01_regulatory_gst"])]
Quoted = Annotated[str, Query(max_length=4000, description="Words to mark in the document.")]
Offset = Annotated[int, Query(ge=0, le=2**40)]
Sorting = Literal["category", "title", "updated", "added", "used"]
Warning = Literal["undated", "old", "same_title"]


class ListedDocument(BaseModel):
    """Metadata of a document."""

    doc_id: str
    title: str
    category: str
    audience: Literal["public", "internal"]
    organisation: str
    jurisdiction: str
    last_updated: str
    ingested_at: str | None = Field(description="When it was last changed in the index.")
    chunks: int
    pages: int | None = Field(description="The last page with text; null where it has no pages.")
    kind: Kind
    source_urls: list[str]
    removable: bool = Field(description="Whether the caller may remove it.")
    uploaded: bool = Field(description="Whether it was added here; its file is deleted with it.")
    sample: bool = Field(description="Whether it belongs to the sample corpus.")
    used: int | None = Field(None, description="How many logged answers rest on it; null for others than staff.")
    warnings: list[Warning] = Field(
        [], description="What its owner should look at: no date, more than a year old, a title of two documents."
    )


class UploadLimits(BaseModel):
    """What the caller may add."""

    max_mb: int
    max_files: int
    endings: list[str]
    categories: list[str]
    audiences: list[Literal["internal", "public"]] = Field(description="Possible audiences; the first is the default.")


class DocumentList(BaseModel):
    """Documents by category and title. `total` counts all matches; `categories` ignores the chosen category."""

    total: int
    documents: list[ListedDocument]
    categories: dict[str, int]
    samples: int = Field(description="Number of documents of the sample corpus.")
    upload: UploadLimits | None = Field(description="What the caller may add; null if nothing.")


class ReadDocument(ListedDocument):
    """A document as HTML that is safe to show."""

    html: str
    marked: bool = Field(description="Whether the requested words are marked in it.")
    page: int | None = Field(description="Their page.")
    whole: bool = Field(description="Whether this is the whole document; a very long one is cut around the words.")


class Wanted(BaseModel):
    """The words to mark: as quoted, or by their place in the source; the other fields disambiguate."""

    quote: str = Field("", max_length=4000, description="Words of the document.")
    start: int | None = Field(None, ge=0, le=2**40, description="Start offset in the source.")
    end: int | None = Field(None, ge=0, le=2**40, description="End offset in the source.")
    chunk: int | None = Field(None, ge=0, le=2**40, description="Number of their chunk.")
    page: int | None = Field(None, ge=1, le=2**40, description="Their page.")
    section: str = Field("", max_length=300, description="Their heading.")


_EXAMPLE: dict[str, Any] = {
    "doc_id": "01_regulatory_gst",
    "title": "GST Guide",
    "category": "regulatory",
    "audience": "public",
    "organisation": "Customs",
    "jurisdiction": "SG",
    "last_updated": "2026-01-05",
    "ingested_at": "2026-11-22T09:30:00+00:00",
    "chunks": 12,
    "pages": None,
    "kind": "markdown",
    "source_urls": ["https://example.org/gst"],
    "removable": True,
    "uploaded": False,
    "sample": False,
    "used": 4,
    "warnings": [],
}
_ADDABLE = {
    "samples": 0,
    "upload": {"max_mb": 50, "max_files": 20, "endings": [".md", ".pdf"], "categories": [], "audiences": ["public"]},
}
_READ = {"html": '<p>The rate is <mark class="quote" id="quote">9 %</mark>.</p>', "marked": True, "page": None}
_ERRORS = error_responses(401, 403, 422, 500, 503)


@router.get(
    "/api/documents",
    responses=_ERRORS | ok_response({"total": 1, "documents": [_EXAMPLE], "categories": {"regulatory": 1}} | _ADDABLE),
)
def list_documents(
    request: Request,
    *,
    search: Annotated[str, Query(max_length=200, description="Words of the document's metadata.")] = "",
    category: Annotated[str, Query(max_length=300)] = "",
    offset: Offset = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_LISTED)] = 100,
    sort: Annotated[
        Sorting, Query(description="The oldest, the newest in the index, or the most used first.")
    ] = "category",
) -> DocumentList:
    """Return the documents that the caller may see; staff sees too how often they are used, and what to look at."""
    identity = identity_of(request)
    services: Services = request.app.state.services
    library = services.library
    found = _search(library.catalogue().entries.values(), search)
    counts = Counter(entry.category for entry in found)
    uses = _uses(services) if identity.audience == "internal" else None
    titles = Counter(entry.title for entry in library.catalogue().entries.values())
    chosen = sorted((entry for entry in found if category in {"", entry.category}), key=_order(sort, uses or {}))
    listed = [_listed(library, entry, identity) for entry in chosen[offset : offset + limit]]
    if identity.audience == "internal":
        listed = [_for_staff(one, uses, titles) for one in listed]
    may_add = identity.may(Scope.INGEST) and services.remote is None
    return DocumentList(
        total=len(chosen),
        documents=listed,
        categories=dict(sorted(counts.items())),
        # The number includes internal ones, so only those who may replace them see it.
        samples=sum(map(library.is_sample, library.catalogue("internal").sources.values())) if may_add else 0,
        upload=_limits(request) if may_add else None,
    )


@router.get(
    "/documents/{doc_id}",
    responses=_ERRORS | error_responses(404) | ok_response(_EXAMPLE | _READ | {"whole": True}),
    response_model=ReadDocument,
)
def read_document(
    request: Request,
    doc_id: DocId,
    wanted: Annotated[Wanted, Query()],
) -> Response:
    """Return a document: a page for browsers, JSON for everything else."""
    identity = identity_of(request)
    library: Library = request.app.state.services.library
    entry = visible(library, doc_id)
    chunks = library.chunks(doc_id)
    if not chunks:
        raise HTTPException(404, UNKNOWN)
    found = _find(chunks, wanted)
    shown = around(chunks, found.start if found else 0)
    html, marked = document.render(parts_of(shown), entry.kind, found, title=entry.title, language=language_of(request))
    read = ReadDocument(
        **_listed(library, entry, identity).model_dump(),
        html=html,
        marked=marked,
        page=found.page if found else None,
        whole=len(shown) == len(chunks),
    )
    headers = {"Vary": "Accept, Accept-Language, Cookie", "Cache-Control": "no-store"}
    if "text/html" in request.headers.get("accept", ""):
        return HTMLResponse(view.document(read.model_dump(), language_of(request)), headers=headers)
    return JSONResponse(read.model_dump(), headers=headers)


def visible(library: Library, doc_id: str) -> Entry:
    """Return a document that the caller may see.

    Raises:
        HTTPException: 404 for unknown documents and for those the caller may not see.
    """
    entry = library.find(doc_id)
    if entry is None:
        raise HTTPException(404, UNKNOWN)
    return entry


def _limits(request: Request) -> UploadLimits:
    services: Services = request.app.state.services
    settings = services.settings
    return UploadLimits(
        max_mb=settings.uploads.max_mb,
        max_files=MOST_FILES,
        endings=sorted(parser(settings).endings),
        categories=list(UPLOAD_CATEGORIES),
        audiences=["internal", "public"] if identity_of(request).audience == "internal" else ["public"],
    )


def _search(entries: Iterable[Entry], search: str) -> list[Entry]:
    words = search.casefold().split()
    named = (
        (entry, (entry.title, entry.category, entry.organisation, entry.jurisdiction, entry.doc_id))
        for entry in entries
    )
    return [entry for entry, names in named if all(word in " ".join(names).casefold() for word in words)]


def _listed(library: Library, entry: Entry, identity: Identity) -> ListedDocument:
    source = library.catalogue().sources.get(entry.doc_id)
    return ListedDocument(
        **asdict(entry),
        removable=identity.may(Scope.INGEST),
        uploaded=source is not None and library.is_uploaded(source),
        sample=source is not None and library.is_sample(source),
    )


def _uses(services: Services) -> Mapping[str, int] | None:
    """Return how many answers rest on each document; None where no answers are kept, or they cannot be read."""
    with suppress(VectorStoreError):
        return services.answer_log.uses() if services.answer_log else None
    return None


def _order(sort: Sorting, uses: Mapping[str, int]) -> Callable[[Entry], tuple[object, ...]]:
    """Return the key of an order; entries that are alike in it stay in the order of their categories and titles."""
    orders: dict[Sorting, Callable[[Entry], tuple[object, ...]]] = {
        "category": lambda _: (),
        "title": lambda entry: (entry.title.casefold(),),
        "updated": lambda entry: (entry.last_updated,),
        "added": lambda entry: (-_timestamp(entry.ingested_at),),
        "used": lambda entry: (-uses.get(entry.doc_id, 0),),
    }
    return orders[sort]


def _timestamp(text: str | None) -> float:
    return datetime.fromisoformat(text).timestamp() if text else 0.0


def _for_staff(one: ListedDocument, uses: Mapping[str, int] | None, titles: Mapping[str, int]) -> ListedDocument:
    used = None if uses is None else uses.get(one.doc_id, 0)
    return one.model_copy(update={"used": used, "warnings": list(_warnings(one, titles))})


def _warnings(one: ListedDocument, titles: Mapping[str, int]) -> Iterable[Warning]:
    updated = _date(one.last_updated)
    if updated is None:
        yield "undated"
    elif datetime.now(UTC).date() - updated > OLD:
        yield "old"
    if titles[one.title] > 1:
        yield "same_title"


def _date(text: str) -> date | None:
    with suppress(ValueError):
        return date.fromisoformat(text[:10])
    return None


def _words_at(chunks: Sequence[Document], start: int, end: int) -> str:
    holding = (chunk for chunk in chunks if chunk.metadata["start_char"] <= start < chunk.metadata["end_char"])
    chunk = next(holding, None)
    first = chunk.metadata["start_char"] if chunk else 0
    return chunk.page_content[start - first : max(start, end) - first] if chunk else ""


def _find(chunks: Sequence[Document], wanted: Wanted) -> document.Quote | None:
    quote = wanted.quote
    if not quote and wanted.start is not None and wanted.end is not None:
        quote = _words_at(chunks, wanted.start, wanted.end)
    near = {"chunk_index": wanted.chunk, "page": wanted.page, "section": wanted.section or None}
    known = {name: value for name, value in near.items() if value is not None}
    place = locate(chunks, quote, near=known, start=wanted.start)
    return document.Quote(quote, place.start, place.page) if place else None
