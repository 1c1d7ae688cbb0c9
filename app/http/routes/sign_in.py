"""POST /sign-in and /sign-out: the page's cookie; GET /api/me: the caller and its permissions."""

from typing import Any, Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from app.adapters.sessions.identity import Identity, Scope
from app.http.errors import RequestRefusedError
from app.http.middleware.authentication import COOKIE, EMBED_HEADER, caller_with
from app.http.policy import Policy, no_question

router = APIRouter(include_in_schema=False)
OWN: Any = {"key": COOKIE, "httponly": True, "samesite": "strict"}  # No script and no other site has it.


class SignInBody(BaseModel):
    """A session's token, or a key."""

    token: str


class Me(BaseModel):
    """The caller, and what the page needs to know about the service."""

    auth_mode: Literal["none", "session", "api_key"]
    credential: Literal["session", "key"] | None
    signed_in: bool
    user_id: str | None
    email: str | None
    scopes: list[Scope]
    audience: Literal["public", "internal"]
    feedback: bool
    shares: bool
    model: str | None
    version: str


@router.post("/sign-in", status_code=204)
@Policy(access="own_page", questions=no_question, invalid={"": "a JSON object with a token"})
async def sign_in(request: Request, body: SignInBody) -> Response:
    """Store a valid token in a cookie that no script can read, until the browser is closed."""
    authenticator = request.app.state.services.access.authenticator
    if authenticator is None:
        raise RequestRefusedError(400, "This service needs no sign-in")
    await caller_with(authenticator, body.token.strip())
    response = Response(status_code=204)
    secure = request.url.scheme == "https"
    response.set_cookie(value=body.token.strip(), secure=secure, **OWN)
    return response


@router.post("/sign-out", status_code=204)
@Policy(access="own_page", questions=no_question)
def sign_out() -> Response:
    """Remove the cookie. The session itself is ended by the service that began it."""
    response = Response(status_code=204)
    response.delete_cookie(**OWN)
    return response


@router.get("/api/me")
@Policy(access="optional")
def me(request: Request, response: Response) -> Me:
    """Return the caller; an expired cookie is removed."""
    services, identity = request.app.state.services, getattr(request.state, "identity", None)
    if identity is None and COOKIE in request.cookies and EMBED_HEADER not in request.headers:
        response.delete_cookie(**OWN)
    identity = identity or services.access.anonymous or Identity()
    settings, authenticator = services.settings, services.access.authenticator
    return Me(
        auth_mode=settings.access.mode,
        credential=authenticator.credential if authenticator else None,
        signed_in=identity.user_id is not None,
        user_id=identity.user_id,
        email=identity.email,
        scopes=sorted(identity.scopes),
        audience=identity.audience,
        feedback=identity.may(Scope.FEEDBACK),
        shares=services.answer_log is not None,
        model=None if settings.provider == "offline" else settings.llm.model,
        version=request.app.version,
    )
