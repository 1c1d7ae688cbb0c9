"""GET /api/health: whether the service is up."""

import time
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from fastapi import APIRouter, Request

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
