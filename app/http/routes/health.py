"""GET /api/health, /health/live and /health/ready: whether the service is up, and whether to send it questions."""

import time
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from app.http.examples import answered_with
from app.http.middleware.drain import RETRY_AFTER_S
from app.http.readiness import Report

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """That the service is up, and since when."""

    status: Literal["ok"] = "ok"
    timestamp: str = Field(description="ISO 8601, UTC.")
    uptime: float = Field(description="Seconds since the start.")
    version: str


HEALTH = {"status": "ok", "timestamp": "2026-11-22T09:30:00.123456Z", "uptime": 86400.5, "version": "0.1.0"}


@router.get("/api/health", responses=answered_with(HEALTH, "Up"))
async def health(request: Request) -> Health:
    """Return the status, the time, the uptime, and the version."""
    return health_of(request)


def health_of(request: Request) -> Health:
    """Return what every contract's health check says."""
    return Health(
        timestamp=datetime.now(UTC).isoformat().replace("+00:00", "Z"),
        uptime=round(time.monotonic() - request.app.state.started, 3),
        version=version("waypoint-copilot"),
    )


@router.get("/health/live", responses=answered_with({"status": "ok"}, "Alive"))
async def live() -> dict[str, str]:
    """Return that the process answers: one that does not is to be started again."""
    return {"status": "ok"}


_STORE = {"required": True, "lap_ms": 1.3}
_READY = {"status": "ready", "checks": {"vector_store": _STORE | {"state": "ok", "detail": "412 chunks"}}}
_DOWN = {"status": "down", "checks": {"vector_store": _STORE | {"state": "down", "detail": "VectorStoreError"}}}
_ELSEWHERE: dict[int | str, dict[str, Any]] = {
    503: {
        "model": Report,
        "description": "Send questions elsewhere",
        "content": {"application/json": {"example": _DOWN}},
    }
}


@router.get("/health/ready", responses=_ELSEWHERE | answered_with(_READY, "Send questions here"))
async def ready(request: Request, response: Response) -> Report:
    """Ask what the service leans on, and return what works; 503 where questions should be sent elsewhere."""
    report: Report = await request.app.state.readiness.report()
    response.headers["Cache-Control"] = "no-store"
    if not report.ready:
        response.status_code = 503
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
    return report
