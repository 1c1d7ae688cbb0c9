"""Checks and the phase of the service -> a report of what works now, and whether questions should be sent here."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, Field

from app.http.middleware.drain import Traffic
from app.wiring.checks import ANSWER_WITHIN_S, Check

# Probes of several balancers share one round of checks.
FRESH_S = 1.0

Status = Literal["starting", "ready", "degraded", "down", "draining"]


class Finding(BaseModel):
    """What came of one check."""

    state: Literal["ok", "down"]
    required: bool = Field(description="Whether the service can answer nothing without it.")
    lap_ms: float = Field(description="How long the check took.")
    detail: str | None = Field(description="What there is to tell; where it is down, the kind of the error.")


class Report(BaseModel):
    """Whether questions should be sent here: yes while `ready` or `degraded`."""

    status: Status
    checks: dict[str, Finding]

    @property
    def ready(self) -> bool:
        """Return whether questions should be sent here."""
        return self.status in {"ready", "degraded"}


class Readiness:
    """Runs what `checks` returns, all at once, and keeps what came of them for a second.

    A check that has not answered in time is down, and is not asked again before its answer is there: what hangs takes
    one thread, however often it is asked for.
    """

    def __init__(
        self,
        checks: Callable[[], Sequence[Check]],
        traffic: Traffic,
        *,
        clock: Callable[[], float],
        within_s: float = ANSWER_WITHIN_S,
    ) -> None:
        self._checks = checks
        self._traffic = traffic
        self._clock = clock
        self._within_s = within_s
        self._lock = asyncio.Lock()
        self._asking: dict[str, asyncio.Task[Finding]] = {}
        self._findings: dict[str, Finding] = {}
        self._asked_at: float | None = None

    async def report(self) -> Report:
        """Return the report; while the service starts or drains nothing is asked."""
        if self._traffic.phase != "ready":
            return Report(status=self._traffic.phase, checks={})
        async with self._lock:
            if self._asked_at is None or self._clock() - self._asked_at >= FRESH_S:
                checks = self._checks()
                found = await asyncio.gather(*map(self._ask, checks))
                self._findings = {check.name: finding for check, finding in zip(checks, found, strict=True)}
                self._asked_at = self._clock()
        return Report(status=_status(self._findings), checks=self._findings)

    async def _ask(self, check: Check) -> Finding:
        task = self._asking.pop(check.name, None) or asyncio.create_task(self._finding(check))
        done, _ = await asyncio.wait({task}, timeout=self._within_s)
        if done:
            return task.result()
        self._asking[check.name] = task
        waited = f"no answer within {self._within_s:g} s"
        return Finding(state="down", required=check.required, lap_ms=1000 * self._within_s, detail=waited)

    async def _finding(self, check: Check) -> Finding:
        started = self._clock()
        try:
            state, detail = "ok", await check.ask()
        except Exception as error:  # Whatever it raises, it does not work; its message may hold an address.
            state, detail = "down", type(error).__name__
        lap_ms = round(1000 * (self._clock() - started), 1)
        return Finding.model_validate({"state": state, "required": check.required, "lap_ms": lap_ms, "detail": detail})


def _status(findings: dict[str, Finding]) -> Status:
    down = [finding for finding in findings.values() if finding.state == "down"]
    if any(finding.required for finding in down):
        return "down"
    return "degraded" if down else "ready"
