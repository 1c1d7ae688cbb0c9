"""Turn every error into one form of response: `{error, message}`, by one table."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app.adapters.identity import IdentityStoreError
from app.http.policy import ErrorForm, policies_of, policy_of, route_path
from chains import errors
from chains.logs import get_logger

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An error response: status, name, and a message that says what happened and what to do.

    `headers` are sent with it; `issues` become the field `detail` of a 422; OpenAI's contract has a `code`, and names
    the invalid field (`param`).
    """

    status: int
    message: str
    headers: Mapping[str, str] | None = None
    issues: Sequence[Mapping[str, Any]] | None = None
    code: str | None = None
    param: str | None = None

    @property
    def error(self) -> str:
        return _NAMES.get(self.status) or HTTPStatus(self.status).phrase

    def in_place(self) -> dict[str, Any]:
        """Return the error object that replaces an answer in a stream or batch, where no status can be sent."""
        return {"status_code": self.status, "error": self.error, "message": self.message}


class RequestRefusedError(Exception):
    """A request is refused before it reaches its route."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None, **named: Any) -> None:
        super().__init__(message)
        self.reply = ErrorReply(status, message, headers, **named)


# Python 3.13 renames two statuses.
_NAMES = {413: "Payload Too Large", 422: "Unprocessable Entity"}
_MODEL_BUSY = ErrorReply(503, "The language model is busy. Try again in a minute.")
_OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
_OPENAI_CODES = {401: "invalid_api_key", 429: "rate_limit_exceeded"}
_INTERNAL = ErrorReply(500, "Something went wrong on our side. Try again, or contact support.")

# The nearest class among an error's ancestors decides. A QuestionError's message is written for the client.
ERROR_REPLIES: dict[type[errors.WaypointError], ErrorReply] = {
    IdentityStoreError: ErrorReply(503, "Your identity cannot be checked at the moment. Try again soon."),
    errors.SessionNotFoundError: ErrorReply(404, "There is no such conversation."),
    errors.SessionError: ErrorReply(503, "Conversations cannot be read at the moment. Try again soon."),
    errors.ConfigurationError: _INTERNAL,
    errors.IngestionError: _INTERNAL,
    errors.RetrievalError: ErrorReply(503, "The documents cannot be searched at the moment. Try again soon."),
    errors.IndexBusyError: ErrorReply(
        409, "Documents are being added or removed at the moment. Try again when that is done."
    ),
    errors.LLMError: ErrorReply(502, "The language model could not answer. Try again soon."),
    errors.LLMTooLargeError: ErrorReply(413, "The question is too large for the language model; shorten it."),
    errors.LLMCircuitError: ErrorReply(503, "The language model is not working. Try again in a minute."),
    errors.LLMRateLimitError: _MODEL_BUSY,
    errors.LLMBusyError: _MODEL_BUSY,
    errors.LLMTimeoutError: ErrorReply(504, "The language model did not answer in time. Try again."),
    errors.DeadlineError: ErrorReply(504, "The answer took too long. Try again."),
    errors.SafetyCheckError: ErrorReply(400, "The question cannot be answered here. Please rephrase it."),
}


def reply_to(error: Exception) -> ErrorReply:
    """Return the response to an error; internal details stay in the log."""
    match error:
        case RequestRefusedError():
            return error.reply
        case errors.QuestionError():
            return ErrorReply(400, str(error))
        case RequestValidationError():
            issues = error.errors()
            fields = [{"loc": one["loc"], "msg": issue_text(one), "type": one["type"]} for one in issues]
            return ErrorReply(422, first_issue(error), issues=fields)
        case HTTPException():
            return ErrorReply(error.status_code, str(error.detail), error.headers)
    known = (ERROR_REPLIES[kind] for kind in type(error).__mro__ if kind in ERROR_REPLIES)
    return next(known, _INTERNAL)


def logged_reply(request: Request, error: Exception) -> ErrorReply:
    reply = reply_to(error)
    reason = {"reason": str(error)} if isinstance(error, errors.VectorStoreError) else {}  # No user's words are in it.
    log.warning("request_failed", path=request.url.path, status=reply.status, error=type(error).__name__, **reason)
    return reply


def first_issue(error: RequestValidationError) -> str:
    """Return the first validation issue as `field: problem`."""
    issue = error.errors()[0]
    place = ".".join(str(part) for part in issue["loc"] if part != "body")
    return f"{place}: {issue_text(issue)}" if place else issue_text(issue)


def issue_text(issue: Mapping[str, Any]) -> str:
    return str(issue["msg"]).removeprefix("Value error, ")


def error_content(reply: ErrorReply, form: ErrorForm) -> dict[str, Any]:
    if form == "openai":
        usual = "server_error" if reply.status >= HTTPStatus.INTERNAL_SERVER_ERROR else "invalid_request_error"
        error = {"message": reply.message, "type": _OPENAI_TYPES.get(reply.status, usual), "param": reply.param}
        return {"error": error | {"code": reply.code or _OPENAI_CODES.get(reply.status)}}
    content: dict[str, Any] = {"error": reply.error, "message": reply.message}
    if reply.issues is not None:
        content["detail"] = reply.issues
    elif form == "marp":
        content["detail"] = reply.message
    return content


async def error_response(request: Request, error: Exception) -> Response:
    policy = policy_of(request.scope)
    if isinstance(error, RequestValidationError) and policy.invalid is not None:
        issue = error.errors()[0]
        place = issue["loc"][1:]
        message = policy.invalid.get(str(place[0])) if len(place) == 1 else None
        if not place or issue["type"] == "json_invalid":
            message = f"The body must be {policy.invalid['']}"
        error = RequestRefusedError(400, message or first_issue(error))
    clients_own = isinstance(error, HTTPException | RequestValidationError)
    reply = reply_to(error) if clients_own else logged_reply(request, error)
    if isinstance(error, HTTPException) and reply.message == HTTPStatus(reply.status).phrase:
        reply = replace(reply, message=f"{request.method} {request.url.path}: {reply.message}")
    headers = reply.headers
    # Starlette names the methods of the first route at the path only.
    if reply.status == HTTPStatus.METHOD_NOT_ALLOWED and (
        allowed := policies_of(request.scope).methods(route_path(request.scope))
    ):
        headers = {**(headers or {}), "Allow": ", ".join(allowed)}
    # ASCII, because a client may have sent half a surrogate pair as a name.
    content = json.dumps(error_content(reply, policy.errors))
    return Response(content, reply.status, headers, media_type="application/json")
