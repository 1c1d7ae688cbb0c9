"""An error on the way to or from a route -> the response that explains it."""

from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Explained:
    """ASGI middleware: the last place where an error can still become an answer. Streams pass through untouched."""

    def __init__(self, app: ASGIApp, *, explain: Callable[[Request, Exception], Awaitable[Response]]) -> None:
        self.app = app
        self.explain = explain

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and explain what it ends in."""
        started = False

        async def watch(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watch)
        except Exception as error:
            if started or scope["type"] != "http":
                raise
            response = await self.explain(Request(scope), error)
            await response(scope, receive, send)
