"""A request -> the same request with the identity of its caller, or a refusal: only health is open to strangers."""

import re

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Send
from starlette.types import Scope as AsgiScope

from app.adapters.sessions.identity import Callers, Identity, Scope
from app.http.problems import Problem, RequestRefusedError

# Probes ask without a name. Whatever is not listed needs one, routes that are added later as well.
OPEN = frozenset({"/health", "/health/live", "/health/ready", "/api/health"})
# Whatever is not listed asks, or tells how to ask.
SCOPES = {"/api/feedback": Scope.FEEDBACK, "/metrics": Scope.METRICS}

MISSING = "Authorization header required"
MALFORMED = "Invalid authorization format"

# RFC 6750; longer ones would only be looked up to no end.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{1,512}=*")


class Authentication:
    """ASGI middleware that puts the caller's identity into the request's state.

    Args:
        app: What it guards.
        callers: Who knows the callers; None lets everybody in, as `anonymous`.
        anonymous: The identity of those who have none.
    """

    def __init__(self, app: ASGIApp, *, callers: Callers | None, anonymous: Identity) -> None:
        self.app = app
        self.callers = callers
        self.anonymous = anonymous

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Pass the request on with its identity, or refuse it."""
        if scope["type"] != "lifespan" and scope["path"] not in OPEN:
            identity = await self._identify(Headers(scope=scope))
            needed = needed_scope(scope["path"])
            if not identity.may(needed):
                msg = f"This needs the scope {str(needed)!r}, which the caller does not have"
                raise RequestRefusedError(Problem(403, "Forbidden", msg))
            scope.setdefault("state", {})["identity"] = identity
        await self.app(scope, receive, send)

    async def _identify(self, headers: Headers) -> Identity:
        if self.callers is None:
            return self.anonymous
        identity = await self.callers.find(token_of(headers))
        if identity is None:
            msg = f"Invalid or expired {self.callers.proof}"
            raise _unauthorized(msg)
        return identity


def token_of(headers: Headers) -> str:
    """Return the token of `Authorization: Bearer`, or else of `X-API-Key`.

    Raises:
        RequestRefusedError: there is none, or it is no token.
    """
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if not scheme and not (token := headers.get("x-api-key", "")):
        raise _unauthorized(MISSING)
    if scheme.lower() not in {"", "bearer"} or not _TOKEN.fullmatch(token := token.strip()):
        raise _unauthorized(MALFORMED)
    return token


def needed_scope(path: str) -> Scope:
    """Return what a caller has to be allowed to do on a path."""
    return next((scope for start, scope in SCOPES.items() if path == start or path.startswith(f"{start}/")), Scope.ASK)


def _unauthorized(message: str) -> RequestRefusedError:
    return RequestRefusedError(Problem(401, "Unauthorized", message), {"WWW-Authenticate": "Bearer"})
