"""A question's own filters through every contract, by its real client; the caller's audience holds beside them."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from langserve import RemoteRunnable
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from openai import OpenAI

from tests.access import QUESTION, bearer, key_entry, serving, settings_over, sources_shown
from tests.fakes import MODEL, Reply

PUBLIC, INTERNAL = "weekends is 5 %", "weekends is 7 %, in confidence"
KEYS = ",".join([key_entry("staff", "staff", "ask+ask:internal"), key_entry("guest", "guest", "ask")])
KNOWN = "filters: 'owner' is no field of the documents; they have audience, category, "


@pytest.fixture(scope="module")
def url(corpus, groq) -> Iterator[str]:
    with serving(settings_over(corpus, groq.url, auth_mode="api_key", api_keys=KEYS, rate_limit="off")) as url:
        yield url


@pytest.fixture(autouse=True)
def _answers(groq, _forget) -> None:
    groq.replies[:] = [Reply("It is so [1].")] * 3


def posted(path: str, body: Callable[[Any], Any]) -> Callable[[str, str, Any], Any]:
    def ask(url: str, key: str, filters: Any) -> str:
        return httpx.post(f"{url}{path}", json=body(filters), headers=bearer(key)).text

    return ask


async def asked_remotely(url: str, key: str, filters: Any) -> str:
    remote: RemoteRunnable = RemoteRunnable(f"{url}/copilot", headers=bearer(key))
    try:
        return str(await remote.ainvoke({"question": QUESTION, "filters": filters}))
    except httpx.HTTPStatusError as error:
        return str(error)
    finally:
        remote.sync_client.close()
        await remote.async_client.aclose()


def completed(url: str, key: str, filters: Any) -> str:
    with OpenAI(base_url=f"{url}/v1", api_key=key, max_retries=0) as client:
        messages: Any = [{"role": "user", "content": QUESTION}]
        try:
            metadata = {"filters": json.dumps(filters), "user_id": "7"}
            return str(client.chat.completions.create(model=MODEL, messages=messages, metadata=metadata))
        except Exception as error:
            return str(error)


def tool(name: str, argument: str) -> Callable[[str, str, Any], Any]:
    async def call(url: str, key: str, filters: Any) -> str:
        async with (
            httpx.AsyncClient(headers=bearer(key)) as client,
            streamable_http_client(f"{url}/mcp", http_client=client) as (read, write, _),
            ClientSession(read, write) as session,
        ):
            await session.initialize()
            return str(await session.call_tool(name, {argument: QUESTION, "filters": filters}))

    return call


CONTRACTS: dict[str, Callable[[str, str, Any], Any]] = {
    "/api/query": posted("/api/query", lambda filters: {"query": QUESTION, "filters": filters}),
    "/search": posted("/search", lambda filters: {"query": QUESTION, "filters": filters}),
    "/copilot/stream": posted("/copilot/stream", lambda filters: {"input": {"question": QUESTION, "filters": filters}}),
    "/v1/responses": posted(
        "/v1/responses", lambda filters: {"model": MODEL, "input": QUESTION, "metadata": {"filters": filters}}
    ),
    "LangServe": asked_remotely,
    "OpenAI": completed,
    "MCP ask": tool("ask", "question"),
    "MCP search": tool("search", "query"),
}


@pytest.fixture(params=CONTRACTS)
def ask(request, url, groq) -> Callable[[str, Any], Any]:
    """Return what asks with a key and filters, and gives the answer with what the model was shown."""

    async def asked(key: str, filters: Any) -> str:
        groq.requests.clear()
        told = CONTRACTS[request.param](url, key, filters)
        text = told if isinstance(told, str) else await told
        return "\n".join([text, *map(sources_shown, groq.requests)])

    return asked


async def test_filters_narrow_and_never_widen_what_the_caller_sees(ask) -> None:
    public, internal = await ask("staff", {"category": "regulatory"}), await ask("staff", {"category": ["internal"]})
    strange = await ask("guest", {"category": "internal"})

    assert PUBLIC in public
    assert INTERNAL not in public
    assert INTERNAL in internal
    assert PUBLIC not in internal
    assert INTERNAL not in strange


@pytest.mark.parametrize(
    ("filters", "told"), [({"owner": "finance"}, KNOWN), ({"category": {"like": "x"}}, "filters: 'category' must be")]
)
async def test_filters_of_an_unknown_field_or_form_are_refused(ask, filters, told) -> None:
    assert told in await ask("guest", filters)


def test_filters_of_openai_that_are_no_json_are_refused(url) -> None:
    body = {"model": MODEL, "input": QUESTION, "metadata": {"filters": "category=carrier"}}
    told = httpx.post(f"{url}/v1/responses", json=body, headers=bearer("staff"))

    assert (told.status_code, told.json()["error"]["param"]) == (400, "metadata")


def test_another_service_is_asked_with_the_filters(url, tmp_path, groq) -> None:
    settings = settings_over(tmp_path, groq.url, retrieval_url=url, retrieval_api_key="staff", rate_limit="off")
    with serving(settings) as front:
        body = {"query": QUESTION, "filters": {"category": "regulatory", "last_updated": {"to": "2030"}}, "topK": 1}
        dated = httpx.post(f"{front}/api/query", json=body)
        told = httpx.post(f"{front}/search", json={"query": QUESTION, "filters": {"owner": "x"}})
        found = httpx.post(
            f"{front}/search", json={"query": QUESTION, "top_k": 1, "filters": {"category": "internal"}}, timeout=30
        )

    assert (dated.status_code, dated.json()["message"][:8]) == (400, "filters:")  # No document there has a date.
    assert (told.status_code, told.json()["message"][:16]) == (400, "filters: 'owner'")
    assert [INTERNAL in result["text"] for result in found.json()["results"]] == [True]
