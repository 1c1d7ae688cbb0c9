"""Refuse requests from foreign web pages, and paths with control characters."""

from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.errors import RequestRefusedError
from app.http.policy import SAFE_METHODS, policy_of
from app.wiring.access import is_loopback


class OriginCheck:
    """ASGI middleware for a local service: it refuses web pages of other origins (CSRF).

    A browser runs foreign pages on this machine, which can post to loopback. Browsers send the page's origin; programs
    send none and are not checked. A page whose name resolves to this machine (DNS rebinding) reads without an origin,
    so requests under a foreign host name are refused too, except for open routes.

    Args:
        app: The application behind it.
        allowed: Other origins that may ask; `*` allows all.
    """

    def __init__(self, app: ASGIApp, *, allowed: Collection[str]) -> None:
        self.app = app
        self.allowed = allowed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            self._check(Headers(scope=scope), reads=scope["method"] in SAFE_METHODS and not policy_of(scope).is_open)
        await self.app(scope, receive, send)

    def _check(self, headers: Headers, *, reads: bool) -> None:
        origin, host = headers.get("origin"), headers.get("host")
        if origin is not None and not self._is_allowed(origin):
            raise RequestRefusedError(403, "Pages of this origin may not ask; add it to CORS_ORIGINS")
        if reads and host and not any(self._is_allowed(f"{scheme}://{host}") for scheme in ("http", "https")):
            msg = "Unknown host name; use localhost, or add its origin to CORS_ORIGINS"
            raise RequestRefusedError(403, msg)

    def _is_allowed(self, origin: str) -> bool:
        return "*" in self.allowed or origin in self.allowed or is_loopback(_host(origin))


def _host(origin: str) -> str:
    try:
        return urlsplit(origin).hostname or ""
    except ValueError:
        return ""


class PathCheck:
    """ASGI middleware that answers 404 for a path with control characters, which no file can have."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and not scope["path"].isprintable():
            raise RequestRefusedError(404, "There is nothing at this address.")
        await self.app(scope, receive, send)
