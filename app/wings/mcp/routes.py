"""POST /mcp: the Model Context Protocol over streamable HTTP, with the same identity, audience and limits."""

from functools import cache
from importlib.util import find_spec
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.types import Receive, Scope, Send

from app.http.errors import RequestRefusedError
from app.http.policy import Policy
from app.http.questions import run_config
from app.wiring import Service

MISSING = "The Model Context Protocol is not installed; operators add it with `pip install mcp`"


def mcp_router(services: Service) -> APIRouter:
    """Return the route; the SDK is imported when the first request comes."""
    router = APIRouter()

    @cache
    def server() -> Any:
        from app.wings.mcp.server import DocumentServer

        return DocumentServer(services, run_config)

    class Message(Response):
        """The answer that the SDK sends."""

        async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
            await server().answer_request(scope, receive, send)

    @router.post("/mcp", include_in_schema=False)
    @Policy(questions=tool_calls_in)
    async def mcp(request: Request) -> Response:
        """Answer one message of the protocol."""
        if find_spec("mcp") is None:
            raise RequestRefusedError(501, MISSING)
        return Message()

    return router


def tool_calls_in(body: Any) -> int:
    """Return how many questions a message asks: only a tool call asks one."""
    return int(isinstance(body, dict) and body.get("method") == "tools/call")
