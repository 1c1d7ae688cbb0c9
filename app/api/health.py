"""GET /api/health: whether the service is up."""

import time
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Literal

from fastapi import APIRouter, Request
from pydantic import BaseModel, Field

from app.api.examples import answered_with

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
