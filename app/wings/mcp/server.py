"""The MCP server: the tools `ask` and `search`, and documents as resources; over stdio, or for one request of HTTP."""

import asyncio
import logging
import os
import re
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from importlib.metadata import version
from typing import Annotated, Any, TypeVar
from urllib.parse import quote, unquote

import anyio
from langchain_core.runnables import RunnableConfig
from mcp import types
from mcp.server.fastmcp import Context, FastMCP
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import McpError
from pydantic import AnyUrl, BaseModel, Field, ValidationError
from starlette.types import Receive, Scope, Send

from app.edge import NearPassage, NumberedSource, closest_of, sources_of
from app.wiring import Service
from app.wiring.library import Library
from app.wiring.llm import close
from chains.documents.audience import audience_in, called_by
from chains.documents.library import around, parts_of
from chains.documents.naming import Place, place_in, place_name, unsupported_sentences
from chains.history import HistoryMessage
from chains.question import QUERY_MAX_CHARACTERS, question_with
from chains.retrieval.filters import QuestionFilters
from chains.reuse.tool import advice_on, content_of, numbered_text
from chains.state import Outcome, Passage

INSTRUCTIONS = (
    "Answers from a company's own documents. `ask` gives a cited answer, `search` the passages themselves; "
    "the documents are resources. Keep the citations, and say so where the documents hold no answer."
)
DOCUMENTS = "waypoint://documents/"
TEMPLATE = types.ResourceTemplate(
    uriTemplate=f"{DOCUMENTS}{{doc_id}}",
    name="document",
    title="A document",
    description="The text of one document; its id comes from `search`, `ask` or the list.",
    mimeType="text/markdown",
)
PAGE = 100
UNKNOWN = -32002  # The protocol's code for a resource that is not there.
_CURSOR = re.compile(r"[0-9]{1,9}")

Value = TypeVar("Value")
ConfigOf = Callable[[Any], RunnableConfig]
"""Returns the config of a call from its HTTP request; None is a call over stdio."""


class AnswerSource(NumberedSource):
    """What a number in the answer stands for, and its whole document as a resource of this server."""

    resource: str | None


class AnswerPassage(NearPassage):
    """A passage near a question that was not answered, and its whole document as a resource of this server."""

    resource: str | None


class FoundPassage(Place):
    """A passage of a document, which is a resource of this server."""

    resource: str | None
    id: Annotated[str, Field(description="Names the passage: the document, and the number of the passage in it.")]
    text: str
    score: Annotated[float | None, Field(description="The similarity to the query, 0 to 1.")]


class AskOutput(BaseModel):
    """The answer with markers like [1], and the source of each."""

    answer: str
    outcome: Outcome = Field(description="`answered`, `unsure` of what comes closest, or why there is no answer.")
    sources: list[AnswerSource]
    closest: list[AnswerPassage] = Field(description="At most three passages, where a question has no sure answer.")
    unsupported: list[str] = Field(description="Sentences of the answer that no passage supports.")
    confidence: str | None = Field(description="A level, like High; null where nothing was to be answered.")
    confidence_score: float | None
    trace_id: str | None


class SearchOutput(BaseModel):
    """The passages, best first."""

    passages: list[FoundPassage]


class DocumentServer(FastMCP[Any]):
    """The server over the services; each request runs under the config, and so with the audience, of its caller."""

    def __init__(self, services: Service, config_of: ConfigOf) -> None:
        # Hosts and origins are checked for all routes alike.
        anywhere = TransportSecuritySettings(enable_dns_rebinding_protection=False)
        super().__init__("waypoint", INSTRUCTIONS, transport_security=anywhere)
        self._mcp_server.version = version("waypoint-copilot")
        self._services, self._config_of = services, config_of
        for tool, title in ((self.ask, "Ask the documents"), (self.search, "Search the documents")):
            hints = types.ToolAnnotations(
                title=title, readOnlyHint=True, destructiveHint=False, idempotentHint=True, openWorldHint=False
            )
            self.add_tool(tool, title=title, annotations=hints)

    async def ask(
        self,
        context: Context[Any, Any, Any],
        question: Annotated[
            str, Field(min_length=1, max_length=QUERY_MAX_CHARACTERS, description="One question, in a full sentence.")
        ],
        history: Annotated[
            list[HistoryMessage],
            Field(max_length=20, description="The conversation before, where the question refers to it."),
        ] = [],  # noqa: B006 - Only its value goes into the schema.
        filters: QuestionFilters = None,
    ) -> Annotated[types.CallToolResult, AskOutput]:
        """Answer a question from the documents, with numbered citations whose words are checked against the source.

        Says so where the documents hold no answer.
        """
        config = self._config_of(context.request_context.request)
        answer = await self._services.chain.ainvoke(question_with(question, history=history, filters=filters), config)
        confidence = answer["confidence"]
        output = AskOutput(
            answer=numbered_text(answer["answer"], answer["citations"], doubts=True),
            outcome=answer["outcome"],
            sources=[{**source, "resource": _address(source["doc_id"])} for source in sources_of(answer)],
            closest=[{**passage, "resource": _address(passage["doc_id"])} for passage in closest_of(answer)],
            unsupported=unsupported_sentences(answer),
            confidence=confidence["level"] if confidence else None,
            confidence_score=confidence["score"] if confidence else None,
            trace_id=answer["metadata"]["trace_id"],
        )
        return _result(content_of(answer), output)

    async def search(
        self,
        context: Context[Any, Any, Any],
        query: Annotated[
            str, Field(min_length=1, max_length=QUERY_MAX_CHARACTERS, description="Words, or a question.")
        ],
        top_k: Annotated[int, Field(ge=1, le=50, description="How many passages.")] = 8,
        filters: QuestionFilters = None,
    ) -> Annotated[types.CallToolResult, SearchOutput]:
        """Find the passages nearest to a query, with their ids, without an answer. Use `ask` for an answer."""
        config = self._config_of(context.request_context.request)
        found = await self._services.answerer.search(query, config, top_k=top_k, filters=filters)
        passages = [_found(passage) for passage in found]
        texts = (f"[{hit['id']}] {place_name(hit['title'], hit['section'])}\n{hit['text']}" for hit in passages)
        text = "\n\n".join(texts)
        return _result(text or "Nothing was found.", SearchOutput(passages=passages))

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Return what a tool gives; an error is a result that tells the model what to do."""
        if name not in (names := [tool.name for tool in await self.list_tools()]):
            return _result(f"There is no tool {name!r}; there are {', '.join(names)}.")
        try:
            return await super().call_tool(name, arguments)
        except ToolError as error:
            cause = error.__cause__
            if not isinstance(cause, ValidationError):
                return _result(advice_on(cause if isinstance(cause, Exception) else error))
            # What does not fit, without what was sent, which may be of any length.
            issues = (f"{'.'.join(map(str, issue['loc']))}: {issue['msg']}" for issue in cause.errors()[:3])
            return _result(f"{'; '.join(issues)}. Call this tool again.")

    async def list_resources(  # type: ignore[override] # The SDK's own has no pages.
        self, request: types.ListResourcesRequest
    ) -> types.ListResourcesResult:
        """Return the documents that the caller may see, a hundred at a time."""
        return await self._read(listed, request.params.cursor if request.params else None)

    async def list_resource_templates(self) -> list[types.ResourceTemplate]:
        return [TEMPLATE]

    async def read_resource(self, uri: AnyUrl | str) -> list[ReadResourceContents]:
        return [ReadResourceContents(content=await self._read(text_of, str(uri)), mime_type="text/markdown")]

    async def _read(self, function: Callable[[Library, RunnableConfig, Any], Value], wanted: Any) -> Value:
        """Call a function that reads the index in a thread; McpError if it cannot be read, or the function says so."""
        config = self._config_of(self.get_context().request_context.request)
        try:
            return await asyncio.to_thread(function, self._services.index.library, config, wanted)
        except McpError:
            raise
        except Exception as error:
            raise McpError(types.ErrorData(code=types.INTERNAL_ERROR, message=advice_on(error))) from error

    async def answer_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of streamable HTTP, in JSON and without a session: every request shows who sends it."""
        manager = StreamableHTTPSessionManager(self._mcp_server, json_response=True, stateless=True)
        async with manager.run():
            await manager.handle_request(scope, receive, send)

    async def run_stdio_async(self) -> None:
        """Answer over stdin and stdout until stdin ends, and close what the answers opened.

        The SDK would close those of the program, so they get numbers of their own. A frame ends with a line feed
        alone: JSON allows a carriage return between its words.
        """
        logging.getLogger("mcp.server.lowlevel.server").setLevel(logging.CRITICAL)  # It logs what cannot be read.
        read = await anyio.open_file(os.dup(sys.stdin.fileno()), encoding="utf-8", errors="replace", newline="\n")
        written = await anyio.open_file(os.dup(sys.stdout.fileno()), "w", encoding="utf-8", newline="\n")
        answerer = self._services.answerer
        async with AsyncExitStack() as life, read, stdio_server(read, written) as (incoming, outgoing):
            life.push_async_callback(asyncio.to_thread, self._services.tracing.close)
            life.push_async_callback(close, answerer.models)
            if answerer.remote is not None:
                life.push_async_callback(answerer.remote.aclose)
            await self._mcp_server.run(incoming, outgoing, self._mcp_server.create_initialization_options())


def listed(library: Library, config: RunnableConfig, cursor: str | None) -> types.ListResourcesResult:
    """Return the documents that the caller may see, from the cursor's number on; McpError if it is none of ours."""
    if not _CURSOR.fullmatch(cursor or "0"):
        raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message="This cursor is not known; list anew."))
    first = int(cursor or "0")
    catalogue = library.catalogue(audience_in(config))
    entries = list(catalogue.entries.values())
    resources = []
    for entry in entries[first : first + PAGE]:
        about = ", ".join(filter(None, (entry.category, entry.organisation, entry.jurisdiction, entry.last_updated)))
        uri, title = AnyUrl(_address(entry.doc_id) or ""), catalogue.title(entry.doc_id)
        named: dict[str, Any] = {"name": entry.doc_id, "title": title, "description": about or None}
        resources.append(types.Resource(uri=uri, mimeType="text/markdown", **named))
    following = str(first + PAGE) if first + PAGE < len(entries) else None
    return types.ListResourcesResult(resources=resources, nextCursor=following)


def text_of(library: Library, config: RunnableConfig, address: str) -> str:
    """Return a document's text, page by page where it has pages; McpError if the caller sees no such document."""
    doc_id = unquote(address.removeprefix(DOCUMENTS))
    with called_by(audience_in(config)):
        chunks = library.chunks(doc_id) if address.startswith(DOCUMENTS) else []
    if not chunks:
        raise McpError(types.ErrorData(code=UNKNOWN, message="There is no such document."))
    near = around(chunks, chunks[0].metadata["start_char"])
    texts = [part.text if part.page is None else f"Page {part.page}\n\n{part.text}" for part in parts_of(near)]
    if len(near) < len(chunks):
        texts.append("[The document goes on; `search` finds the rest.]")
    return "\n\n".join(texts)


def _found(passage: Passage) -> FoundPassage:
    place = place_in(passage["metadata"])
    doc_id = place["doc_id"] or ""
    return {
        **place,
        "doc_id": doc_id,
        "id": f"{doc_id}#{passage['metadata'].get('chunk_index', 0)}",
        "text": passage["content"],
        "score": passage["score"],
        "resource": _address(doc_id),
    }


def _address(doc_id: str | None) -> str | None:
    return f"{DOCUMENTS}{quote(doc_id, safe='')}" if doc_id else None


def _result(text: str, value: BaseModel | None = None) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=text)]
    structured = value.model_dump(mode="json") if value else None
    return types.CallToolResult(content=content, structuredContent=structured, isError=value is None)
