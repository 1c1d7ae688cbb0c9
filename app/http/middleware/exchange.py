"""Give each request an id, count it in the metrics, and tell browsers what they may do with the response."""

import re
import time
from dataclasses import dataclass
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.http.middleware.browser_security import HEADERS, NO_FRAMES, POLICY
from app.observability.metrics import Metrics

HEADER = "X-Request-ID"
_VALID_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = {"GET", "HEAD", "POST", "OPTIONS"}
CLIENT_CLOSED_REQUEST = 499  # nginx's status for a client that left before the response began.


@dataclass
class Exchange:
    """ASGI middleware around every request and its response.

    The id is in `request.state.request_id`, in every log line and in the response; a client's own X-Request-ID is kept
    if it is short and plain. Each request is counted when its response has ended, by method, route and status. Of the
    security headers a route's own win.
    """

    app: ASGIApp
    metrics: Metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get(HEADER, "")
        request_id = given if _VALID_ID.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        status, started = CLIENT_CLOSED_REQUEST, time.perf_counter()

        async def respond(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers[HEADER] = request_id
                for name, value in (HEADERS | {"Content-Security-Policy": POLICY}).items():
                    headers.setdefault(name, value)
                if NO_FRAMES not in headers["Content-Security-Policy"]:
                    del headers["X-Frame-Options"]  # It takes no list of origins; the policy does.
            await send(message)

        try:
            with structlog.contextvars.bound_contextvars(request_id=request_id):
                await self.app(scope, receive, respond)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            # The route's template, because clients cannot invent new ones.
            route = getattr(scope.get("route"), "path", "none")
            seconds = time.perf_counter() - started
            self.metrics.request(method=method, route=route, status=status, seconds=seconds)
