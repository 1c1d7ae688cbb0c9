"""GET /api/health, /health/live, /health/ready and /metrics: health checks and metrics."""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, Field

from app.adapters.identity import Scope
from app.http.middleware.limits import RETRY_AFTER_S, InFlight
from app.http.openapi import CONTENTS
from app.http.policy import Policy
from app.http.questions import identity_of
from app.wiring.observability import ANSWER_WITHIN_S, Check
from chains.clock import timestamp

# Probes of several load balancers share one round of checks.
FRESH_S = 1.0

Status = Literal["starting", "ready", "degraded", "down", "draining"]


class Health(BaseModel):
    """That the service is up, and since when."""

    status: Literal["ok"] = "ok"
    timestamp: str = Field(description="ISO 8601, UTC.", examples=["2026-11-22T09:30:00.123456Z"])
    uptime: float = Field(description="Seconds since the start.", examples=[86400.5])
    version: str = Field(examples=["0.3.0"])


class CheckResult(BaseModel):
    """The result of one check."""

    state: Literal["ok", "down"]
    required: bool = Field(description="Whether the service cannot answer without it.")
    lap_ms: float = Field(description="How long the check took.")
    detail: str | None = Field(
        description="If it is down, the kind of error; otherwise what the check reports, for staff only."
    )


class ReadinessReport(BaseModel):
    """Whether questions should be sent here: yes while `ready` or `degraded`."""

    status: Status = Field(examples=["ready"])
    checks: dict[str, CheckResult]
    answer_seconds: dict[str, float] = Field(
        default_factory=dict,
        description="Percentiles (p50, p95, p99) of the last 1,000 answers of this process, for staff only.",
    )


@dataclass
class Readiness:
    """Runs what `checks` returns, all at once, and keeps the results for a second.

    A check that does not answer in time is down, and is not started again before it has answered, so a hanging check
    holds one thread at most.
    """

    checks: Callable[[], Sequence[Check]]
    in_flight: InFlight
    clock: Callable[[], float]
    within_s: float = ANSWER_WITHIN_S
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _running: dict[str, asyncio.Task[CheckResult]] = field(default_factory=dict, init=False)
    _results: dict[str, CheckResult] = field(default_factory=dict, init=False)
    _checked_at: float | None = field(default=None, init=False)

    async def report(self) -> ReadinessReport:
        """Return the report; while the service starts or drains nothing is checked."""
        if self.in_flight.phase != "ready":
            return ReadinessReport(status=self.in_flight.phase, checks={})
        async with self._lock:
            if self._checked_at is None or self.clock() - self._checked_at >= FRESH_S:
                checks = self.checks()
                results = await asyncio.gather(*map(self._run, checks))
                self._results = {check.name: result for check, result in zip(checks, results, strict=True)}
                self._checked_at = self.clock()
        down = [result for result in self._results.values() if result.state == "down"]
        status: Status = "down" if any(result.required for result in down) else "degraded" if down else "ready"
        return ReadinessReport(status=status, checks=self._results)

    async def _run(self, check: Check) -> CheckResult:
        task = self._running.pop(check.name, None) or asyncio.create_task(self._result(check))
        done, _ = await asyncio.wait({task}, timeout=self.within_s)
        if done:
            return task.result()
        self._running[check.name] = task
        detail = f"no answer within {self.within_s:g} s"
        return CheckResult(state="down", required=check.required, lap_ms=1000 * self.within_s, detail=detail)

    async def _result(self, check: Check) -> CheckResult:
        started = self.clock()
        state: Literal["ok", "down"] = "ok"
        try:
            detail = await check.ask()
        except Exception as error:  # Any error means down; its message may hold an address.
            wait_s = getattr(error, "retry_after_s", None)
            state, detail = "down", type(error).__name__ + (f", for {math.ceil(wait_s)} s" if wait_s else "")
        lap_ms = round(1000 * (self.clock() - started), 1)
        return CheckResult(state=state, required=check.required, lap_ms=lap_ms, detail=detail)


router = APIRouter(tags=["operations"])
PROBE = Policy(access="open", drained=False)

_ELSEWHERE: dict[int | str, dict[str, Any]] = {
    503: {
        "model": ReadinessReport,
        "description": "Send questions elsewhere",
        "content": {"application/json": {"example": {"status": "draining", "checks": {}}}},
    }
}


@router.get("/api/health", response_description="Up")
@PROBE
async def health(request: Request) -> Health:
    """Return the status, the time, the uptime, and the version."""
    return health_of(request)


def health_of(request: Request) -> Health:
    return Health(
        timestamp=timestamp(),
        uptime=round(time.monotonic() - request.app.state.started, 3),
        version=request.app.version,
    )


@router.get("/health/live", response_description="Alive")
@PROBE
async def live() -> dict[str, str]:
    """Return that the process answers; one that does not should be started again."""
    return {"status": "ok"}


@router.get(
    "/health/ready",
    response_model_exclude_defaults=True,
    response_description="Send questions here",
    responses=_ELSEWHERE,
)
@Policy(access="report", drained=False)
async def ready(request: Request, response: Response) -> ReadinessReport:
    """Check what the service depends on; 503 if questions should be sent elsewhere. Staff see details."""
    report: ReadinessReport = await request.app.state.readiness.report()
    if report.status not in {"ready", "degraded"}:
        response.status_code = 503
        response.headers["Retry-After"] = str(RETRY_AFTER_S)
    if identity_of(request).audience == "internal":
        return report.model_copy(update={"answer_seconds": request.app.state.services.metrics.percentiles()})
    # Strangers see no details of working parts, such as the number of chunks.
    for check in (checks := {name: check.model_copy() for name, check in report.checks.items()}).values():
        check.detail = check.detail if check.state == "down" else None
    return ReadinessReport(status=report.status, checks=checks)


@router.get("/metrics", response_class=Response, responses={200: CONTENTS["figures"]})
@Policy(access=Scope.METRICS, drained=False)
async def metrics(request: Request) -> Response:
    """Return the metrics in Prometheus's text format."""
    return Response(request.app.state.services.metrics.text(), media_type=CONTENT_TYPE_LATEST)
