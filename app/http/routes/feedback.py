"""POST /api/feedback: what a user thinks of an answer."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field

from app.http.errors import bad_request_route, documented
from app.http.feedback import Feedback, receive
from app.http.run_config import config_of

COMMENT_MAX_CHARACTERS = 2000


def _explain(error: RequestValidationError) -> str:
    misfit = error.errors()[0]
    if misfit["type"] == "json_invalid" or len(misfit["loc"]) == 1:
        return "The body must be a JSON object with a trace_id and a score"
    return f"{'.'.join(str(part) for part in misfit['loc'][1:])}: {misfit['msg']}"


router = APIRouter(tags=["Waypoint"], route_class=bad_request_route(_explain))


class FeedbackBody(BaseModel):
    """What a user thinks of an answer."""

    trace_id: UUID = Field(description="From the metadata of the answer.")
    score: Annotated[float, Field(strict=True)] = Field(ge=-1, le=1, description="From -1 (bad) to 1 (good).")
    comment: str | None = Field(None, max_length=COMMENT_MAX_CHARACTERS, examples=["The link is out of date."])


class FeedbackAccepted(BaseModel):
    """The feedback is passed on in the background."""

    status: Literal["accepted"] = "accepted"


_RESPONSES = documented(400, 401, 403, 408, 413, 429, 500, 503)
_RESPONSES[202] = {"description": "Accepted", "content": {"application/json": {"example": {"status": "accepted"}}}}


@router.post("/api/feedback", status_code=202, responses=_RESPONSES)
async def feedback(request: Request, body: FeedbackBody) -> FeedbackAccepted:
    """Take a score for an answer, with a comment where there is more to say."""
    metadata = config_of(request).get("metadata", {})
    receive(Feedback(body.trace_id, body.score, body.comment), request.app.state.services, metadata=metadata)
    return FeedbackAccepted()
