"""What arrives at each client of the chain, by real clients over one service; docs/reuse.md shows it as a table."""

import json
import re
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from blockbuster import blockbuster_ctx
from langchain.agents import create_agent
from langchain_core.messages import AIMessage
from langchain_core.tools import create_retriever_tool
from langchain_groq import ChatGroq
from langchain_openai import ChatOpenAI
from langserve import RemoteRunnable
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from openai import AsyncOpenAI
from pydantic import SecretStr

import chains
from app.http.server import create_app
from app.wiring import Service, open_service
from benchmarks.tables import table
from chains.output import merge
from tests.access import bearer, key_entry, settings_over
from tests.completions import answer_to
from tests.fakes import MODEL, FakeGroq, Reply, fake_groq
from tests.served import served

DOCS = Path(__file__).parents[2] / "docs" / "reuse.md"
QUESTION = "What is the surcharge on weekends for staff of the depot at night?"
SECRET, PUBLIC = (
    "The surcharge on weekends is 7 % for staff of the depot at night.",
    "The surcharge on weekends is 5 %.",
)
KEYS = ",".join([key_entry("staff", "staff", "ask+ask:internal"), key_entry("guest", "guest", "ask")])
NONE = "-"


class Quoting(FakeGroq):
    """Calls the first tool that it is shown with its `arguments`, and quotes the first passage that it reads."""

    arguments: dict[str, Any]

    def next_reply(self, body: dict[str, Any]) -> Reply:
        last = body["messages"][-1]
        if last["role"] == "tool":
            said = re.search(r"The surcharge on weekends is [^.\n\[]+", str(last["content"]))
            return Reply(f"{said[0].strip()} [1]." if said else "Nothing.")
        if tools := body.get("tools"):
            function = tools[0]["function"]
            [asked] = function["parameters"]["properties"].keys() & {"question", "query"}
            known = {
                name: value for name, value in self.arguments.items() if name in function["parameters"]["properties"]
            }
            return Reply(tool_call=(function["name"], {asked: QUESTION} | known))
        return Reply(answer_to(body))


class Stand(NamedTuple):
    """A service over a public and an internal document, and its model."""

    service: Service
    url: str
    groq: Quoting


class Arrived(NamedTuple):
    answer: str
    titles: list[str]
    quotes: list[str]


class Call(NamedTuple):
    """The filters and the audience of a call, and who makes it."""

    filters: dict[str, Any] | None = None
    audience: str = "internal"

    @property
    def asked(self) -> Any:
        return {"question": QUESTION} | ({"filters": self.filters} if self.filters else {})

    @property
    def key(self) -> str:
        return "guest" if self.audience == "public" else "staff"

    @property
    def config(self) -> Any:
        return {"configurable": {"audience": self.audience}}

    @property
    def metadata(self) -> Any:
        return {"filters": json.dumps(self.filters)} if self.filters else {}


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    folder = tmp_path_factory.mktemp("clients")
    for category, text in (("01_regulatory", PUBLIC), ("04_internal_synthetic", SECRET)):
        (folder / category).mkdir()
        front = f"title: {category}\nsource_urls: [https://example.org/{category}]"
        (folder / category / "rate.md").write_text(f"---\n{front}\n---\n\n## Rate\n\n{text}")
    with fake_groq(Quoting()) as groq:
        service = open_service(settings_over(folder, groq.url, auth_mode="api_key", api_keys=KEYS, rate_limit="off"))
        service.index.ingest([folder])
        with served(create_app(service)) as url:
            yield Stand(service, url, groq)  # type: ignore[arg-type] # It is the one that was given.


def of_answer(answer: Any) -> Arrived:
    citations = answer["citations"]
    return Arrived(answer["answer"], [one["title"] for one in citations], [one["quote"] for one in citations])


def of_message(message: AIMessage) -> Arrived:
    blocks: Any = message.content_blocks
    found = [one for block in blocks for one in block.get("annotations", [])]
    quotes = [one["cited_text"] for one in found if one.get("cited_text")]
    return Arrived(str(message.text), [one["title"] for one in found], quotes)


async def invoked(stand: Stand, call: Call) -> Arrived:
    return of_answer(await stand.service.chain.ainvoke(call.asked, call.config))


async def streamed(stand: Stand, call: Call) -> Arrived:
    return of_answer(merge([part async for part in stand.service.chain.astream(call.asked, call.config)]))


async def remote(stand: Stand, call: Call) -> Arrived:
    chain: RemoteRunnable[Any, Any] = RemoteRunnable(f"{stand.url}/copilot", headers=bearer(call.key))
    return of_answer(merge([part async for part in chain.astream(call.asked)]))


async def posted(stand: Stand, call: Call) -> Arrived:
    body = {"query": QUESTION} | ({"filters": call.filters} if call.filters else {})
    async with httpx.AsyncClient(headers=bearer(call.key)) as client:
        return of_answer((await client.post(f"{stand.url}/api/query", json=body)).json())


async def completed(stand: Stand, call: Call) -> Arrived:
    async with AsyncOpenAI(base_url=f"{stand.url}/v1", api_key=call.key) as client:
        messages: Any = [{"role": "user", "content": QUESTION}]
        reply = await client.chat.completions.create(model=MODEL, messages=messages, metadata=call.metadata)
    [choice] = reply.choices
    links = [one.url_citation for one in choice.message.annotations or []]
    quotes = [quote for link in links if (quote := getattr(link, "quote", None))]
    return Arrived(choice.message.content or "", [link.title for link in links], quotes)


async def responded(stand: Stand, call: Call) -> Arrived:
    async with AsyncOpenAI(base_url=f"{stand.url}/v1", api_key=call.key) as client:
        reply: Any = await client.responses.create(model=MODEL, input=QUESTION, metadata=call.metadata)
    found = reply.output[0].content[0].annotations
    return Arrived(reply.output_text, [one.title for one in found], [one.quote for one in found])


async def langchains(stand: Stand, call: Call) -> Arrived:
    model = ChatOpenAI(
        base_url=f"{stand.url}/v1",
        api_key=SecretStr(call.key),
        model=MODEL,
        use_responses_api=True,
        extra_body={"metadata": call.metadata},
    )
    return of_message(await model.ainvoke(QUESTION))


async def over_mcp(stand: Stand, call: Call) -> Arrived:
    async with (
        httpx.AsyncClient(headers=bearer(call.key)) as client,
        streamable_http_client(f"{stand.url}/mcp", http_client=client) as (read, write, _),
        ClientSession(read, write) as session,
    ):
        await session.initialize()
        told = (await session.call_tool("ask", call.asked)).structuredContent or {}
    return Arrived(told["answer"], [one["title"] for one in told["sources"]], [one["quote"] for one in told["sources"]])


async def by_agent(stand: Stand, call: Call, tool: Any) -> Arrived:
    stand.groq.arguments = {"filters": call.filters} if call.filters else {}
    model = ChatGroq(model_name="outer", api_key=SecretStr("gsk_test"), base_url=stand.groq.url, max_retries=0)
    agent = create_agent(model, tools=[tool], middleware=[chains.CitationMiddleware()], context_schema=dict)
    asked: Any = {"messages": [("human", QUESTION)]}
    return of_message((await agent.ainvoke(asked, context={"audience": call.audience}))["messages"][-1])


async def asking_agent(stand: Stand, call: Call) -> Arrived:
    return await by_agent(stand, call, chains.as_tool(stand.service.chain))


async def searching_agent(stand: Stand, call: Call) -> Arrived:
    return await by_agent(stand, call, chains.as_search_tool(stand.service.answerer.retriever))


async def retrieving_agent(stand: Stand, call: Call) -> Arrived:
    search = create_retriever_tool(
        stand.service.answerer.retriever, "search", "Search.", response_format="content_and_artifact"
    )
    return await by_agent(stand, call, search)


async def adapted_agent(stand: Stand, call: Call) -> Arrived:
    adapters = pytest.importorskip("langchain_mcp_adapters.client")
    server = {"transport": "streamable_http", "url": f"{stand.url}/mcp", "headers": bearer(call.key)}
    [tool] = [one for one in await adapters.MultiServerMCPClient({"docs": server}).get_tools() if one.name == "ask"]
    return await by_agent(stand, call, tool)


async def as_a_tool(stand: Stand, call: Call) -> Arrived:
    tool = chains.as_tool(stand.service.chain)
    message = await tool.ainvoke({"name": tool.name, "args": call.asked, "id": "1", "type": "tool_call"}, call.config)
    return of_answer(message.artifact)._replace(answer=str(message.content))


async def graphed(stand: Stand, call: Call) -> Arrived:
    config: Any = {"configurable": {"audience": call.audience, **(call.filters or {})}}
    asked: Any = {"messages": [("human", QUESTION)]}
    graph = chains.build_graph(stand.service.chain)
    return of_message((await graph.ainvoke(asked, config))["messages"][-1])


# A client, the package that it is of, how it asks, and by which names the rest arrives or is given.
HEAD = ("client", "answer", "citations", "quotes", "filters", "audience")
KEY, CONFIG = "the key's", "`configurable`"
LINKS, ANNOTATED = "`url_citation`", "`annotations`"
CLIENTS: list[tuple[Any, ...]] = [
    ("`chain.ainvoke`", "langchain-core", invoked, "`answer`", "`citations`", "`quote`", "`filters`", CONFIG),
    ("`chain.astream`", "langchain-core", streamed, "in pieces", "with their sentence", "`quote`", "`filters`", CONFIG),
    ("`RemoteRunnable`", "langserve", remote, "in pieces", "with their sentence", "`quote`", "`filters`", KEY),
    ("`POST /api/query`", "httpx", posted, "`answer`", "`citations`", "`quote`", "`filters`", KEY),
    ("`chat.completions`", "openai", completed, "`content`", LINKS, NONE, "`metadata`", KEY),
    ("`responses`", "openai", responded, "`output_text`", LINKS, "`quote`", "`metadata`", KEY),
    ("`ChatOpenAI`, Responses", "langchain-openai", langchains, "`text`", ANNOTATED, NONE, "`metadata`", KEY),
    ("MCP's `ask`", "mcp", over_mcp, "`answer`", "`sources`", "`quote`", "`filters`", KEY),
    ("`as_tool`", "langchain-core", as_a_tool, "the content", "`artifact`", "`quote`", "`filters`", CONFIG),
]
AGENTS: list[tuple[Any, ...]] = [
    ("`as_tool`", "langchain", asking_agent, "the model's", "context"),
    ("`as_search_tool`", "langchain", searching_agent, "the model's", "context"),
    ("`create_retriever_tool`", "langchain", retrieving_agent, NONE, "context"),
    ("MCP's `ask`", "langchain-mcp-adapters", adapted_agent, "the model's", KEY),
]
CLIENTS += [
    (f"agent over {name}", package, ask, "`text`", ANNOTATED, "`cited_text`", filters, audience)
    for name, package, ask, filters, audience in AGENTS
]
CLIENTS.append(("`build_graph`", "langgraph", graphed, "`text`", ANNOTATED, "`cited_text`", CONFIG, CONFIG))


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client[0])
async def test_what_the_table_names_arrives_and_nothing_else(stand, client):
    _, _, ask, _, _, quotes, filters, _ = client
    found = await ask(stand, Call())
    public = await ask(stand, Call(audience="public"))
    narrowed = await ask(stand, Call(filters={"category": "regulatory"}))

    assert "7 %" in found.answer
    assert {title.partition(" >")[0] for title in found.titles} == {"04_internal_synthetic"}
    assert set(found.quotes) == (set() if quotes == NONE else {SECRET})
    assert "5 %" in public.answer
    assert {title.partition(" >")[0] for title in public.titles} == {"01_regulatory"}
    assert ("5 %" in narrowed.answer) == (filters != NONE)


async def test_awaited_questions_do_not_block_the_event_loop_once_all_is_open(stand):
    """LangGraph's server ends the run of a graph that blocks it."""
    stand.service.warm_up()
    await graphed(stand, Call())
    with blockbuster_ctx():
        assert "7 %" in (await graphed(stand, Call())).answer
        assert "7 %" in (await streamed(stand, Call())).answer


def test_the_table_of_the_docs_is_this_one_and_so_are_the_versions():
    versions = ", ".join(f"{name} {version(name)}" for name in sorted({package for _, package, *_ in CLIENTS}))
    page = DOCS.read_text(encoding="utf-8")

    assert table(HEAD, [(name, *cells) for name, _, _, *cells in CLIENTS]) in page
    assert versions in " ".join(page.split())
