"""LangServe's playground at /copilot/playground/: its page as it is, over the same stream that clients read.

The page knows `stream_log` only, which is not served (it is deprecated, and shows prompts and inner steps). It asks the
route `run` in its place, which tells it the answer's words, and the other fields as the steps on the way.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, cast

from fastapi import APIRouter, HTTPException, Request, Response
from langserve import APIHandler
from pydantic import BaseModel

from app.http.events import Event, EventStream, data_event, events_of
from app.http.middleware.security_headers import page_policy
from app.http.problems import Problem
from app.http.routes.copilot import PATH, Chain, add_route, call_config, question_of, stream_body

RUN = "/playground/run"

Patch = dict[str, Any]


def playground_router(chain: Chain, handler: APIHandler, question: type[BaseModel]) -> APIRouter:
    """Return the page, its files, and what it runs."""
    router = APIRouter(prefix=PATH, include_in_schema=False)

    @router.get("/playground/{file_path:path}")
    async def playground(request: Request, file_path: str) -> Response:
        try:
            file = await handler.playground(file_path, request)
        except (
            OSError,
            ValueError,
        ):  # A folder, a name with a zero byte or one too long, which LangServe tries to open.
            raise HTTPException(404) from None
        content = bytes(file.body).replace(b'"/stream_log"', f'"{RUN}"'.encode())
        response = Response(content, file.status_code, media_type=file.media_type)
        if file.media_type == "text/html":
            # It compiles the checks of its form from the schema, and writes its own styles.
            policy = page_policy(content, script="'unsafe-eval'", style="'unsafe-inline'")
            response.headers["Content-Security-Policy"] = policy
        return response

    async def run(request: Request, body: Any) -> Response:
        parts = patches(chain.astream(question_of(body.input), call_config(request)))
        return EventStream(events_of(request, parts, failed=_told))

    add_route(router, run, stream_body(question), path=RUN, response_class=Response)
    return router


async def patches(parts: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[dict[str, list[Patch]]]:
    """Yield the JSON patches (RFC 6902) that the page builds its view with, for the parts of an answer."""
    empty: Patch = {"id": None, "streamed_output": [], "final_output": None, "logs": {}}
    yield {"ops": [{"op": "replace", "path": "", "value": empty}]}
    async with aclosing(cast("AsyncGenerator[Mapping[str, Any]]", parts)):
        async for part in parts:
            yield {"ops": [_patch(name, value) for name, value in part.items()]}


def _patch(name: str, value: Any) -> Patch:
    if name == "answer":
        return _words(value)
    if name == "replacement":
        return {"op": "replace", "path": "/streamed_output", "value": [value]}
    step = {"id": None, "name": name, "start_time": datetime.now(UTC).isoformat(), "final_output": value}
    return {"op": "add", "path": f"/logs/{name}", "value": step}


def _words(words: str) -> Patch:
    return {"op": "add", "path": "/streamed_output/-", "value": words}


def _told(problem: Problem) -> Event:
    # The page shows what it is sent as data, and nothing of an error.
    return data_event({"ops": [_words(problem.message)]})
