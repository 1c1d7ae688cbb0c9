"""Identify the caller as the route asks, refuse foreign web pages, and tell browsers what they may do."""

import re
from base64 import b64encode
from collections.abc import Collection, Sequence
from contextlib import suppress
from hashlib import sha256
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from app.adapters.identity import Authenticator, Identity, IdentityStoreError, Scope
from app.http.errors import RequestRefusedError
from app.http.policy import SAFE_METHODS
from app.http.policy import Access as Needed
from app.wiring.service import Access, is_loopback

# The page signs in with it. Its SameSite=Strict keeps it from other sites, but not from other ports of the same host.
COOKIE = "waypoint_token"
# The page sends it when embedded: the embedding page must not act with the visitor's rights.
EMBED_HEADER = "x-waypoint-embed"
EMBEDDED_SCOPES = frozenset({Scope.ASK, Scope.FEEDBACK})

MISSING = "Authorization header required"
MALFORMED = "Invalid authorization format"
EMBEDDED = "This page can be embedded only where everybody may ask; open the service itself and sign in"
OTHER_PAGE = "A cookie is accepted only from the service's own page; programs send the token in a header"

# RFC 6750's characters; longer tokens are refused without a lookup.
_TOKEN = re.compile(r"[A-Za-z0-9._~+/-]{1,512}=*")


async def identify(access: Access, needed: Needed, method: str, headers: Headers) -> Identity | None:
    """Return who calls, None where the route needs nobody; RequestRefusedError if the caller is not let in."""
    match needed:
        case "open":
            pass
        case "own_page":  # It sets or removes the cookie: another site must not sign a user in or out.
            if method not in SAFE_METHODS:
                require_same_origin(headers)
        case "report":  # It works while the session store is unavailable.
            with suppress(RequestRefusedError, IdentityStoreError):
                return await _identify(access, method, headers)
        case "optional":
            with suppress(RequestRefusedError):  # An expired token counts as none.
                return await _identify(access, method, headers)
        case scope:
            identity = await _identify(access, method, headers)
            if not identity.may(scope):
                raise RequestRefusedError(403, f"This needs the scope {str(scope)!r}, which the caller does not have")
            return identity
    return None


async def _identify(access: Access, method: str, headers: Headers) -> Identity:
    if EMBED_HEADER in headers:  # The page's visitor is anonymous, and sees public documents only.
        if access.anonymous is None:
            raise _unauthorized(EMBEDDED)
        return Identity(scopes=access.anonymous.scopes & EMBEDDED_SCOPES)
    if access.authenticator is None:
        return access.anonymous or Identity()
    token = token_of(headers, key=access.authenticator.credential == "key")
    if token is None:
        token = cookie_parser(headers.get("cookie", "")).get(COOKIE) or None
        if token and method not in SAFE_METHODS:
            require_same_origin(headers)
    if token is None:
        if access.anonymous is None:
            raise _unauthorized(MISSING)
        return access.anonymous
    return await caller_with(access.authenticator, token)


async def caller_with(authenticator: Authenticator, token: str) -> Identity:
    """Return the caller behind a token; RequestRefusedError if nobody, IdentityStoreError if it cannot be looked up."""
    if not _TOKEN.fullmatch(token):
        raise _unauthorized(MALFORMED)
    identity = await authenticator.find(token)
    if identity is None:
        raise _unauthorized(f"Invalid or expired {authenticator.credential}")
    return identity


def require_same_origin(headers: Headers) -> None:
    """Raise RequestRefusedError unless the browser says that a page of this service sends the request (CSRF)."""
    site, origin = headers.get("sec-fetch-site"), headers.get("origin", "")
    scheme, _, host = origin.partition("://")
    is_own = scheme in {"http", "https"} and bool(host) and host == headers.get("host")
    # No script can set the first. Browsers omit it on plain HTTP, where the origin has to do.
    if not (is_own if site is None else site == "same-origin"):
        raise RequestRefusedError(403, OTHER_PAGE)


def token_of(headers: Headers, *, key: bool) -> str | None:
    """Return the token of `Authorization: Bearer`, or of `X-API-Key` for a `key`; RequestRefusedError if malformed."""
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if not scheme:
        token = headers.get("x-api-key", "") if key else ""
        if not token:
            return None
    if scheme.lower() not in {"", "bearer"} or not _TOKEN.fullmatch(token := token.strip()):
        raise _unauthorized(MALFORMED)
    return token


def _unauthorized(message: str) -> RequestRefusedError:
    return RequestRefusedError(401, message, {"WWW-Authenticate": "Bearer"})


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
