"""Requests -> the application, counted; while the service drains, a refusal that says when to come again."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

Phase = Literal["starting", "ready", "draining"]

# Whoever watches the service has to be answered to the end.
WATCHED = ("/health", "/api/health", "/metrics")
RETRY_AFTER_S = 5


class Traffic:
    """The phase that the service is in, and the requests under way."""

    def __init__(self) -> None:
        self.phase: Phase = "starting"
        self.running = 0
        self._idle = asyncio.Event()
        self._idle.set()

    @contextmanager
    def request(self) -> Iterator[None]:
        """Count a request as running while the body runs."""
        self.running += 1
        self._idle.clear()
        try:
            yield
        finally:
            self.running -= 1
            if not self.running:
                self._idle.set()

    async def drain(self, timeout_s: float) -> None:
        """Let no new request in, and return when those that run have ended, or the time is over."""
        self.phase = "draining"
        try:
            await asyncio.wait_for(self._idle.wait(), timeout_s)
        except TimeoutError:
            return


class Gate:
    """The ASGI application behind a gate, which is shut to all but those who watch once the service drains."""

    def __init__(self, app: ASGIApp, traffic: Traffic) -> None:
        self.app = app
        self.traffic = traffic

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] != "http" or scope["path"].startswith(WATCHED):
            await self.app(scope, receive, send)
        elif self.traffic.phase == "draining":
            await _refusal()(scope, receive, send)
        else:
            with self.traffic.request():
                await self.app(scope, receive, send)


def _refusal() -> JSONResponse:
    # A client on a kept connection has to open a new one, which leads to another process.
    return JSONResponse(
        {"error": "Service Unavailable", "message": "The service is being restarted. Try again in some seconds."},
        status_code=503,
        headers={"Retry-After": str(RETRY_AFTER_S), "Connection": "close"},
    )
