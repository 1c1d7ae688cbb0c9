"""A request -> one more in the metrics, by its route and its status."""

import time

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.observability.metrics import Metrics

METHODS = {"GET", "HEAD", "POST", "OPTIONS"}
NOT_ANSWERED = 499  # What proxies log where the client went away before an answer began.


class RequestMetrics:
    """Counts each request when its response has ended."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and count it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = NOT_ANSWERED
        started = time.perf_counter()

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, send_and_note)
        finally:
            method = scope["method"] if scope["method"] in METHODS else "other"
            seconds = time.perf_counter() - started
            self.metrics.request(method=method, route=_route(scope), status=status, seconds=seconds)


def _route(scope: Scope) -> str:
    """Return the template of the route that took the request: clients cannot make up new ones."""
    return getattr(scope.get("route"), "path", "none")
