"""Routes that use the JSON value that BodyLimit parsed, and reject an invalid one as their contract says."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from app.http.errors import RequestRefusedError, first_issue


class ParsedRequest(Request):
    """A request whose body is not parsed a second time."""

    async def json(self) -> Any:
        """Return the value of the body."""
        return self.state.json if hasattr(self.state, "json") else await super().json()


class JsonRoute(APIRoute):
    """A route whose body is the value that BodyLimit has parsed."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return FastAPI's handler over the parsed value."""
        handle = super().get_route_handler()

        async def answer(request: Request) -> Response:
            return await handle(ParsedRequest(request.scope, request.receive))

        return answer


def bad_request_route(expected: str, messages: Mapping[str, str] | None = None) -> type[JsonRoute]:
    """Return a kind of route that answers an invalid body with 400, not with FastAPI's 422.

    Args:
        expected: What the body must be, for the error message.
        messages: The message for each invalid field; default: pydantic's.
    """

    class BadRequestRoute(JsonRoute):
        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            handle = super().get_route_handler()

            async def answer(request: Request) -> Response:
                try:
                    return await handle(request)
                except RequestValidationError as error:
                    raise RequestRefusedError(400, _message(error, expected, messages or {})) from None

            return answer

    return BadRequestRoute


def _message(error: RequestValidationError, expected: str, messages: Mapping[str, str]) -> str:
    issue = error.errors()[0]
    place = issue["loc"][1:]
    if not place or issue["type"] == "json_invalid":
        return f"The body must be {expected}"
    return messages[place[0]] if len(place) == 1 and place[0] in messages else first_issue(error)
