"""Refuse requests from foreign web pages, and tell browsers what they may do with a response."""

import re
from base64 import b64encode
from collections.abc import Collection, Sequence
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from app.http.errors import RequestRefusedError
from app.wiring.service import is_loopback


def check_origin(headers: Headers, allowed: Collection[str], *, reads: bool) -> None:
    """Refuse web pages of other origins, for a local service (CSRF).

    A browser runs foreign pages on this machine, which can post to loopback. Browsers send the page's origin; programs
    send none and are not checked. A page whose name resolves to this machine (DNS rebinding) reads without an origin,
    so requests under a foreign host name are refused too, if they read what not everybody may read. In `allowed`, `*`
    stands for all origins. Raise RequestRefusedError if the page may not ask.
    """

    def is_allowed(origin: str) -> bool:
        try:
            host = urlsplit(origin).hostname or ""
        except ValueError:
            host = ""
        return "*" in allowed or origin in allowed or is_loopback(host)

    origin, host = headers.get("origin"), headers.get("host")
    if origin is not None and not is_allowed(origin):
        raise RequestRefusedError(403, "Pages of this origin may not ask; add it to CORS_ORIGINS")
    if reads and host and not any(is_allowed(f"{scheme}://{host}") for scheme in ("http", "https")):
        raise RequestRefusedError(403, "Unknown host name; use localhost, or add its origin to CORS_ORIGINS")


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


def page_policy(page: bytes, *, framed_by: Sequence[str] = (), **more: str) -> str:
    """Return a page's content security policy: inline scripts by hash, who may frame it, more sources by kind."""
    hashes = [f"'sha256-{b64encode(sha256(script).digest()).decode()}'" for script in _INLINE_SCRIPT.findall(page)]
    sources = more | {"script": " ".join([*hashes, more.get("script", "")])}
    policy = POLICY.replace(NO_FRAMES, f"frame-ancestors {' '.join(framed_by)}") if framed_by else POLICY
    return "; ".join([policy, *(f"{kind}-src 'self' {allowed}".strip() for kind, allowed in sources.items())])
