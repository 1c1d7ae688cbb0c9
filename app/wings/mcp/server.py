"""The MCP server: tools with schemas, and documents as resources; over stdio, or for one request of HTTP."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable, Iterable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypeVar, cast

import anyio
from langchain_core.runnables import RunnableConfig
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl, ValidationError
from starlette.types import Receive, Scope, Send

from app.wings.mcp.documents import TEMPLATE, listed, text_of
from app.wings.mcp.tools import TOOLS, Tool
from app.wiring import Services
from app.wiring.llm import close
from chains.tool import advice_on

INSTRUCTIONS = (
    "Answers from a company's own documents. `ask` gives a cited answer, `search` the passages themselves; "
    "the documents are resources. Keep the citations, and say so where the documents hold no answer."
)
READS_ONLY = types.ToolAnnotations(readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False)

Value = TypeVar("Value")
ConfigOf = Callable[[Any], RunnableConfig]
"""Returns the config of a call from its HTTP request; None is a call over stdio."""


@dataclass(frozen=True, slots=True)
class Handlers:
    """What the server does for each request; each runs under the config, and so with the audience, of its caller."""

    services: Services
    config: Callable[[], RunnableConfig]

    async def list_tools(self) -> list[types.Tool]:
        """Return the tools with their schemas."""
        return [_described(tool) for tool in TOOLS]

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> types.CallToolResult:
        """Return what a tool gives; an error is a result that tells the model what to do."""
        tool = next((tool for tool in TOOLS if tool.name == name), None)
        if tool is None:
            return _result(
                f"There is no tool {name!r}; there are {', '.join(one.name for one in TOOLS)}.", is_error=True
            )
        try:
            text, value = await tool.call(self.services, tool.takes.model_validate(arguments), self.config())
        except ValidationError as error:
            return _result(f"{_issues(error)}. Call this tool again.", is_error=True)
        except Exception as error:
            return _result(advice_on(error), is_error=True)
        return _result(text, value.model_dump(mode="json"))

    async def list_resources(self, request: types.ListResourcesRequest) -> types.ListResourcesResult:
        """Return the documents that the caller may see, a hundred at a time."""
        cursor = request.params.cursor if request.params else None
        return await _read(listed, self.services.library, self.config(), cursor)

    async def list_templates(self) -> list[types.ResourceTemplate]:
        """Return the form of a document's address."""
        return [TEMPLATE]

    async def read_resource(self, uri: AnyUrl) -> Iterable[ReadResourceContents]:
        """Return the text of a document."""
        text = await _read(text_of, self.services.library, self.config(), str(uri))
        return [ReadResourceContents(content=text, mime_type="text/markdown")]


def build_server(services: Services, config_of: ConfigOf) -> Server[Any, Any]:
    """Return the server over the services."""
    server: Any = Server("waypoint", version=version("waypoint-copilot"), instructions=INSTRUCTIONS)
    handlers = Handlers(services, lambda: config_of(server.request_context.request))
    server.list_tools()(handlers.list_tools)
    server.call_tool(validate_input=False)(
        handlers.call_tool
    )  # It would repeat arguments of any length in its message.
    server.list_resources()(handlers.list_resources)
    server.list_resource_templates()(handlers.list_templates)
    server.read_resource()(handlers.read_resource)
    return cast("Server[Any, Any]", server)


async def answer_request(server: Server[Any, Any], scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request of streamable HTTP, in JSON and without a session: every request shows who sends it."""
    manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)
    async with manager.run():
        await manager.handle_request(scope, receive, send)


async def run_stdio(services: Services) -> None:
    """Answer over stdin and stdout until stdin ends; whoever starts the program may see everything."""
    server = build_server(services, lambda _: {"configurable": {"audience": "internal"}})
    async with AsyncExitStack() as life:
        life.push_async_callback(asyncio.to_thread, services.tracing.close)
        life.push_async_callback(close, services.models)
        if services.remote is not None:
            life.push_async_callback(services.remote.aclose)
        read, write = await life.enter_async_context(stdio_server(*_own_streams(life)))
        await server.run(read, write, server.create_initialization_options())


def _own_streams(life: AsyncExitStack) -> tuple[anyio.AsyncFile[str], anyio.AsyncFile[str]]:
    """Return stdin and stdout under numbers of their own, because the SDK's would close those of the program.

    A frame ends with a line feed alone: JSON allows a carriage return between its words.
    """
    logging.getLogger("mcp.server.lowlevel.server").setLevel(logging.CRITICAL)  # It logs frames that cannot be read.
    read = open(os.dup(sys.stdin.fileno()), encoding="utf-8", errors="replace", newline="\n")  # noqa: SIM115
    written = open(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", newline="\n")  # noqa: SIM115
    life.callback(read.close)
    return anyio.wrap_file(read), anyio.wrap_file(written)


async def _read(function: Callable[..., Value], *args: Any) -> Value:
    """Return what a function that reads the index returns, in a thread of its own.

    Raises:
        McpError: it cannot be read, or the function says so.
    """
    try:
        return await asyncio.to_thread(function, *args)
    except McpError:
        raise
    except Exception as error:
        raise McpError(types.ErrorData(code=types.INTERNAL_ERROR, message=advice_on(error))) from error


def _described(tool: Tool) -> types.Tool:
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        inputSchema=tool.takes.model_json_schema(),
        outputSchema=tool.gives.model_json_schema(),
        annotations=READS_ONLY.model_copy(update={"title": tool.title}),
    )


def _issues(error: ValidationError) -> str:
    """Return what does not fit, without what was sent."""
    return "; ".join(f"{'.'.join(map(str, issue['loc']))}: {issue['msg']}" for issue in error.errors()[:3])


def _result(text: str, value: dict[str, Any] | None = None, *, is_error: bool = False) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    return types.CallToolResult(content=content, structuredContent=value, isError=is_error)
