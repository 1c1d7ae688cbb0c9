"""GET /documents/{doc_id}/pages/{page}: a page of a PDF as a picture, and where the quoted words stand on it."""

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path, Query, Request, Response
from pydantic import BaseModel, Field

from app.http.openapi import error_responses, ok_response
from app.http.routes.documents import DocId, Quoted, identity_of, visible
from app.wiring.library import Library

NO_PAGE = "There is no picture of such a page."

router = APIRouter(tags=["Documents"])

PageNumber = Annotated[int, Path(ge=1, le=1_000_000, description="Counted from 1.")]
_ERRORS = error_responses(401, 403, 404, 422, 500, 503)


class PageOfDocument(BaseModel):
    """A page of a PDF. A box is left, top, width and height, in parts of the page."""

    page: int
    pages: int = Field(description="How many the document has.")
    width: float = Field(description="In points.")
    height: float
    words: list[list[float]] = Field(description="The boxes of the words that were asked for.")


_EXAMPLE = {"page": 3, "pages": 12, "width": 595.0, "height": 842.0, "words": [[0.12, 0.1, 0.5, 0.02]]}


# The picture is first: the other route would take `3.png` for a number that is none.
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
def page_picture(
    request: Request, doc_id: DocId, page: PageNumber, width: Annotated[int, Query(ge=100, le=2400)] = 900
) -> Response:
    """Return a page as a picture, `width` pixels wide; a very high page is narrower."""
    library = _library(request, doc_id)
    indexed = library.page(doc_id, page)
    picture = library.pages.picture(indexed, width) if indexed else None
    if picture is None:
        raise HTTPException(404, NO_PAGE)
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, no-cache"})


@router.get("/documents/{doc_id}/pages/{page}", responses=_ERRORS | ok_response(_EXAMPLE, "The page"))
def page_words(request: Request, doc_id: DocId, page: PageNumber, quote: Quoted = "") -> PageOfDocument:
    """Return the size of a page, and where the quoted words stand on it."""
    library = _library(request, doc_id)
    indexed = library.page(doc_id, page)
    found = library.pages.words(indexed, quote) if indexed else None
    if found is None:
        raise HTTPException(404, NO_PAGE)
    return PageOfDocument(page=page, **found)


def _library(request: Request, doc_id: str) -> Library:
    library: Library = request.app.state.services.library
    entry = visible(library, doc_id, identity_of(request))
    if entry.kind != "pdf":
        raise HTTPException(404, NO_PAGE)
    return library
