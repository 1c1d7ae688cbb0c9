"""A request -> the same request, if its path can name anything."""

from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.problems import NOTHING_HERE, RequestRefusedError


class ReadablePaths:
    """ASGI middleware that finds nothing under a path with control characters; files cannot be opened by such names."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and not scope["path"].isprintable():
            raise RequestRefusedError(NOTHING_HERE)
        await self.app(scope, receive, send)
