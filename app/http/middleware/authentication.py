"""Identify the caller of each request; only health checks are open to everybody."""

import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from app.adapters.sessions.identity import Authenticator, Identity, Scope
from app.http.errors import RequestRefusedError

# Probes are anonymous, and the page holds no data. Every other path needs an identity, also one that is added later.
PROBES = frozenset({"/health", "/health/live", "/health/ready", "/api/health"})
OPEN_PATHS = PROBES | {"/", "/embed", "/widget.js"}
OPEN_FOLDER = "/static/"
# Every other path asks a question, or describes how to ask.
SCOPES = {"/api/feedback": Scope.FEEDBACK, "/metrics": Scope.METRICS}

MISSING = "Authorization header required"
MALFORMED = "Invalid authorization format"

# RFC 6750's characters; longer tokens are refused without a lookup.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{1,512}=*")


class Authentication:
    """ASGI middleware that puts the caller's identity into `request.state.identity`.

    Args:
        app: The application behind it.
        authenticator: Finds the identity behind a token; None where callers are not asked for one.
        anonymous: The identity of callers without a token; None where a token is required.
    """

    def __init__(self, app: ASGIApp, *, authenticator: Authenticator | None, anonymous: Identity | None) -> None:
        self.app = app
        self.authenticator = authenticator
        self.anonymous = anonymous

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan" and not is_open(scope["path"]):
            identity = await self._identify(Headers(scope=scope))
            needed = needed_scope(scope["path"])
            if not identity.may(needed):
                msg = f"This needs the scope {str(needed)!r}, which the caller does not have"
                raise RequestRefusedError(403, msg)
            scope.setdefault("state", {})["identity"] = identity
        await self.app(scope, receive, send)

    async def _identify(self, headers: Headers) -> Identity:
        if self.authenticator is None:
            return self.anonymous or Identity()
        credential = self.authenticator.credential
        token = token_of(headers, key=credential == "key")
        if token is None:
            if self.anonymous is None:
                raise _unauthorized(MISSING)
            return self.anonymous
        identity = await self.authenticator.find(token)
        if identity is None:
            msg = f"Invalid or expired {credential}"
            raise _unauthorized(msg)
        return identity


def token_of(headers: Headers, *, key: bool) -> str | None:
    """Return the token of `Authorization: Bearer`, or of `X-API-Key` where the token is a `key`; None without either.

    Raises:
        RequestRefusedError: it is malformed.
    """
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if not scheme:
        token = headers.get("x-api-key", "") if key else ""
        if not token:
            return None
    if scheme.lower() not in {"", "bearer"} or not _TOKEN.fullmatch(token := token.strip()):
        raise _unauthorized(MALFORMED)
    return token


def is_open(path: str) -> bool:
    """Return whether everybody may have what is at a path."""
    return path in OPEN_PATHS or path.startswith(OPEN_FOLDER)


def needed_scope(path: str) -> Scope:
    """Return the scope that a path needs."""
    return next((scope for start, scope in SCOPES.items() if path == start or path.startswith(f"{start}/")), Scope.ASK)


def _unauthorized(message: str) -> RequestRefusedError:
    return RequestRefusedError(401, message, {"WWW-Authenticate": "Bearer"})
