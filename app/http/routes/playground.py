"""LangServe's playground at /copilot/playground/: its own page, over the same stream that clients read.

The page asks `stream_log`, which is deprecated, exposes prompts, and is not served. The route `run` replaces it and
sends the answer's words, and the other fields as steps.
"""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, cast

from fastapi import APIRouter, HTTPException, Request, Response
from langserve import APIHandler
from pydantic import BaseModel

from app.http.compat.langserve import playground_file, stream_body
from app.http.errors import ErrorReply
from app.http.events import EventStream, data_event, events_of
from app.http.middleware.security_headers import page_policy
from app.http.routes.copilot import PATH, Chain, add_route, call_config, question_of
from app.http.routes.json_route import JsonRoute

RUN = "/playground/run"

Patch = dict[str, Any]


def playground_router(chain: Chain, handler: APIHandler, question: type[BaseModel]) -> APIRouter:
    """Return the page, its files, and the route that it asks."""
    router = APIRouter(prefix=PATH, include_in_schema=False, route_class=JsonRoute)

    @router.get("/playground/{file_path:path}")
    async def playground(request: Request, file_path: str) -> Response:
        try:
            response = await playground_file(handler, file_path, request, run_path=RUN)
        except (OSError, ValueError):  # LangServe tries to open folders and names that are too long.
            raise HTTPException(404) from None
        if response.media_type == "text/html":
            # It compiles the checks of its form from the schema, and writes its own styles.
            policy = page_policy(bytes(response.body), script="'unsafe-eval'", style="'unsafe-inline'")
            response.headers["Content-Security-Policy"] = policy
        return response

    async def run(request: Request, body: Any) -> Response:
        parts = patches(chain.astream(question_of(body.input), call_config(request)))
        return EventStream(events_of(request, parts, on_error=_error_patch))

    add_route(router, run, stream_body(question), path=RUN, response_class=Response)
    return router


async def patches(parts: AsyncIterator[Mapping[str, Any]]) -> AsyncIterator[dict[str, list[Patch]]]:
    """Yield the parts of an answer as the JSON patches (RFC 6902) that the page expects."""
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


def _error_patch(reply: ErrorReply) -> str:
    # The page shows data events and ignores error events.
    return data_event({"ops": [_words(reply.message)]})
