"""Refuse requests from foreign web pages, and tell browsers what they may do with a response."""

import re
from base64 import b64encode
from collections.abc import Collection, Sequence
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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


NO_FRAMES = "frame-ancestors 'none'"
POLICY = f"default-src 'self'; object-src 'none'; base-uri 'none'; {NO_FRAMES}"
_INLINE_SCRIPT = re.compile(rb"<script>(.*?)</script>", re.DOTALL)

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",  # Answers are private to the caller; a route may override it.
}


class SecurityHeaders:
    """ASGI middleware that adds the headers; a route's own header wins."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Content-Security-Policy", POLICY)
                if NO_FRAMES not in headers["Content-Security-Policy"]:
                    del headers["X-Frame-Options"]  # It takes no list of origins; the policy does.
            await send(message)

        await self.app(scope, receive, add)


def page_policy(page: bytes, *, framed_by: Sequence[str] = (), **more: str) -> str:
    """Return the content security policy of an HTML page, which allows its inline scripts by their hashes.

    Args:
        page: The page as it is sent.
        framed_by: Origins of the pages that may show it in a frame.
        more: Additional sources by kind: `img="data:"`.
    """
    hashes = [f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in _INLINE_SCRIPT.findall(page)]
    sources = more | {"script": " ".join([*hashes, more.get("script", "")])}
    policy = POLICY.replace(NO_FRAMES, f"frame-ancestors {' '.join(framed_by)}") if framed_by else POLICY
    return "; ".join([policy, *(f"{kind}-src 'self' {allowed}".strip() for kind, allowed in sources.items())])
