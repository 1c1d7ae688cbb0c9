"""DELETE /api/sessions/{id}: forget a conversation."""

from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from app.http.openapi import error_responses
from app.http.questions import SESSION_MAX_CHARACTERS, run_config
from app.http.routes.json_route import JsonRoute
from chains.conversations import owner_of

router = APIRouter(tags=["Waypoint"], route_class=JsonRoute)
_RESPONSES = error_responses(400, 401, 403, 404, 422, 429, 500, 503)
_RESPONSES |= {204: {"description": "Deleted.", "content": {}}}

SessionId = Annotated[str, Path(min_length=1, max_length=SESSION_MAX_CHARACTERS, description="Its `session_id`.")]


@router.delete("/api/sessions/{session_id}", status_code=204, responses=_RESPONSES)
async def forget(request: Request, session_id: SessionId) -> Response:
    """Delete the conversation with this id. Ids belong to their caller."""
    await request.app.state.services.conversations.delete(session_id, owner_of(run_config(request)))
    return Response(status_code=204)
