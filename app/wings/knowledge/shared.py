"""GET /api/answers: own logged answers, and one also for a colleague; POST /api/outdated: which no longer stand."""

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from fastapi import APIRouter, HTTPException, Path, Request
from pydantic import BaseModel, Field

from app.http.openapi import error_responses
from app.http.policy import Policy, no_question
from app.http.questions import identity_of
from app.ledger.answers import LoggedAnswer
from app.wings.knowledge.answer_log import can_recall, open_answers
from app.wings.knowledge.recall import recalled
from chains.citations.markers import find_markers

if TYPE_CHECKING:
    from app.wiring import Service

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


def shared_answers(services: "Service") -> APIRouter:
    router = APIRouter(tags=["Waypoint"])
    is_kept = services.settings.database.answer_log
    responses = error_responses(401, 403, 404, 422, 429, 500, 503)

    @router.get("/api/answers", responses=error_responses(401, 403, 429, 500, 503))
    def own(request: Request) -> EarlierQuestions:
        """Return the questions that a signed-in caller asked and may still see the answers of."""
        identity = identity_of(request)
        store = open_answers(services.settings)
        found = store.of(identity.user_id, MOST_EARLIER) if is_kept and identity.user_id else []
        shown = [one for one in found if identity.audience == "internal" or one.audience == "public"]
        return EarlierQuestions(
            answers=[
                EarlierQuestion(trace_id=one.trace_id, question=one.question, asked_at=one.at)
                for one in shown
                if one.question and one.packed
            ]
        )

    @router.get("/api/answers/{trace_id}", responses=responses)
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
        used = documents_of(found)
        if used != services.index.library.present(used, identity.audience):
            raise HTTPException(404, CHANGED)
        return shared(found)

    return router


def documents_of(logged: LoggedAnswer) -> set[str]:
    """Return the documents that an answer may repeat words of: a sentence without source, of any that was retrieved."""
    sentences = (logged.certificate or {})["sentences"]
    retrieved = () if all(sentence["sources"] for sentence in sentences) else logged.nearest
    cited = (source["doc_id"] for sentence in sentences for source in sentence["sources"])
    return {*filter(None, cited), *(one.doc_id for one in retrieved)}


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


def outdated_answers(services: "Service") -> APIRouter:
    router = APIRouter(tags=["Waypoint"])
    is_kept = can_recall(services.settings)
    responses = error_responses(400, 401, 403, 408, 413, 422, 429, 500, 503)

    @router.post("/api/outdated", responses=responses)
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

    return router
