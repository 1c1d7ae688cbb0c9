"""Add headers that tell browsers what they may do with a response."""

import re
from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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
