"""A response -> the same response with headers that tell browsers what they may do with it."""

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Swagger UI, ReDoc and LangServe's playground start by inline scripts, compile schemas, and draw in workers.
PAGES = ("/docs", "/redoc", "/copilot/playground")
PAGES_POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data:; worker-src 'self' blob:; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"
)
POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'"

HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",  # Answers are for the one who asked; what may be kept says so itself.
}


class SecurityHeaders:
    """ASGI middleware that adds the headers; one that a route has set itself is left alone."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, and add the headers to its response."""

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Content-Security-Policy", policy_of(scope["path"]))
            await send(message)

        await self.app(scope, receive, add)


def policy_of(path: str) -> str:
    """Return the content security policy of a path."""
    return PAGES_POLICY if path.startswith(PAGES) else POLICY
