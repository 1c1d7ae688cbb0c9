"""The Model Context Protocol by the SDK's own client: over streamable HTTP, and over stdio to a real process."""

import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx
import jsonschema
import pytest
from mcp import ClientSession, McpError, StdioServerParameters, stdio_client, types
from mcp.client.streamable_http import streamable_http_client
from pydantic import AnyUrl

from app.observability.logs import configure_logs
from app.wings.mcp.routes import MISSING
from benchmarks.processes import ROOT
from tests.access import QUESTION, bearer, key_entry, serving, settings_over, sources_shown, write_corpus
from tests.fakes import FakeGroq, Reply, groq_server
from tests.logging_reset import reset_logs
from tests.served import answering

PUBLIC, INTERNAL = "01_regulatory_rate", "04_internal_synthetic_rate"
ANSWER = "It is 5 % [01_regulatory guide > Rate]."
KEYS = ",".join([key_entry("staff", "staff", "ask+ask:internal"), key_entry("guest", "guest", "ask")])


groq = pytest.fixture(groq_server, scope="module")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("mcp"))


@pytest.fixture(scope="module")
def url(corpus, groq) -> Iterator[str]:
    """The address of a service over a public and an internal document, for holders of keys."""
    with serving(settings_over(corpus, groq.url, auth_mode="api_key", api_keys=KEYS, rate_limit="off")) as url:
        yield url


_answers = answering(ANSWER)


@asynccontextmanager
async def over_http(url: str, key: str = "staff") -> AsyncIterator[ClientSession]:
    async with (
        httpx.AsyncClient(headers=bearer(key)) as client,
        streamable_http_client(f"{url}/mcp", http_client=client) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        yield session


@asynccontextmanager
async def over_stdio(corpus: Path, groq: FakeGroq) -> AsyncIterator[ClientSession]:
    settings = settings_over(corpus, groq.url)
    names = ("chroma_path", "llm_base_url", "llm_max_retries", "scope_file", "relevance_threshold")
    told = {name.upper(): str(settings.as_variables()[name]) for name in names} | {"LLM_API_KEY": "gsk_test"}
    environment = {"PATH": os.defpath, "HOME": str(Path.home()), "PYTHONPATH": str(ROOT), **told}
    words = ["-c", "from app.cli import main; main()", "mcp"]
    process = StdioServerParameters(command=sys.executable, args=words, env=environment, cwd=corpus)
    async with stdio_client(process) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        yield session


async def check_tools(session: ClientSession) -> None:
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    asked = await session.call_tool("ask", {"question": QUESTION})
    found = await session.call_tool("search", {"query": QUESTION, "top_k": 5})

    assert not asked.isError
    assert asked.structuredContent
    assert asked.structuredContent["answer"] == "It is 5 % [1]."
    [source] = asked.structuredContent["sources"]
    assert (source["number"], source["doc_id"]) == (1, PUBLIC)
    assert text_of(asked).startswith("It is 5 % [1].\n\nSources:\n[1] 01_regulatory guide > Rate")
    assert found.structuredContent
    assert {one["id"] for one in found.structuredContent["passages"]} == {f"{PUBLIC}#0", f"{INTERNAL}#0"}
    for name, result in (("ask", asked), ("search", found)):
        jsonschema.validate(result.structuredContent, tools[name].outputSchema or {})


async def check_resources(session: ClientSession) -> None:
    [internal, public] = (await session.list_resources()).resources
    [document] = (await session.read_resource(public.uri)).contents

    assert (public.name, public.title) == (PUBLIC, "01_regulatory guide")
    assert internal.name == INTERNAL
    assert isinstance(document, types.TextResourceContents)
    assert "The surcharge on weekends is 5 %." in document.text


def text_of(result: types.CallToolResult) -> str:
    [content] = result.content
    assert isinstance(content, types.TextContent)
    return content.text


async def test_over_http_the_tools_answer_and_the_documents_are_read(url):
    async with over_http(url) as session:
        await check_tools(session)
        await check_resources(session)


async def test_over_stdio_the_same_holds(corpus, groq):
    with anyio.fail_after(150):
        async with over_stdio(corpus, groq) as session:
            await check_tools(session)
            await check_resources(session)


async def test_tools_and_templates_say_what_they_are_for(url):
    async with over_http(url) as session:
        tools = (await session.list_tools()).tools
        [template] = (await session.list_resource_templates()).resourceTemplates

    assert [tool.name for tool in tools] == ["ask", "search"]
    for tool in tools:
        assert tool.title
        assert tool.description
        assert tool.annotations
        assert tool.annotations.readOnlyHint
        assert tool.outputSchema
        assert all("description" in field for field in tool.inputSchema["properties"].values())
    assert tools[0].inputSchema["required"] == ["question"]
    assert (template.uriTemplate, bool(template.description)) == ("waypoint://documents/{doc_id}", True)


async def test_a_decline_names_the_closest_passages_that_the_caller_may_see(url, groq):
    groq.replies[:] = [Reply("I don't have specific information about that.")]
    async with over_http(url, "guest") as session:
        asked = await session.call_tool("ask", {"question": QUESTION})

    told = asked.structuredContent or {}
    quote = "The surcharge on weekends is 5 %."
    assert [(one["doc_id"], one["quote"], one["marked"]) for one in told["closest"]] == [(PUBLIC, quote, quote)]
    assert "Closest passages:\n- 01_regulatory guide > Rate" in text_of(asked)


async def test_a_guest_finds_reads_and_is_answered_from_public_documents_only(url, groq):
    async with over_http(url, "guest") as session:
        found = await session.call_tool("search", {"query": QUESTION})
        resources = (await session.list_resources()).resources
        await session.call_tool("ask", {"question": QUESTION})
        with pytest.raises(McpError, match="no such document"):
            await session.read_resource(AnyUrl(f"waypoint://documents/{INTERNAL}"))

    assert "in confidence" not in text_of(found)
    assert [one["doc_id"] for one in (found.structuredContent or {})["passages"]] == [PUBLIC]
    assert [resource.name for resource in resources] == [PUBLIC]
    assert "in confidence" not in sources_shown(groq.requests[-1])


@pytest.mark.parametrize("uri", ["waypoint://documents/nothing", "waypoint://elsewhere/x", "file:///etc/passwd"])
async def test_what_is_no_document_is_not_found(url, uri):
    async with over_http(url) as session:
        with pytest.raises(McpError, match="no such document") as caught:
            await session.read_resource(AnyUrl(uri))
    assert caught.value.error.code == -32002


def test_the_log_does_not_repeat_a_request_that_cannot_be_read(url, capsys):
    configure_logs("info", "json")
    try:
        headers = bearer("staff") | {"Accept": "application/json", "Content-Type": "application/json"}
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/ask", "params": {"question": "What is my salary?"}}
        answer = httpx.post(f"{url}/mcp", json=call, headers=headers).json()
    finally:
        reset_logs()

    assert answer["error"]["message"] == "Invalid request parameters"
    told = capsys.readouterr().err
    assert "Failed to validate request" in told
    assert "salary" not in told


async def test_a_cursor_that_is_not_ours_is_refused(url):
    async with over_http(url) as session:
        for cursor in ("x", "-1", "٣", "9" * 5000):
            with pytest.raises(McpError, match="cursor"):
                await session.list_resources(params=types.PaginatedRequestParams(cursor=cursor))
        beyond = await session.list_resources(params=types.PaginatedRequestParams(cursor="100"))
    assert (beyond.resources, beyond.nextCursor) == ([], None)


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("ask", {}, "question: Field required. Call this tool again"),
        ("ask", {"question": " "}, "Query cannot be empty. Call this tool again"),
        ("search", {"query": "x", "top_k": 0}, "top_k: Input should be greater than or equal to 1"),
        ("delete", {}, "There is no tool 'delete'; there are ask, search"),
    ],
)
async def test_a_call_that_does_not_fit_is_a_result_that_says_so(url, tool, arguments, told):
    async with over_http(url) as session:
        result = await session.call_tool(tool, arguments)

    assert result.isError
    assert told in text_of(result)


async def test_a_model_that_is_away_is_a_result_that_says_what_to_do(url, groq):
    groq.replies[:] = [Reply(status=503)]
    async with over_http(url) as session:
        result = await session.call_tool("ask", {"question": QUESTION})

    assert result.isError
    assert "Call this tool once more" in text_of(result)


def message(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


ACCEPTED = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


def test_only_calls_of_tools_count_as_questions_and_each_caller_has_its_rate(corpus, groq):
    settings = settings_over(corpus, groq.url, auth_mode="api_key", api_keys=KEYS, rate_limit="1/hour")
    with serving(settings) as url, httpx.Client(base_url=url, headers=bearer("staff") | ACCEPTED) as client:
        listed = [client.post("/mcp", json=message("tools/list")).status_code for _ in range(3)]
        call = message("tools/call", name="search", arguments={"query": QUESTION})
        called = [client.post("/mcp", json=call) for _ in range(2)]

    assert listed == [200, 200, 200]
    assert [response.status_code for response in called] == [200, 429]
    assert "Retry-After" in called[1].headers


def test_strangers_are_refused_and_so_is_another_method(url):
    assert httpx.post(f"{url}/mcp", json=message("tools/list"), headers=ACCEPTED).status_code == 401
    assert httpx.get(f"{url}/mcp", headers=bearer("staff") | ACCEPTED).status_code == 405


def test_without_the_sdk_the_route_and_the_command_say_what_to_install(url, waypoint, monkeypatch):
    monkeypatch.setattr("app.wings.mcp.routes.find_spec", lambda _: None)
    monkeypatch.setitem(sys.modules, "app.wings.mcp.server", None)
    response = httpx.post(f"{url}/mcp", json=message("tools/list"), headers=bearer("staff") | ACCEPTED)
    code, _, err = waypoint("mcp")

    assert (response.status_code, response.json()["message"]) == (501, MISSING)
    assert (code, "pip install 'waypoint-copilot[mcp]'" in err) == (2, True)
