"""A mail address in a question, by every way to ask, is nowhere in what leaves the service: each way has its own."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pytest
from pytest_httpserver import HTTPServer

from app.cli.ask import Conversation, talk
from app.http.server import create_app
from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Parts, Service, open_service
from tests.event_stores import Place
from tests.fakes import MODEL, FakeGroq, WordEmbeddings, fake_groq
from tests.langsmith_stub import Backend, backend
from tests.logging_reset import reset_logs
from tests.served import GUIDE, served

pytestmark = pytest.mark.service

Way = Callable[[httpx.Client, Service, str], None]


class Embedded(WordEmbeddings):
    """Keeps the questions that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.questions: list[str] = []

    def embed_query(self, text: str) -> list[float]:
        self.questions.append(text)
        return super().embed_query(text)


def post(path: str, body: Callable[[str], Any], **headers: str) -> Way:
    def ask(client: httpx.Client, services: Service, text: str) -> None:
        response = client.post(path, json=body(text), headers=headers)
        assert response.is_success, response.text
        assert 'isError":true' not in response.text

    return ask


def said(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}, {"role": "assistant", "content": "Nine percent."}]


def completion(text: str, **more: Any) -> dict[str, Any]:
    parts = [{"type": "text", "text": f"Before: {text}"}]
    history = [{"role": "user", "content": parts}, {"role": "assistant", "content": "Nine percent."}]
    return {"model": MODEL, "messages": [*history, {"role": "user", "content": text}], **more}


def called(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}


def chat(client: httpx.Client, services: Service, text: str) -> None:
    talk(Conversation(services.chain), [text, f"And again: {text}"])


def session() -> str:
    return uuid4().hex


MCP = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
# How a text gets into the service, with that text in each place for one.
WAYS: dict[str, Way] = {
    "query": post("/api/query", lambda text: {"query": text, "history": said(text)}),
    "query in a session": post("/api/query", lambda text: {"query": text, "session_id": session()}),
    "chat": post("/chat", lambda text: {"query": text, "session_id": session()}),
    "copilot invoke": post("/copilot/invoke", lambda text: {"input": {"question": text, "history": said(text)}}),
    "copilot batch": post("/copilot/batch", lambda text: {"inputs": [{"question": text}]}),
    "copilot stream": post("/copilot/stream", lambda text: {"input": {"question": text, "history": said(text)}}),
    "copilot stream_events": post("/copilot/stream_events", lambda text: {"input": {"question": text}}),
    "completions": post("/v1/chat/completions", completion),
    "completions streamed": post("/v1/chat/completions", lambda text: completion(text, stream=True)),
    "mcp ask": post("/mcp", lambda text: called("ask", {"question": text, "history": said(text)}), **MCP),
    "mcp search": post("/mcp", lambda text: called("search", {"query": text}), **MCP),
    "search": post("/search", lambda text: {"query": text}),
    "feedback": post("/api/feedback", lambda text: {"trace_id": str(uuid4()), "score": 1, "comment": text}),
    "waypoint chat": chat,
}


# Where a text goes, if not everywhere.
REACHED = {"feedback": {"events"}, "search": {"embedding model", "logs"}, "mcp search": {"embedding model", "logs"}}


def address(way: str) -> str:
    return f"{way.replace(' ', '.')}@leak.example"


def word(way: str) -> str:
    """Return a word that stands beside the address, and shows that the text came that far."""
    return f"zz{way.replace(' ', 'z').replace('_', 'z')}zz"


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Ask by every way; yield what left the service by its destination, once the service has ended."""
    folder = tmp_path_factory.mktemp("redaction")
    embedded = Embedded()
    with fake_groq() as groq, backend() as stub, HTTPServer() as moderator:
        moderator.expect_request("/v1/moderations").respond_with_json({"results": [{"flagged": False}]})
        services = desk(folder, groq, stub, moderator, embedded)
        with logged() as lines, served(create_app(services)) as url, httpx.Client(base_url=url) as client:
            for way, ask in WAYS.items():
                ask(client, services, f"Please mail {address(way)} the {word(way)} rate of GST.")
        yield {
            "language model": json.dumps(groq.requests),
            "moderator": "".join(request.get_data(as_text=True) for request, _ in moderator.log),
            "traces": json.dumps(stub.runs, default=str) + b"".join(stub.bodies).decode("latin-1"),
            "embedding model": json.dumps(embedded.questions),
            "events": "".join(path.read_bytes().decode("latin-1") for path in folder.glob("events.sqlite3*")),
            "ledger": "".join(path.read_bytes().decode("latin-1") for path in folder.glob("store/*.ledger.sqlite3*")),
            "logs": lines.getvalue(),
        }


def desk(folder: Path, groq: FakeGroq, stub: Backend, moderator: HTTPServer, embedded: Embedded) -> Service:
    (folder / "gst.md").write_text(GUIDE)
    outbox = Place(str(folder / "events.sqlite3")).outbox(9, capacity=1000, flush_s=0)
    settings = load_settings(
        _env_file=None, chroma_path=folder / "store", scope_file="off", relevance_threshold=0, min_chunks=0,
        llm_api_key="gsk_test", llm_base_url=groq.url, llm_max_retries=0, llm_fallback=False,
        moderation_provider="openai", moderation_api_key="sk-x", moderation_base_url=moderator.url_for("/v1"),
        cache_enabled=True, cache_embeddings=True, cache_retrieval=True, cache_llm=True, cache_backend="ledger",
        rate_limit="off", log_questions=True,
        langsmith_tracing=True, langsmith_endpoint=stub.url, langsmith_api_key="lsv2_x",
        otel_exporter_otlp_endpoint=stub.url,
    )  # fmt: skip
    services = open_service(settings, parts=Parts(embeddings=embedded, outbox=outbox))
    services.index.ingest([folder / "gst.md"])
    return services


@contextmanager
def logged() -> Iterator[StringIO]:
    """Yield what is logged while the body runs, at the level that logs most."""
    with redirect_stderr(StringIO()) as lines:
        configure_logs("debug", "json")
        try:
            yield lines
        finally:
            reset_logs()


@pytest.mark.parametrize("way", WAYS)
def test_an_address_is_nowhere_in_what_leaves_the_service(left, way):
    assert [place for place, text in left.items() if address(way) in text] == []


@pytest.mark.parametrize("way", WAYS)
def test_the_words_beside_the_address_went_where_it_would_have_gone(left, way):
    places = {place for place, text in left.items() if word(way) in text}

    assert places == REACHED.get(way, set(left))


def test_the_kind_stands_in_place_of_the_address(left):
    assert all("<EMAIL>" in left[place] for place in left)


@pytest.mark.parametrize("way", ["query", "search", "mcp search"])
def test_another_retrieval_service_is_asked_without_the_address(way, httpserver, tmp_path):
    httpserver.expect_request("/search").respond_with_json({"query": "", "results": []})
    settings = load_settings(
        _env_file=None, retrieval_url=httpserver.url_for(""), chroma_path=tmp_path, rate_limit="off"
    )  # fmt: skip
    services = open_service(settings)
    with served(create_app(services)) as url, httpx.Client(base_url=url) as client:
        WAYS[way](client, services, f"Please mail {address(way)} the {word(way)} rate of GST.")

    searched = {request.get_json()["query"] for request, _ in httpserver.log}
    assert searched == {f"Please mail <EMAIL> the {word(way)} rate of GST."}
