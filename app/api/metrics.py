"""GET /metrics: the figures of the service, for Prometheus."""

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

router = APIRouter(tags=["operations"])


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(request: Request) -> Response:
    """Return the figures in the text form of Prometheus."""
    return Response(request.app.state.services.metrics.text(), media_type=CONTENT_TYPE_LATEST)
