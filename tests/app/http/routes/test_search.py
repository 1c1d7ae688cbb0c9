"""Filters of a question through every contract, POST /search, and a service that asks another by RETRIEVAL_URL."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest
from langserve import RemoteRunnable
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from openai import OpenAI

from app.cli.doctor import findings
from app.http.server import create_app
from tests.access import POSTED, QUESTION, bearer, key_entry, serving, settings_over, sources_shown
from tests.clocks import StoppedClock
from tests.fakes import MODEL, FakeGroq, Reply
from tests.logging_reset import reset_logs
from tests.served import QUESTION as RATE
from tests.served import served, small_services

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


SURCHARGE = "The surcharge on {}."


def search_as(url: str, key: str, **body: Any) -> httpx.Response:
    return httpx.post(f"{url}/search", json={"query": QUESTION} | body, headers=bearer(key))


def texts(response: httpx.Response) -> set[str]:
    return {result["text"].splitlines()[-1] for result in response.raise_for_status().json()["results"]}


def test_passages_come_in_the_form_of_the_contract(tmp_path, groq):
    with served(create_app(small_services(tmp_path, groq))) as url:
        answer = httpx.post(f"{url}/search", json={"query": RATE, "top_k": 1}).json()

    [result] = answer.pop("results")
    assert answer == {"query": RATE}
    score, metadata = result.pop("score"), result.pop("metadata")
    assert 0.3 < score <= 1
    assert (metadata["section"], metadata["audience"]) == ("Rate", "public")
    assert result.pop("text").endswith("The rate of GST on imports into Singapore is 9 %.")
    assert result == {
        "document_id": "01_regulatory_gst",
        "chunk_index": 0,
        "title": "GST Guide",
        "page": 0,
        "url": "https://example.org/gst",
        "source_urls": ["https://example.org/gst"],
    }


def test_each_caller_sees_what_it_may_and_may_ask_for_less(url):
    assert texts(search_as(url, "staff")) == {SURCHARGE.format(PUBLIC), SURCHARGE.format(INTERNAL)}
    assert texts(search_as(url, "guest")) == {SURCHARGE.format(PUBLIC)}
    assert texts(search_as(url, "staff", audience="public")) == {SURCHARGE.format(PUBLIC)}
    assert search_as(url, "guest", audience="internal").status_code == 400


def test_what_does_not_fit_is_a_400_and_without_a_key_nothing_is_searched(url):
    for body in ({"query": ""}, {"query": 7}, {"top_k": 0}, {"top_k": "5"}, {"top_k": 101}):
        response = search_as(url, "staff", **body)
        assert (response.status_code, set(response.json())) == (400, {"error", "message"})
    assert httpx.post(f"{url}/search", json={"query": QUESTION}).status_code == 401


@pytest.fixture
def chat(tmp_path, url, groq) -> Any:
    """The settings of a service without documents that asks the other one."""
    options = {"retrieval_url": url, "retrieval_api_key": "staff"}
    return settings_over(tmp_path, groq.url, auth_mode="public", rate_limit="off", **options)


def test_a_service_without_documents_answers_from_the_other_one_and_names_and_tries_it(chat, groq, url):
    groq.replies[:] = [Reply("It is 5 % [1]. It is 5 % [01_regulatory guide > Rate].")] * 2
    with serving(chat) as front:
        answers = [httpx.post(front + path, json=POSTED).raise_for_status().json() for path in ("/api/query", "/chat")]
        told, ready = httpx.get(f"{front}/health").json(), httpx.get(f"{front}/health/ready")

    assert [answer["citations"][0]["title"] for answer in answers] == ["01_regulatory guide"] * 2
    assert [asked for asked in groq.requests if "in confidence" in sources_shown(asked)] == []  # Strangers ask here.
    assert told["retrieval_url"] == url
    assert (ready.status_code, ready.json()["checks"]["retrieval"]["state"]) == (200, "ok")
    tried = {finding.part: finding for finding in findings(chat)}
    assert (tried["retrieval service"].state, "vector store" in tried) == ("ok", False)


def test_it_opens_no_index_of_its_own_and_takes_no_documents(chat, groq):
    groq.replies[:] = [Reply("It is 5 % [01_regulatory guide > Rate].")]
    staff = chat.replace(auth_mode="none")  # On this machine everybody may add documents.
    with serving(staff) as url:
        httpx.post(f"{url}/api/query", json=POSTED).raise_for_status()
        made = [file for file in chat.chroma.path.rglob("*.sqlite3") if ".ledger." not in file.name]
        listed = httpx.get(f"{url}/api/documents").json()
        added = httpx.post(f"{url}/api/documents", files={"files": ("a.md", b"# A")})

    assert (made, listed["upload"]) == ([], None)
    assert (added.status_code, "RETRIEVAL_URL" in added.json()["message"]) == (409, True)


def test_a_retrieval_service_that_is_away_is_a_503_and_the_service_not_ready(chat):
    away = chat.replace(retrieval_url="http://127.0.0.1:1")
    with serving(away, clock=StoppedClock()) as url:  # What is asked again is asked at once.
        asked = httpx.post(f"{url}/api/query", json=POSTED)
        ready = httpx.get(f"{url}/health/ready")

    assert (asked.status_code, asked.json()["message"][:13]) == (503, "The documents")
    assert ready.status_code == 503
    assert ready.json()["checks"]["retrieval"]["required"]


def test_a_service_that_asks_another_ingests_no_samples(chat, waypoint, monkeypatch, groq: FakeGroq):
    groq.replies[:] = [Reply("It is 5 % [01_regulatory guide > Rate].")]
    for name in ("retrieval_url", "llm_base_url"):
        monkeypatch.setenv(name.upper(), chat.as_variables()[name])
    code, out, err = waypoint("ask", QUESTION, RETRIEVAL_API_KEY="staff", LLM_API_KEY="gsk_test")

    assert (code, "ingesting" in err) == (0, False)
    assert "01_regulatory guide > Rate" in out


@pytest.mark.parametrize("plain", [False, True])
def test_a_search_has_one_line_in_the_log_with_its_words_only_where_that_is_set(tmp_path, groq, caplog, plain):
    services = small_services(tmp_path, groq, log_questions=plain)
    reset_logs()  # Another test may have set structlog up.
    with caplog.at_level("INFO"), served(create_app(services)) as url:
        httpx.post(f"{url}/search", json={"query": RATE}).raise_for_status()

    [line] = [record.getMessage() for record in caplog.records if record.name == "app.wiring.chain"]
    assert line.startswith("search ")
    assert "passages=1" in line
    assert (RATE in line) is plain
