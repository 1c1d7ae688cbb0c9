"""POST /api/certificate: an answer's proof; POST /api/why: where it lost a document; GET /insights: what to write."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from app.adapters.sessions.identity import Scope
from app.http.errors import RequestRefusedError
from app.http.openapi import error_responses
from app.http.policy import Policy, no_question
from app.http.questions import QUERY_SCHEMA, TopK, identity_of
from app.http.routes.answers import QUERIED_BODY, QueryBody, asked
from app.http.routes.page import insights_page
from app.ledger.answers import DAY_S
from app.wings.knowledge.answer_log import open_answers
from app.wings.knowledge.certificate import Certificate, certificate
from app.wings.knowledge.insights import Insights, insights
from app.wings.knowledge.shared import outdated_answers, shared_answers
from app.wings.knowledge.why import Reason, why
from app.wiring import Service
from chains.question import QUERY_MAX_CHARACTERS, check_question


class WhyBody(BaseModel):
    """A question, and a document that its answer should rest on."""

    query: str = Field(examples=["Which permits for cosmetics to Indonesia?"], json_schema_extra=QUERY_SCHEMA)
    document: str = Field(description="Its id, title or file.", examples=["01_regulatory_gst"], max_length=1000)
    top_k: TopK | None = Field(None, alias="topK")


def routes(services: Service) -> APIRouter:
    router = APIRouter(tags=["Waypoint"])
    errors = error_responses(400, 401, 403, 404, 408, 413, 429, 500, 502, 503, 504)

    @router.post("/api/certificate", response_model=Certificate, responses=errors)
    @Policy(invalid=QUERIED_BODY)
    async def certify(request: Request, body: QueryBody) -> Any:
        """Answer one question, and prove each sentence: `waypoint verify` checks the certificate."""
        return await run_in_threadpool(certificate, await asked(request, body), services.index)

    @router.post("/api/why", responses=errors)
    @Policy(access=Scope.INTERNAL, invalid=QUERIED_BODY)
    def why_not(body: WhyBody) -> Reason:
        """Name the first place at which an answer lost a document, and what brings it back; for staff."""
        return why(check_question(body.query, QUERY_MAX_CHARACTERS), body.document, services, top_k=body.top_k)

    @router.get("/insights", responses=errors | error_responses(422), response_model=Insights)
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
