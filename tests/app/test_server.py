import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import uvicorn
from langserve import RemoteRunnable

from app.server import create_app
from app.settings import load_settings
from app.wiring import Services
from tests.fakes import FakeGroq, Reply, fake_groq
from tests.streams import merged

QUESTION = "What is the GST rate on imports into Singapore?"


@pytest.fixture(scope="module")
def groq() -> Iterator[FakeGroq]:
    with fake_groq() as server:
        yield server


@pytest.fixture(scope="module")
def url(groq, tmp_path_factory) -> Iterator[str]:
    """The service on loopback, over a small real index, answering through the real ChatGroq."""
    folder = tmp_path_factory.mktemp("service")
    corpus = folder / "01_regulatory"
    corpus.mkdir()
    (corpus / "gst.md").write_text(
        "---\ntitle: GST Guide\nsource_urls: [https://example.org/gst]\n---\n\n"
        "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %."
    )
    settings = load_settings(
        _env_file=None,
        chroma_path=folder / "store",
        cors_origins="https://desk.example",
        llm_api_key="gsk_test",
        llm_base_url=groq.url,
        llm_max_retries=0,
        llm_fallback=False,
    )
    services = Services(settings)
    services.ingest([folder])
    with served(create_app(services)) as address:
        yield address


class served:
    """Run an application on loopback while the body runs."""

    def __init__(self, app) -> None:
        self.socket = socket.socket()
        self.socket.bind(("127.0.0.1", 0))
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="warning", ws="none", loop="asyncio"))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)

    def __enter__(self) -> str:
        self.thread.start()
        while not self.server.started:
            time.sleep(0.01)
        return f"http://127.0.0.1:{self.socket.getsockname()[1]}"

    def __exit__(self, *exc) -> None:
        self.server.should_exit = True
        self.thread.join()
        self.socket.close()


@pytest.fixture(autouse=True)
def _reply(groq) -> None:
    groq.replies.clear()
    groq.requests.clear()
    groq.replies.append(Reply("It is 9 % [GST Guide > Rate]."))


def post(url: str, **options) -> httpx.Response:
    return httpx.post(f"{url}/api/query", timeout=20, **options)


def test_a_query_is_answered_in_the_words_of_the_contract(url):
    body = post(url, json={"query": QUESTION}).json()

    assert set(body) == {"answer", "outcome", "sources", "relatedDocs", "citations", "confidence", "metadata"}
    assert body["answer"] == "It is 9 % [GST Guide > Rate]."
    [citation] = body["citations"]
    kept = {name: citation[name] for name in ("raw", "title", "section", "matched", "sourceUrls", "docId")}
    assert kept == {
        "raw": "[GST Guide > Rate]",
        "title": "GST Guide",
        "section": "Rate",
        "matched": True,
        "sourceUrls": ["https://example.org/gst"],
        "docId": f"{body['relatedDocs'][0]['docId']}",
    }
    assert body["sources"] == [
        {"title": "GST Guide", "org": None, "url": "https://example.org/gst", "section": "Rate", "page": None}
    ]
    metadata = body["metadata"]
    assert (metadata["query"], metadata["chunksRetrieved"], metadata["chunksUsed"]) == (QUESTION, 1, 1)
    assert metadata["model"] == "llama-3.1-8b-instant"
    assert set(metadata["timingsMs"]) == {"retrieval", "context", "generation", "citations", "confidence"}


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "Query parameter is required and must be a string"),
        ({"query": 7}, "Query parameter is required and must be a string"),
        ({"query": None}, "Query parameter is required and must be a string"),
        ({"query": ""}, "Query cannot be empty"),
        ({"query": " \n"}, "Query cannot be empty"),
        ({"query": "x" * 1001}, "Query exceeds maximum length of 1000 characters"),
        ({"query": "x", "topK": 0}, "topK: Input should be greater than or equal to 1"),
        ({"query": "x", "topK": "3"}, "topK: Input should be a valid integer"),
        ({"query": "x", "threshold": 2}, "threshold: Input should be less than or equal to 1"),
        ([1], "The body must be a JSON object with a query"),
    ],
)
def test_a_query_that_cannot_be_asked_is_a_400(url, body, message):
    response = post(url, json=body)

    assert response.status_code == 400
    assert response.json() == {"error": "Bad Request", "message": message}


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\xfe", b"[" * 5000])
def test_a_body_that_is_no_json_is_a_400(url, content):
    response = post(url, content=content)
    assert response.status_code == 400
    assert response.json()["error"] == "Bad Request"


def test_a_body_above_10_kb_is_a_413(url):
    response = post(url, json={"query": "x", "history": [{"role": "user", "content": "y" * 11_000}]})
    assert response.status_code == 413
    assert set(response.json()) == {"error", "message"}


def test_a_threshold_of_its_own_may_retrieve_nothing_and_then_the_model_is_not_called(url, groq):
    body = post(url, json={"query": QUESTION, "threshold": 1}).json()

    assert body["outcome"] == "no_results"
    assert body["metadata"]["model"] is None
    assert body["confidence"]["level"] == "Low"
    assert groq.requests == []


@pytest.mark.parametrize(("status", "expected"), [(500, 502), (401, 502), (429, 503)])
def test_a_failing_model_is_told_without_inner_detail(url, groq, status, expected):
    groq.replies[:] = [Reply(status=status)]
    response = post(url, json={"query": QUESTION})

    assert response.status_code == expected
    assert set(response.json()) == {"error", "message"}
    assert "scripted" not in response.text
    assert "Traceback" not in response.text


def test_health_tells_status_time_uptime_and_version(url):
    body = httpx.get(f"{url}/api/health").json()
    assert set(body) == {"status", "timestamp", "uptime", "version"}
    assert body["status"] == "ok"


def test_a_page_of_an_allowed_origin_may_call_and_no_other(url):
    def allowed(origin: str) -> str | None:
        return httpx.get(f"{url}/api/health", headers={"Origin": origin}).headers.get("access-control-allow-origin")

    assert allowed("https://desk.example") == "https://desk.example"
    assert allowed("https://other.example") is None


def test_an_unknown_route_is_a_404_in_the_same_form(url):
    response = httpx.get(f"{url}/nowhere")
    assert (response.status_code, set(response.json())) == (404, {"error", "message"})


def test_the_api_is_described(url):
    paths = httpx.get(f"{url}/openapi.json").json()["paths"]
    assert {"/api/query", "/api/health", "/copilot/invoke"} <= set(paths)


@pytest.fixture
async def remote(url) -> AsyncIterator[RemoteRunnable]:
    runnable: RemoteRunnable = RemoteRunnable(f"{url}/copilot", timeout=20)
    yield runnable
    runnable.sync_client.close()
    await runnable.async_client.aclose()


async def test_langserve_answers_every_way_the_same(remote, groq):
    groq.replies[:] = [Reply("It is 9 % [GST Guide > Rate].")] * 6
    question = {"question": QUESTION}

    answers = [
        remote.invoke(question),
        await remote.ainvoke(question),
        merged(list(remote.stream(question))),
        merged([part async for part in remote.astream(question)]),
        *remote.batch([question, question]),
    ]

    assert len({answer["answer"] for answer in answers}) == 1
    assert all(answer["citations"][0]["doc_id"] == answer["documents"][0]["metadata"]["doc_id"] for answer in answers)
    assert all(answer["metadata"]["usage"]["total_tokens"] > 0 for answer in answers)


async def test_langserve_streams_tokens_as_they_come(remote):
    parts = list(remote.stream({"question": QUESTION}))
    names = [name for part in parts for name in part]

    assert names.count("answer") > 3
    assert names.index("documents") < names.index("answer") < names.index("citations") < names.index("confidence")


@pytest.mark.parametrize("question", ["", "  ", "x" * 1001])
def test_langserve_refuses_a_question_that_cannot_be_asked(url, question):
    response = httpx.post(f"{url}/copilot/invoke", json={"input": {"question": question}})
    assert response.status_code == 422


def test_langserve_tells_its_schema_and_lets_nothing_be_configured(url):
    schema = httpx.get(f"{url}/copilot/input_schema").json()

    assert set(schema["properties"]) == {"question", "history", "top_k", "threshold"}
    assert schema["properties"]["threshold"]["default"] == 0.15
    answer = httpx.get(f"{url}/copilot/output_schema").json()
    assert "citations" in str(answer)
    body = {"input": {"question": QUESTION}, "config": {"configurable": {"x": 1}}}
    answered = httpx.post(f"{url}/copilot/invoke", json=body, timeout=20)
    assert answered.json()["output"]["metadata"]["model"] == "llama-3.1-8b-instant"
    assert httpx.post(f"{url}/copilot/stream_log", json=body).status_code == 404
