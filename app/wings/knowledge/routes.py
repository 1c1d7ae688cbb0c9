"""HTTP routes of this wing: certificates, why, insights, own and shared answers, and which of them no longer stand."""

from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Path, Query, Request
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from app.adapters.identity import Scope
from app.http.errors import RequestRefusedError
from app.http.policy import Policy, no_question
from app.http.questions import QUERY_SCHEMA, TopK, identity_of
from app.http.routes.answers import QUERIED_BODY, QueryBody, asked
from app.http.routes.page import insights_page
from app.ledger.answers import DAY_S, LoggedAnswer
from app.wings.knowledge.answer_log import can_recall, open_answers
from app.wings.knowledge.certificate import Certificate, certificate
from app.wings.knowledge.insights import Insights, insights
from app.wings.knowledge.recall import recalled
from app.wings.knowledge.why import Reason, why
from app.wiring import Service
from chains.citations.markers import find_markers
from chains.question import QUERY_MAX_CHARACTERS, check_question

STRANGER = "Sign in to open this answer: it is shown to colleagues only."
NOT_KEPT = "This service keeps no answers, so a link opens only in the browser it was copied from."
GONE = "This answer is no longer kept, or it held personal data. Ask the question again."
INTERNAL = "This answer rests on internal documents, which you may not see. Ask a colleague who may."
CHANGED = "A document that this answer rests on was removed, or you may not see it. Ask the question again."
MOST_EARLIER = 50


class SharedCitation(BaseModel):
    """What a sentence rests on, as a citation of an answer; `place` is where the quote stands in its document."""

    start: int
    end: int
    number: int | None = None
    attributed: bool
    matched: bool = True
    title: str
    section: str
    page: int | None
    doc_id: str | None
    quote: str
    support: float
    place: tuple[int, int]


class SharedAnswer(BaseModel):
    """An answer as it was given; `asked_at` is in seconds since 1970, the question without personal data."""

    question: str
    answer: str
    outcome: str
    asked_at: float
    level: str | None = Field(description="Of its confidence.")
    score: float | None
    citations: list[SharedCitation]


class EarlierQuestion(BaseModel):
    """A question that the caller asked, without personal data; `asked_at` is in seconds since 1970."""

    trace_id: str
    question: str
    asked_at: float


class EarlierQuestions(BaseModel):
    """The newest ones first; none for an anonymous caller."""

    answers: list[EarlierQuestion]


def shared_answers(router: APIRouter, services: Service) -> None:
    is_kept = services.settings.database.logs_answers

    @router.get("/api/answers")
    def own(request: Request) -> EarlierQuestions:
        """Return the questions that a signed-in caller asked and may still see the answers of."""
        identity = identity_of(request)
        store = open_answers(services.settings)
        found = store.of(identity.user_id, MOST_EARLIER) if is_kept and identity.user_id else []
        shown = [logged for logged in found if identity.audience == "internal" or logged.audience == "public"]
        return EarlierQuestions(
            answers=[
                EarlierQuestion(trace_id=logged.trace_id, question=logged.question, asked_at=logged.at)
                for logged in shown
                if logged.question and logged.packed
            ]
        )

    @router.get("/api/answers/{trace_id}")
    def answer(request: Request, trace_id: Annotated[UUID, Path(description="From its metadata.")]) -> SharedAnswer:
        """Return a logged answer to a signed-in caller who sees at least what the asker saw."""
        identity = identity_of(request)
        if identity.user_id is None and identity.audience == "public":
            raise HTTPException(403, STRANGER)
        found = open_answers(services.settings).find(str(trace_id)) if is_kept else None
        if found is None or found.certificate is None:
            raise HTTPException(404, GONE if is_kept else NOT_KEPT)
        if found.audience == "internal" != identity.audience:
            raise HTTPException(403, INTERNAL)
        # A sentence without a source may repeat words of any document that was retrieved.
        sentences = found.certificate["sentences"]
        used = {source["doc_id"] for sentence in sentences for source in sentence["sources"] if source["doc_id"]}
        if not all(sentence["sources"] for sentence in sentences):
            used |= {document.doc_id for document in found.nearest}
        if used != services.index.library.present(used, identity.audience):
            raise HTTPException(404, CHANGED)
        return shared(found)


def shared(logged: LoggedAnswer) -> SharedAnswer:
    """Return what a colleague is shown of an answer whose certificate was kept."""
    certificate: dict[str, Any] = logged.certificate or {}
    markers, citations = find_markers(certificate["answer"]), list[SharedCitation]()
    for sentence in certificate["sentences"]:
        # The citations stand in the places of the sentence's markers; those without one stand at its end.
        start, end = sentence["start"], sentence["end"]
        inside = [marker for marker in markers if start <= marker.start and marker.end <= end]
        for at, source in enumerate(sentence["sources"]):
            place = (inside[at].start, inside[at].end) if at < len(inside) else (start, end)
            stands = {"start": place[0], "end": place[1], "attributed": at >= len(inside)}
            citations.append(SharedCitation(**source | stands | {"place": source["characters"]}))
    return SharedAnswer(
        question=logged.question or "",
        answer=certificate["answer"],
        outcome=logged.outcome,
        asked_at=logged.at,
        level=logged.level,
        score=logged.confidence,
        citations=citations,
    )


MOST_OUTDATED = 50


class OutdatedBody(BaseModel):
    """Answers, by the trace ids of their metadata."""

    trace_ids: list[UUID] = Field(max_length=MOST_OUTDATED)


class OutdatedWords(BaseModel):
    """Words that an answer rests on, and the nearest that the documents hold now; null where nothing is like them."""

    title: str
    old: str
    new: str | None


class OutdatedAnswers(BaseModel):
    """By trace id, the words that changed; answers that still stand, and those of others, are left out."""

    outdated: dict[str, list[OutdatedWords]]


def outdated_answers(router: APIRouter, services: Service) -> None:
    is_kept = can_recall(services.settings)

    @router.post("/api/outdated")
    @Policy(questions=no_question)
    def outdated(request: Request, body: OutdatedBody) -> OutdatedAnswers:
        """Return what changed in the documents since the caller's own answers were given, by the last ingestion."""
        outdated: dict[str, list[OutdatedWords]] = {}
        if not is_kept:
            return OutdatedAnswers(outdated=outdated)
        store, index, identity = open_answers(services.settings), services.index.current(), identity_of(request)
        asker = store.asker_of(identity.user_id) if identity.user_id else None
        for trace_id in map(str, body.trace_ids):
            for one in recalled(store, index, audience=identity.audience, trace_id=trace_id):
                # That an anonymous answer is the caller's own, its trace id says, which only its reader has.
                may_see = one.answer.audience == "public" or identity.audience == "internal"
                if one.answer.asker == asker and may_see:
                    words = [OutdatedWords(title=each.title, old=each.old, new=each.new) for each in one.changes]
                    outdated[trace_id] = words
        return OutdatedAnswers(outdated=outdated)


class WhyBody(BaseModel):
    """A question, and a document that its answer should rest on."""

    query: str = Field(examples=["Which permits for cosmetics to Indonesia?"], json_schema_extra=QUERY_SCHEMA)
    document: str = Field(description="Its id, title or file.", examples=["01_regulatory_gst"], max_length=1000)
    top_k: TopK | None = Field(None, alias="topK")


def routes(services: Service) -> APIRouter:
    router = APIRouter(tags=["Waypoint"])

    @router.post("/api/certificate", response_model=Certificate)
    @Policy(invalid=QUERIED_BODY)
    async def certify(request: Request, body: QueryBody) -> Any:
        """Answer one question, and prove each sentence: `waypoint verify` checks the certificate."""
        return await run_in_threadpool(certificate, await asked(request, body), services.index)

    @router.post("/api/why")
    @Policy(access=Scope.INTERNAL, invalid=QUERIED_BODY)
    def why_not(body: WhyBody) -> Reason:
        """Name the first place at which an answer lost a document, and what brings it back; for staff."""
        return why(check_question(body.query, QUERY_MAX_CHARACTERS), body.document, services, top_k=body.top_k)

    @router.get("/insights", response_model=Insights)
    @Policy(access=Scope.INGEST, questions=no_question)
    def what_to_write(request: Request, days: Annotated[int, Query(ge=1, le=3650)] = 30) -> Any:
        """Say what to write next, from what everybody asked: a page for browsers, JSON for everything else."""
        if identity_of(request).audience != "internal":
            raise RequestRefusedError(403, "This needs the scopes ingest and ask:internal")
        store = open_answers(services.settings)
        found = insights(store, services, since=store.now() - days * DAY_S)
        return insights_page(request, found, days=days) if "text/html" in request.headers.get("accept", "") else found

    shared_answers(router, services)
    outdated_answers(router, services)
    return router
