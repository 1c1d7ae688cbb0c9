"""POST /api/feedback: what a user thinks of an answer."""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from app.call import config_of
from app.feedback import Feedback, receive

COMMENT_MAX_CHARACTERS = 2000


class BadRequestRoute(APIRoute):
    """A route that refuses a body that does not fit with 400 and what is wrong, where FastAPI says 422."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's own handler, its refusals translated."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            try:
                return await handle(request)
            except RequestValidationError as error:
                return JSONResponse({"error": "Bad Request", "message": _explain(error)}, status_code=400)

        return answer


router = APIRouter(tags=["Waypoint"], route_class=BadRequestRoute)


class FeedbackBody(BaseModel):
    """What a user thinks of an answer."""

    trace_id: UUID = Field(description="From the metadata of the answer.")
    score: Annotated[float, Field(strict=True)] = Field(ge=-1, le=1, description="From -1 (bad) to 1 (good).")
    comment: str | None = Field(None, max_length=COMMENT_MAX_CHARACTERS, examples=["The link is out of date."])


class FeedbackAccepted(BaseModel):
    """The feedback is passed on in the background."""

    status: Literal["accepted"] = "accepted"


@router.post("/api/feedback", status_code=202)
async def feedback(request: Request, body: FeedbackBody) -> FeedbackAccepted:
    """Take a score for an answer, with a comment where there is more to say."""
    metadata = config_of(request).get("metadata", {})
    receive(Feedback(body.trace_id, body.score, body.comment), request.app.state.services, metadata=metadata)
    return FeedbackAccepted()


def _explain(error: RequestValidationError) -> str:
    misfit = error.errors()[0]
    if misfit["type"] == "json_invalid" or len(misfit["loc"]) == 1:
        return "The body must be a JSON object with a trace_id and a score"
    return f"{'.'.join(str(part) for part in misfit['loc'][1:])}: {misfit['msg']}"
