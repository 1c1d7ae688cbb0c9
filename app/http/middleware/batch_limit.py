"""The body of a request -> how many questions it asks; one that cannot be read, or asks too many, is refused."""

import json
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.middleware.body_limit import replayed
from app.http.problems import Problem, RequestRefusedError

MAX_DEPTH = 32


class CountedQuestions:
    """ASGI middleware that puts the number of questions into the request's state. The body has to be whole already."""

    def __init__(self, app: ASGIApp, *, batch_max: int) -> None:
        self.app = app
        self.batch_max = batch_max

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on with its number of questions, or refuse it."""
        if scope["type"] == "http" and scope["method"] == "POST":
            body = (await receive()).get("body", b"")
            # A route says itself what it makes of no body, or that it takes no POST.
            count = count_questions(scope["path"], read_json(body)) if body else 1
            if count > self.batch_max:
                msg = f"A batch holds {count} questions; at most {self.batch_max} are answered at once"
                raise RequestRefusedError(Problem(422, "Unprocessable Content", msg))
            Request(scope).state.questions = count
            receive = replayed(body, receive)
        await self.app(scope, receive, send)


def read_json(body: bytes) -> Any:
    """Return the value of a body that can also be written again, so that no answer that repeats it can fail.

    Raises:
        RequestRefusedError: it is no JSON in UTF-8, holds NaN or half a surrogate pair, or is nested too deep.
    """
    try:
        value = json.loads(body)
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        msg = "The body must be a JSON object in UTF-8"
        raise RequestRefusedError(Problem(400, "Bad Request", msg)) from None
    if _depth(value) > MAX_DEPTH:
        msg = f"The body is nested deeper than {MAX_DEPTH} levels"
        raise RequestRefusedError(Problem(400, "Bad Request", msg))
    return value


def _depth(value: Any) -> int:
    depth, level = 0, [value]
    while level := [inner for outer in level for inner in _inside(outer)]:
        depth += 1
    return depth


def _inside(value: Any) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def count_questions(path: str, value: Any) -> int:
    """Return the number of inputs of a batch; any other request counts as one question."""
    inputs = value.get("inputs") if path.endswith("/batch") and isinstance(value, dict) else None
    return len(inputs) if isinstance(inputs, list) else 1
