"""Citations of OpenAI's search of files in an agent: the real client, against a server of the Responses API."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from pydantic import SecretStr

from chains import CitationMiddleware
from tests.loopback import listening

FOUND = "A day ticket for the pool costs 6.50 EUR."
TEXT = "A day ticket costs 6.50 EUR. It is free on Mondays."
PRICES: Any = {"type": "file_citation", "file_id": "file-1", "filename": "prices.md"}
WEB: Any = {"type": "url_citation", "start_index": 0, "end_index": 28, "title": "Pool", "url": "https://example.org"}


class Responses(BaseHTTPRequestHandler):
    """Answers POST /v1/responses with the text, after a search of files; its results only where they are included."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        result = {"file_id": "file-1", "filename": "prices.md", "score": 0.9, "text": FOUND, "attributes": {}}
        results = [result] if "file_search_call.results" in (body.get("include") or []) else None
        search = {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["ticket"]}
        annotations = [{**PRICES, "index": 28}, {**PRICES, "index": len(TEXT)}, {**PRICES, "file_id": "2", "index": 28}]
        content = [{"type": "output_text", "text": TEXT, "annotations": [*annotations, WEB]}]
        message = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
        reply = {
            "id": "resp_1",
            "object": "response",
            "created_at": 1,
            "model": body["model"],
            "status": "completed",
            "output": [{**search, "results": results}, message],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": body["tools"],
        }
        payload = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with listening(Responses) as url:
        yield f"{url}/v1"


def annotations(url: str, **options: Any) -> list[Any]:
    """Return the citations of an agent's answer."""
    model = ChatOpenAI(model="gpt-of-the-test", api_key=SecretStr("none"), base_url=url, max_retries=0, **options)
    search: Any = {"type": "file_search", "vector_store_ids": ["vs_1"]}
    agent = create_agent(model, tools=[search], middleware=[CitationMiddleware()])
    asked: Any = {"messages": [("human", "What does a ticket cost?")]}
    [block] = [one for one in agent.invoke(asked)["messages"][-1].content_blocks if one["type"] == "text"]
    return block.get("annotations", [])


def test_what_a_file_says_is_checked_against_the_words_that_the_search_found(url):
    right, wrong, unknown, web = annotations(url, include=["file_search_call.results"])

    assert (right["title"], right["cited_text"], right["extras"]["verified"]) == ("prices.md", FOUND, True)
    assert (wrong["extras"]["file_index"], wrong["extras"]["verified"]) == (len(TEXT), False)
    assert not any("verified" in one.get("extras", {}) for one in (unknown, web))
    assert web["url"] == "https://example.org"


def test_without_the_results_the_citations_of_files_stay_as_they_are(url):
    assert all("verified" not in one.get("extras", {}) for one in annotations(url))
