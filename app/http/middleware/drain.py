"""Count the requests in progress, and refuse new ones while the service drains."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.errors import RequestRefusedError
from app.http.policy import pdf_pages_of, policy_of

Phase = Literal["starting", "ready", "draining"]

RETRY_AFTER_S = 5


class InFlight:
    """The phase of the service, and the requests in progress."""

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
        """Refuse new requests, and return when the running ones have ended or the time is over."""
        self.phase = "draining"
        try:
            await asyncio.wait_for(self._idle.wait(), timeout_s)
        except TimeoutError:
            return


class DrainMiddleware:
    """ASGI middleware that counts requests and, while the service drains, refuses all but monitoring and rendering."""

    def __init__(self, app: ASGIApp, in_flight: InFlight) -> None:
        self.app = app
        self.in_flight = in_flight

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not policy_of(scope).drained:
            await self.app(scope, receive, send)
            return
        if self.in_flight.phase == "draining":
            # A client on a kept connection has to open a new one, which leads to another process.
            headers = {"Retry-After": str(RETRY_AFTER_S), "Connection": "close"}
            raise RequestRefusedError(503, "The service is restarting. Try again in a few seconds.", headers)
        if pdf_pages_of(scope):  # Not for rendering: it may be slow, and the page asks again.
            await self.app(scope, receive, send)
            return
        with self.in_flight.request():
            await self.app(scope, receive, send)
