"""POST /search, the retrieval service of the MARP contract: passages without an answer."""

from typing import Any, Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from app.http.openapi import error_responses, ok_response
from app.http.questions import QUERY_SCHEMA, TopK, bad_request_route, run_config
from app.wiring.build import search
from chains.naming import place_in
from chains.question import QUESTION_MAX_CHARACTERS
from chains.source_urls import source_urls
from chains.state import Passage

# Metadata of a passage beyond the contract: what a citation needs, and its audience.
EXTRA_METADATA = (
    *("section", "section_path", "category", "jurisdiction", "source_org", "source_type", "last_updated"),
    *("audience", "start_char", "end_char"),
)

router = APIRouter(tags=["MARP"], route_class=bad_request_route("a JSON object with a query"))


class SearchBody(BaseModel):
    """What to search for; no minimum score applies."""

    query: str = Field(
        examples=["What is the exam policy?"], json_schema_extra=QUERY_SCHEMA | {"maxLength": QUESTION_MAX_CHARACTERS}
    )
    top_k: TopK = 5
    audience: Literal["public"] | None = Field(None, description="Excludes documents that only staff may see.")


class SearchResult(BaseModel):
    """A passage, with its place in the document and its similarity to the query."""

    text: str
    document_id: str
    chunk_index: int
    title: str
    page: int = Field(description="0 where the document has no pages.")
    url: str = Field(description="The first URL of its source; empty if the document is internal.")
    score: float | None = Field(description="0 to 1; null where the retriever gives none.")
    source_urls: list[str]
    metadata: dict[str, Any]


class SearchResults(BaseModel):
    """The passages, best first, without duplicates."""

    query: str
    results: list[SearchResult]


_EXAMPLE = {
    "query": "What is the exam policy?",
    "results": [
        {
            "text": "Illness has to be reported to the department.",
            "document_id": "regulations",
            "chunk_index": 12,
            "title": "General Regulations",
            "page": 15,
            "url": "https://example.org/regulations.pdf",
            "score": 0.71,
            "source_urls": ["https://example.org/regulations.pdf"],
            "metadata": {"section": "Illness", "audience": "public"},
        }
    ],
}
_RESPONSES = error_responses(400, 401, 403, 408, 413, 429, 500, 503, 504) | ok_response(_EXAMPLE, "The passages")


@router.post("/search", responses=_RESPONSES)
async def search_passages(request: Request, body: SearchBody) -> SearchResults:
    """Return the passages nearest to the query that the caller may see."""
    config = run_config(request)
    if body.audience == "public":
        config["configurable"]["audience"] = "public"
    found = await search(request.app.state.services, body.query, config, top_k=body.top_k)
    return SearchResults(query=body.query, results=[_result(passage) for passage in found])


def _result(passage: Passage) -> SearchResult:
    metadata = passage["metadata"]
    place = place_in(metadata)
    return SearchResult(
        text=passage["content"],
        document_id=place["doc_id"] or "",
        chunk_index=int(metadata.get("chunk_index") or 0),
        title=place["title"],
        page=place["page"] or 0,
        url=place["url"] or "",
        score=passage["score"],
        source_urls=source_urls(metadata.get("source_urls")),
        metadata={name: metadata[name] for name in EXTRA_METADATA if name in metadata},
    )
