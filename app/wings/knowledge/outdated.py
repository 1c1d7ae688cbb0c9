"""POST /api/outdated: which of a caller's answers rest on words that changed or vanished."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from app.adapters.sessions.identity import Identity
from app.http.openapi import error_responses, ok_response
from app.http.policy import Policy, no_question
from app.http.questions import JsonRoute, identity_of
from app.ledger.answers import LoggedAnswer
from app.wings.knowledge.answer_log import open_answers
from app.wings.knowledge.recall import recalled

if TYPE_CHECKING:
    from app.wiring import Services

MOST_ANSWERS = 50


class OutdatedBody(BaseModel):
    """Answers, by the trace ids of their metadata."""

    trace_ids: list[UUID] = Field(max_length=MOST_ANSWERS)


class OutdatedWords(BaseModel):
    """Words that an answer rests on, and the nearest that the documents hold now; null where nothing is like them."""

    title: str
    old: str
    new: str | None


class OutdatedAnswers(BaseModel):
    """By trace id, the words that changed; answers that still stand, and those of others, are left out."""

    outdated: dict[str, list[OutdatedWords]]


_EXAMPLE = {
    "outdated": {
        "0199d3f0-7d1c-7f4e-9c3b-0b6d7c0e4a11": [
            {"title": "GST Guide", "old": "The rate of GST is 9 %.", "new": "The rate of GST is 10 %."}
        ]
    }
}


def outdated_answers(services: "Services") -> APIRouter:
    """Return the route."""
    router = APIRouter(tags=["Waypoint"], route_class=JsonRoute)
    is_kept = services.settings.answer_log.enabled and not services.remote
    responses = error_responses(400, 401, 403, 408, 413, 422, 429, 500, 503) | ok_response(_EXAMPLE)

    @router.post("/api/outdated", responses=responses)
    @Policy(questions=no_question)
    def outdated(request: Request, body: OutdatedBody) -> OutdatedAnswers:
        """Return what changed in the documents since the caller's own answers were given, by the last ingestion."""
        found = _outdated(services, [str(id_) for id_ in body.trace_ids], identity_of(request)) if is_kept else {}
        return OutdatedAnswers(outdated=found)

    return router


def _outdated(services: "Services", trace_ids: Sequence[str], identity: Identity) -> dict[str, list[OutdatedWords]]:
    store, index = open_answers(services.settings), services.index.current()
    asker = store.asker_of(identity.user_id) if identity.user_id else None
    return {
        trace_id: [OutdatedWords(title=change.title, old=change.old, new=change.new) for change in one.changes]
        for trace_id in trace_ids
        for one in recalled(store, index, audience=identity.audience, trace_id=trace_id)
        if _is_own(one.answer, asker, identity)
    }


def _is_own(answer: LoggedAnswer, asker: str | None, identity: Identity) -> bool:
    """Return whether a caller asked for an answer, and still sees what it rests on.

    Of an anonymous answer its trace id, which only its reader has, says so.
    """
    return answer.asker == asker and (answer.audience == "public" or identity.audience == "internal")
