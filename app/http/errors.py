"""An error -> the response that tells of it, and what the API's description says of such responses."""

import json
from collections.abc import Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from app.http.problems import TABLE, Problem, problem_of
from chains.errors import QuestionError, WaypointError

log = structlog.get_logger(__name__)

_TOLD_ELSEWHERE = {
    400: "Query cannot be empty",
    401: "A valid bearer token is needed. Sign in again.",
    403: "This key may not do that. Ask the operators for one that may.",
    408: "The request did not arrive in time. Send it again.",
    413: "The request is larger than 10 kB; shorten it",
    422: "input.question: Field required",
    429: "Too many requests. Try again when Retry-After has passed.",
}
_EXAMPLES = {problem.status: problem.message for problem in TABLE.values() if problem.message} | _TOLD_ELSEWHERE


class ErrorBody(BaseModel):
    """What happened and what to do; never inner detail."""

    error: str = Field(description="The status in words.")
    message: str = Field(description="What happened, and what to do.")


class Misfit(BaseModel):
    """A part of the request that does not fit."""

    loc: list[str | int] = Field(description="Where it stands.")
    msg: str
    type: str


class InvalidBody(ErrorBody):
    """What does not fit in a request."""

    detail: list[Misfit]


def add_error_handlers(app: FastAPI) -> None:
    """Let every error of the routes become a response of one form."""
    for kind in (WaypointError, Exception):
        app.add_exception_handler(kind, explain)
    app.add_exception_handler(HTTPException, explain_status)
    app.add_exception_handler(RequestValidationError, explain_misfits)


def bad_request_route(explain_misfit: Callable[[RequestValidationError], str]) -> type[APIRoute]:
    """Return a kind of route that answers a body that does not fit with 400 and an explanation, not FastAPI's 422."""

    class BadRequestRoute(APIRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def answer(request: Request) -> Response:
                try:
                    return await handle(request)
                except RequestValidationError as error:
                    raise QuestionError(explain_misfit(error)) from None

            return answer

    return BadRequestRoute


async def explain(request: Request, error: Exception) -> Response:
    """Return the response that the table of problems has for an error."""
    return problem_response(observed_problem(request, error), headers=getattr(error, "headers", None))


def observed_problem(request: Request, error: Exception) -> Problem:
    """Return what the client is told about an error, and leave a line in the log."""
    problem = problem_of(error)
    log.warning("request_failed", path=request.url.path, status=problem.status, error=type(error).__name__)
    return problem


async def explain_status(request: Request, error: Exception) -> Response:
    """Return the response to a request that no route takes, or that one refused by its status."""
    status, detail, headers = 500, "", None
    if isinstance(error, HTTPException):
        status, detail, headers = error.status_code, str(error.detail), error.headers
    name = HTTPStatus(status).phrase
    message = f"{request.method} {request.url.path}: {name}" if detail in {"", name} else detail
    return problem_response(Problem(status, name, message), headers=headers)


async def explain_misfits(_: Request, error: Exception) -> Response:
    """Return the response to a request whose parts do not fit; what was sent is not sent back."""
    errors = error.errors() if isinstance(error, RequestValidationError) else []
    detail = [{"loc": problem["loc"], "msg": _reason(problem), "type": problem["type"]} for problem in errors]
    problem = Problem(422, HTTPStatus(422).phrase, misfit_of(errors))
    return problem_response(problem, detail=detail)


def misfit_of(errors: Any) -> str:
    """Return the first misfit as `place: what is wrong`."""
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"] if part != "body")
    return f"{place}: {_reason(first)}" if place else _reason(first)


def _reason(misfit: Any) -> str:
    return str(misfit["msg"]).removeprefix("Value error, ")


def problem_response(problem: Problem, *, headers: Mapping[str, str] | None = None, **more: Any) -> Response:
    """Return `{error, message}` and whatever `more` a contract wants."""
    # ASCII, because a client may have sent half a surrogate pair as a name.
    content = json.dumps({"error": problem.error, "message": problem.message, **more})
    return Response(content, problem.status, headers, media_type="application/json")


def documented(*statuses: int, **more: str) -> dict[int | str, dict[str, Any]]:
    """Return what the API's description says of these statuses; `more` fields repeat the message."""
    return {status: _documented(status, more) for status in statuses}


def _documented(status: int, more: Mapping[str, str]) -> dict[str, Any]:
    message = _EXAMPLES[status]
    example: dict[str, Any] = {"error": HTTPStatus(status).phrase, "message": message}
    if status == HTTPStatus.UNPROCESSABLE_ENTITY:
        example["detail"] = [{"loc": ["body", "input", "question"], "msg": "Field required", "type": "missing"}]
    return {
        "model": InvalidBody if "detail" in example else ErrorBody,
        "description": HTTPStatus(status).phrase,
        "content": {"application/json": {"example": example | dict.fromkeys(more, message)}},
    }
