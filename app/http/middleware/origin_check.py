"""A request from a page in a browser -> the same request, if the page may ask on behalf of who looks at it."""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.problems import Problem, RequestRefusedError
from app.wiring.access import is_loopback


class LocalPages:
    """ASGI middleware for a service that only this machine may ask: it answers no page from elsewhere.

    A browser runs the pages of strangers on this machine, and they can post to loopback; with a name of their own that
    they point there, they could read the answer. Browsers say where a page is from; programs do not, and need not.

    Args:
        app: What it guards.
        allowed: Origins that may ask all the same; `*` is all.
    """

    def __init__(self, app: ASGIApp, *, allowed: Collection[str]) -> None:
        self.app = app
        self.allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        origin = Headers(scope=scope).get("origin") if scope["type"] == "http" else None
        if origin is not None and not self._may_ask(origin):
            msg = "Pages of this origin may not ask; name it in CORS_ORIGINS"
            raise RequestRefusedError(Problem(403, "Forbidden", msg))
        await self.app(scope, receive, send)

    def _may_ask(self, origin: str) -> bool:
        return "*" in self.allowed or origin in self.allowed or is_loopback(_host_of(origin))


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""
