"""POST /api/certificate: an answer's proof; POST /api/why: where it lost a document; GET /insights: what to write."""

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from app.adapters.sessions.identity import Scope
from app.http.errors import RequestRefusedError
from app.http.openapi import ANSWER, error_responses, ok_response
from app.http.policy import Policy, no_question
from app.http.questions import QUERY_SCHEMA, TopK, identity_of
from app.http.routes.answers import QUERIED_BODY, QueryBody, asked
from app.http.routes.page import insights_page
from app.ledger.answers import DAY_S
from app.wings.knowledge.answer_log import open_answers
from app.wings.knowledge.certificate import Certificate, certificate
from app.wings.knowledge.insights import DocumentUse, Gap, Insights, NearDocument, Week, insights
from app.wings.knowledge.shared import outdated_answers, shared_answers
from app.wings.knowledge.verification import VERSION
from app.wings.knowledge.why import Reason, why
from app.wiring import Service
from chains.question import QUERY_MAX_CHARACTERS, check_question


class WhyBody(BaseModel):
    """A question, and a document that its answer should rest on."""

    query: str = Field(examples=["Which permits for cosmetics to Indonesia?"], json_schema_extra=QUERY_SCHEMA)
    document: str = Field(description="Its id, title or file.", examples=["01_regulatory_gst"], max_length=1000)
    top_k: TopK | None = Field(None, alias="topK")


WHY_EXAMPLE = Reason(
    "outranked",
    "its best passage, GST Guide > Rate, is number 15 of all, behind VAT Guide > Rate (similarity 0.60, 0.04 less)",
    "RETRIEVAL_TOP_K=15 (now 10), or the question's words in a heading",
)
INSIGHTS_EXAMPLE = Insights(
    asked=40,
    answered=31,
    weeks=[Week("2026-W47", 40, 31)],
    gaps=[
        Gap(
            question="Can you ship a dog to Japan?",
            asked=3,
            last="2026-11-20",
            why="no passage",
            audience="public",
            examples=["Is it possible to send dogs to Japan?"],
            comments=[],
            documents=[NearDocument("02_carriers_guide", "Carrier Guide", "public", 0.41)],
        )
    ],
    documented=[],
    documents=[DocumentUse("01_regulatory_gst", "GST Guide", 12, 1)],
    never_cited=["VAT Guide"],
)
EXAMPLE = Certificate(
    version=VERSION,
    question=ANSWER["question"],
    answer=ANSWER["answer"],
    outcome="answered",
    asked_at="2026-11-24T09:30:00+00:00",
    sentences=[
        {
            "start": 0,
            "end": len(ANSWER["answer"]),
            "says": "It is 9 %.",
            "sources": [
                {
                    "doc_id": "01_regulatory_gst",
                    "title": "GST Guide",
                    "section": "Rate",
                    "table_head": "",
                    "file": "01_regulatory/gst.md",
                    "page": None,
                    "sha256": "302a5a0b32ed69f4513ba5c34091ffd2101a07edc1f6d016aa6b6e5f920c91cf",
                    "bytes": (61, 108),
                    "characters": (61, 108),
                    "quote": "The rate of GST on imports into Singapore is 9 %.",
                    "support": 0.94,
                    "rule": "figures",
                }
            ],
        }
    ],
    model="llama-3.1-8b-instant",
    index="0b6d7c0e",
    prompts="b5b1",
    settings="7c2f",
    sha256="e9a4",
)


def routes(services: Service) -> APIRouter:
    """Return the routes."""
    router = APIRouter(tags=["Waypoint"])
    errors = error_responses(400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504)

    @router.post("/api/certificate", response_model=Certificate, responses=errors | ok_response(EXAMPLE))
    @Policy(invalid=QUERIED_BODY)
    async def certify(request: Request, body: QueryBody) -> Any:
        """Answer one question, and prove each sentence: `waypoint verify` checks the certificate."""
        return await run_in_threadpool(certificate, await asked(request, body), services.index)

    @router.post("/api/why", responses=errors | ok_response(asdict(WHY_EXAMPLE)))
    @Policy(access=Scope.INTERNAL, invalid=QUERIED_BODY)
    def why_not(body: WhyBody) -> Reason:
        """Name the first place at which an answer lost a document, and what brings it back; for staff."""
        return why(check_question(body.query, QUERY_MAX_CHARACTERS), body.document, services, top_k=body.top_k)

    @router.get(
        "/insights",
        responses=errors | error_responses(422) | ok_response(asdict(INSIGHTS_EXAMPLE)),
        response_model=Insights,
    )
    @Policy(access=Scope.INGEST, questions=no_question)
    def what_to_write(request: Request, days: Annotated[int, Query(ge=1, le=3650)] = 30) -> Any:
        """Say what to write next, from what everybody asked: a page for browsers, JSON for everything else."""
        if identity_of(request).audience != "internal":
            raise RequestRefusedError(403, "This needs the scopes ingest and ask:internal")
        store = open_answers(services.settings)
        found = insights(store, services, since=store.now() - days * DAY_S)
        if "text/html" in request.headers.get("accept", ""):
            return insights_page(request, found, days=days)
        return found

    router.include_router(shared_answers(services))
    router.include_router(outdated_answers(services))
    return router
