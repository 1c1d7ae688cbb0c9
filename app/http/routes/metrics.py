"""GET /metrics: the figures of the service, for Prometheus."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from app.http.errors import documented

router = APIRouter(tags=["operations"])


_EXAMPLE = 'waypoint_answers_total{outcome="answered"} 41.0\n'
_FIGURES = {"description": "The figures", "content": {"text/plain": {"example": _EXAMPLE}}}


@router.get("/metrics", response_class=Response, responses=documented(401, 403, 429) | {200: _FIGURES})
async def metrics(request: Request) -> Response:
    """Return the figures in the text form of Prometheus."""
    return Response(request.app.state.services.metrics.text(), media_type=CONTENT_TYPE_LATEST)
