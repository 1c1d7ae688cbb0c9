"""GET /api/documents, /documents/{doc_id} and its /pages/{page}: the list, one document, and a page of a PDF.

In a document the quoted words are marked; a page is a picture, and the boxes of the quoted words.
"""

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from langchain_core.documents import Document
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, JSONResponse

from app.adapters.documents.pages import PagesBusyError
from app.adapters.identity import Identity, Scope
from app.http.errors import RequestRefusedError
from app.http.openapi import CONTENTS
from app.http.policy import Policy
from app.http.questions import identity_of
from app.http.routes.page import language_of
from app.ports import MOST_FILES, MOST_MB
from app.web import document, view
from app.wiring import Service
from app.wiring.library import PAGE_TIMEOUT_S, UPLOAD_CATEGORIES, Library
from app.wiring.storage import parser
from chains.documents.library import Entry, Kind, around, locate, parts_of
from chains.errors import VectorStoreError

if TYPE_CHECKING:
    from app.adapters.documents.pages import IndexedPage, PdfPages

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

    doc_id: str = Field(examples=["01_regulatory_gst"])
    title: str = Field(examples=["GST Guide"])
    category: str = Field(examples=["regulatory"])
    audience: Literal["public", "internal"]
    organisation: str = Field(examples=["Customs"])
    jurisdiction: str = Field(examples=["SG"])
    last_updated: str = Field(examples=["2026-01-05"])
    ingested_at: str | None = Field(
        description="When it was last changed in the index.", examples=["2026-11-22T09:30:00+00:00"]
    )
    chunks: int
    pages: int | None = Field(description="The last page with text; null where it has no pages.")
    kind: Kind
    source_urls: list[str] = Field(examples=[["https://example.org/gst"]])
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
    endings: list[str] = Field(examples=[[".md", ".pdf"]])
    categories: list[str]
    audiences: list[Literal["internal", "public"]] = Field(description="Possible audiences; the first is the default.")


class DocumentList(BaseModel):
    """Documents by category and title. `total` counts all matches; `categories` ignores the chosen category."""

    total: int
    documents: list[ListedDocument]
    categories: dict[str, int] = Field(examples=[{"regulatory": 1}])
    samples: int = Field(description="Number of documents of the sample corpus.")
    upload: UploadLimits | None = Field(description="What the caller may add; null if nothing.")


class ReadDocument(ListedDocument):
    """A document as HTML that is safe to show."""

    html: str = Field(examples=['<p>The rate is <mark class="quote" id="quote">9 %</mark>.</p>'])
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


@router.get("/api/documents", response_description="The documents")
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
    services: Service = request.app.state.services
    library, is_staff = services.index.library, identity.audience == "internal"
    entries = library.catalogue().entries.values()
    searched = attrgetter("title", "category", "organisation", "jurisdiction", "doc_id")
    words = search.casefold().split()
    hits = [entry for entry in entries if all(word in " ".join(searched(entry)).casefold() for word in words)]
    uses = None
    if is_staff:  # None where no answers are kept, or they cannot be read.
        with suppress(VectorStoreError):
            uses = services.answer_log.uses() if services.answer_log else None
    orders: dict[Sorting, Callable[[Entry], object]] = {
        "category": lambda _: 0,
        "title": lambda entry: entry.title.casefold(),
        "updated": lambda entry: entry.last_updated,
        "added": lambda entry: -datetime.fromisoformat(entry.ingested_at).timestamp() if entry.ingested_at else 0.0,
        "used": lambda entry: -(uses or {}).get(entry.doc_id, 0),
    }
    key: Callable[[Entry], Any] = orders[sort]  # What is alike in it stays in the order of categories and titles.
    chosen = sorted((entry for entry in hits if category in {"", entry.category}), key=key)
    titles = Counter(entry.title for entry in entries)
    shared = {entry.doc_id for entry in entries if titles[entry.title] > 1}
    listed = [_listed(library, entry, identity) for entry in chosen[offset : offset + limit]]
    if is_staff:
        for document_ in listed:
            document_.used = None if uses is None else uses.get(document_.doc_id, 0)
            document_.warnings = list(_warnings(document_, shared))
    may_add = identity.may(Scope.INGEST) and services.answerer.remote is None
    return DocumentList(
        total=len(chosen),
        documents=listed,
        categories=dict(sorted(Counter(entry.category for entry in hits).items())),
        # The number includes internal ones, so only those who may replace them see it.
        samples=sum(map(library.is_sample, library.catalogue("internal").sources.values())) if may_add else 0,
        upload=UploadLimits(
            max_mb=MOST_MB,
            max_files=MOST_FILES,
            endings=sorted(parser(services.settings).endings),
            categories=list(UPLOAD_CATEGORIES),
            audiences=["internal", "public"] if is_staff else ["public"],
        )
        if may_add
        else None,
    )


def _listed(library: Library, entry: Entry, identity: Identity) -> ListedDocument:
    catalogue = library.catalogue()
    source = catalogue.sources.get(entry.doc_id)
    return ListedDocument(
        **asdict(entry) | {"title": catalogue.title(entry.doc_id)},
        removable=identity.may(Scope.INGEST),
        uploaded=source is not None and library.is_uploaded(source),
        sample=source is not None and library.is_sample(source),
    )


def _warnings(listed: ListedDocument, shared: Collection[str]) -> Iterable[Warning]:
    try:
        updated = date.fromisoformat(listed.last_updated[:10])
    except ValueError:
        yield "undated"
    else:
        if datetime.now(UTC).date() - updated > OLD:
            yield "old"
    if listed.doc_id in shared:
        yield "same_title"


@router.get("/documents/{doc_id}", response_model=ReadDocument, response_description="The document")
def read_document(request: Request, doc_id: DocId, wanted: Annotated[Wanted, Query()]) -> Response:
    """Return a document: a page for browsers, JSON for everything else."""
    identity = identity_of(request)
    library: Library = request.app.state.services.index.library
    entry = visible(library, doc_id)
    chunks = library.chunks(doc_id)
    if not chunks:
        raise HTTPException(404, UNKNOWN)
    found = _find(chunks, wanted)
    shown = around(chunks, found.start if found else 0)
    html, marked = document.render(
        parts_of(shown), entry.kind, found, title=library.catalogue().title(doc_id), language=language_of(request)
    )
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
    """Return a document that the caller may see; HTTPException with 404 for others, as for unknown ones."""
    entry = library.find(doc_id)
    if entry is None:
        raise HTTPException(404, UNKNOWN)
    return entry


def _find(chunks: Sequence[Document], wanted: Wanted) -> document.Quote | None:
    """Return the wanted words of a document, as quoted or as they stand at their place."""
    quote, start, end = wanted.quote, wanted.start, wanted.end
    if not quote and start is not None and end is not None:
        holding = (chunk for chunk in chunks if chunk.metadata["start_char"] <= start < chunk.metadata["end_char"])
        if chunk := next(holding, None):
            first = chunk.metadata["start_char"]
            quote = chunk.page_content[start - first : max(start, end) - first]
    near = {"chunk_index": wanted.chunk, "page": wanted.page, "section": wanted.section or None}
    known = {name: value for name, value in near.items() if value is not None}
    place = locate(chunks, quote, near=known, start=start)
    return document.Quote(quote, place.start, place.page) if place else None


NO_PAGE = "There is no picture of this page."
BUSY = "Too many pages are being drawn at the moment. Try again soon."

Found = TypeVar("Found")

PageNumber = Annotated[int, Path(ge=1, le=1_000_000, description="Counted from 1.")]


class PageOfDocument(BaseModel):
    """A page of a PDF. A box is left, top, width and height, as fractions of the page."""

    page: int = Field(examples=[3])
    pages: int = Field(description="Number of pages of the document.", examples=[12])
    width: float = Field(description="In points.", examples=[595.0])
    height: float = Field(examples=[842.0])
    words: list[list[float]] = Field(
        description="The boxes of the requested words.", examples=[[[0.12, 0.1, 0.5, 0.02]]]
    )


# The picture is first: the other route would reject `3.png` as a page number.
@router.get("/documents/{doc_id}/pages/{page}.png", response_class=Response, responses={200: CONTENTS["picture"]})
@Policy(pages="pictures")
async def page_picture(
    request: Request, doc_id: DocId, page: PageNumber, width: Annotated[int, Query(ge=100, le=2400)] = 900
) -> Response:
    """Return a page as a picture, `width` pixels wide; a very tall page is narrower."""
    picture = await _drawn(request, doc_id, page, lambda pages, indexed: pages.picture(indexed, width))
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, no-cache"})


@router.get("/documents/{doc_id}/pages/{page}", response_description="The page")
@Policy(pages="words")
async def page_words(request: Request, doc_id: DocId, page: PageNumber, quote: Quoted = "") -> PageOfDocument:
    """Return the size of a page, and the boxes of the quoted words."""
    found = await _drawn(request, doc_id, page, lambda pages, indexed: pages.words(indexed, quote))
    return PageOfDocument(page=page, **found)


async def _drawn(
    request: Request, doc_id: str, number: int, draw: "Callable[[PdfPages, IndexedPage], Awaitable[Found | None]]"
) -> Found:
    library: Library = request.app.state.services.index.library
    is_pdf = (await run_in_threadpool(visible, library, doc_id)).kind == "pdf"
    indexed = await run_in_threadpool(library.page, doc_id, number) if is_pdf else None
    try:
        found = await draw(library.pages, indexed) if indexed else None
    except PagesBusyError:
        raise RequestRefusedError(503, BUSY, {"Retry-After": str(math.ceil(PAGE_TIMEOUT_S))}) from None
    if found is None:
        raise HTTPException(404, NO_PAGE)
    return found
