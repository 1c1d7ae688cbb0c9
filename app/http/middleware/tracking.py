"""Give each request an id, and count it in the metrics."""

import re
import time
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.observability.metrics import Metrics

HEADER = "X-Request-ID"
_VALID_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_METHODS = {"GET", "HEAD", "POST", "OPTIONS"}
CLIENT_CLOSED_REQUEST = 499  # nginx's status for a client that left before the response began.


class RequestIds:
    """ASGI middleware that sets `request.state.request_id`, binds it to every log line, and returns it as a header.

    A client's own X-Request-ID is kept if it is short and plain: it ends up in logs, headers and events.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        sent = Headers(scope=scope).get(HEADER, "")
        request_id = sent if _VALID_ID.fullmatch(sent) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[HEADER] = request_id
            await send(message)

        with structlog.contextvars.bound_contextvars(request_id=request_id):
            await self.app(scope, receive, send_with_id)


class RequestMetrics:
    """ASGI middleware that counts each request when its response has ended, by method, route and status."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = CLIENT_CLOSED_REQUEST
        started = time.perf_counter()

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            # The route's template, because clients cannot invent new ones.
            route = getattr(scope.get("route"), "path", "none")
            seconds = time.perf_counter() - started
            self.metrics.request(method=method, route=route, status=status, seconds=seconds)
