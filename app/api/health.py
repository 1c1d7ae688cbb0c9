"""GET /api/health, /health/live and /health/ready: whether the service is up, and whether to send it questions."""

import time
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request, Response

from app.drain import RETRY_AFTER_S
from app.readiness import Report

router = APIRouter(tags=["operations"])


@router.get("/api/health")
async def health(request: Request) -> dict[str, Any]:
    """Return the status, the time (ISO 8601, UTC), the uptime in seconds, and the version."""
    return {
        "status": "ok",
        "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        "uptime": round(time.monotonic() - request.app.state.started, 3),
        "version": version("waypoint-copilot"),
    }


@router.get("/health/live")
async def live() -> dict[str, str]:
    """Return that the process answers: one that does not is to be started again."""
    return {"status": "ok"}


@router.get("/health/ready", responses={503: {"model": Report, "description": "Send questions elsewhere."}})
async def ready(request: Request, response: Response) -> Report:
    """Ask what the service leans on, and return what works; 503 where questions should be sent elsewhere."""
    report: Report = await request.app.state.readiness.report()
    response.headers["Cache-Control"] = "no-store"
    if not report.ready:
        response.status_code = 503
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
    return report
