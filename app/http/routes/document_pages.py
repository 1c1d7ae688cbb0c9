"""GET /documents/{doc_id}/pages/{page}: a PDF page as a picture, and the boxes of the quoted words."""

import math
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, TypeVar

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from app.adapters.documents.pages import PagesBusyError
from app.http.errors import RequestRefusedError
from app.http.openapi import error_responses, ok_response
from app.http.policy import Policy
from app.http.routes.documents import DocId, Quoted, visible
from app.wiring.library import PAGE_TIMEOUT_S, Library

if TYPE_CHECKING:
    from app.adapters.documents.pages import IndexedPage

NO_PAGE = "There is no picture of this page."
BUSY = "Too many pages are being drawn at the moment. Try again soon."

Found = TypeVar("Found")

router = APIRouter(tags=["Documents"])

PageNumber = Annotated[int, Path(ge=1, le=1_000_000, description="Counted from 1.")]
_ERRORS = error_responses(401, 403, 404, 422, 429, 500, 503)


class PageOfDocument(BaseModel):
    """A page of a PDF. A box is left, top, width and height, as fractions of the page."""

    page: int
    pages: int = Field(description="Number of pages of the document.")
    width: float = Field(description="In points.")
    height: float
    words: list[list[float]] = Field(description="The boxes of the requested words.")


_EXAMPLE = {"page": 3, "pages": 12, "width": 595.0, "height": 842.0, "words": [[0.12, 0.1, 0.5, 0.02]]}


# The picture is first: the other route would reject `3.png` as a page number.
@router.get(
    "/documents/{doc_id}/pages/{page}.png",
    response_class=Response,
    responses=_ERRORS
    | {
        200: {
            "description": "The page",
            "content": {"image/png": {"example": "a picture", "schema": {"type": "string"}}},
        }
    },
)
@Policy(pages="pictures")
async def page_picture(
    request: Request, doc_id: DocId, page: PageNumber, width: Annotated[int, Query(ge=100, le=2400)] = 900
) -> Response:
    """Return a page as a picture, `width` pixels wide; a very tall page is narrower."""
    library, indexed = await run_in_threadpool(_page, request, doc_id, page)
    picture = await _drawn(library, lambda: library.pages.picture(indexed, width))
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, no-cache"})


@router.get("/documents/{doc_id}/pages/{page}", responses=_ERRORS | ok_response(_EXAMPLE, "The page"))
@Policy(pages="words")
async def page_words(request: Request, doc_id: DocId, page: PageNumber, quote: Quoted = "") -> PageOfDocument:
    """Return the size of a page, and the boxes of the quoted words."""
    library, indexed = await run_in_threadpool(_page, request, doc_id, page)
    found = await _drawn(library, lambda: library.pages.words(indexed, quote))
    return PageOfDocument(page=page, **found)


def _page(request: Request, doc_id: str, number: int) -> "tuple[Library, IndexedPage]":
    library: Library = request.app.state.services.library
    entry = visible(library, doc_id)
    indexed = library.page(doc_id, number) if entry.kind == "pdf" else None
    if indexed is None:
        raise HTTPException(404, NO_PAGE)
    return library, indexed


async def _drawn(library: Library, draw: Callable[[], Awaitable[Found | None]]) -> Found:
    try:
        found = await draw()
    except PagesBusyError:
        retry_after_s = math.ceil(PAGE_TIMEOUT_S)
        raise RequestRefusedError(503, BUSY, {"Retry-After": str(retry_after_s)}) from None
    if found is None:
        raise HTTPException(404, NO_PAGE)
    return found
