"""POST /api/feedback: store a user's score for an answer; also an event, a LangSmith score and a log line."""

from typing import Annotated, Literal
from uuid import UUID, uuid4

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.concurrency import run_in_threadpool

from app.adapters.identity import Scope
from app.http.errors import RequestRefusedError
from app.http.policy import Policy
from app.http.questions import identity_of
from app.ports import NotTheAskerError
from app.wiring.chain import safe_text
from chains.errors import VectorStoreError
from chains.logs import get_logger

COMMENT_MAX_CHARACTERS = 2000
OTHERS = "Only the user who asked can rate this answer, signed in as then."
NOT_KEPT = "Feedback cannot be stored at the moment. Try again later, or contact support."

log = get_logger(__name__)
router = APIRouter(tags=["Waypoint"])


class FeedbackBody(BaseModel):
    """What a user thinks of an answer."""

    trace_id: UUID = Field(description="From the metadata of the answer.")
    score: Annotated[float, Field(strict=True)] = Field(ge=-1, le=1, description="From -1 (bad) to 1 (good).")
    comment: str | None = Field(None, max_length=COMMENT_MAX_CHARACTERS, examples=["The link is out of date."])


class FeedbackAccepted(BaseModel):
    """The feedback is accepted; receivers of events and traces get it in the background."""

    status: Literal["accepted"] = "accepted"
    kept: bool = Field(description="Whether it is stored with its answer; not if answers are not logged, or no longer.")


@router.post("/api/feedback", status_code=202, response_description="Accepted")
@Policy(access=Scope.FEEDBACK, invalid={"": "a JSON object with a trace_id and a score"})
async def feedback(request: Request, body: FeedbackBody) -> FeedbackAccepted:
    """Store a score for an answer, with an optional comment."""
    services, identity = request.app.state.services, identity_of(request)
    body = body.model_copy(update={"comment": body.comment and safe_text(services.settings, body.comment)})
    is_stored = False
    if services.answer_log is not None:  # If that fails, the feedback is accepted only where another receiver takes it.
        caller = {"user_id": identity.user_id, "audience": identity.audience}
        rate, others = services.answer_log.rate, services.index.outbox or services.tracing.scores
        try:
            is_stored = await run_in_threadpool(rate, str(body.trace_id), body.score, body.comment, **caller)
        except NotTheAskerError:
            raise RequestRefusedError(403, OTHERS) from None
        except VectorStoreError as error:
            log.error("feedback_not_kept", error=str(error))
            if not others:
                raise RequestRefusedError(503, NOT_KEPT) from None
    if services.index.outbox:
        correlation_id = getattr(request.state, "request_id", None) or str(uuid4())
        payload = {"traceId": str(body.trace_id), "score": body.score, "comment": body.comment}
        payload = {name: value for name, value in (payload | {"userId": identity.user_id}).items() if value is not None}
        services.index.outbox.publish("FeedbackReceived", payload, correlation_id=correlation_id)
    if services.tracing.scores:
        services.tracing.scores.put(body.model_dump())
    log.info("feedback", trace_id=str(body.trace_id), score=body.score)
    return FeedbackAccepted(kept=is_stored)
