"""What stands in for the outside in tests: a Groq server on loopback, and embeddings that need no model."""

import hashlib
import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from langchain_core.embeddings import Embeddings

from tests.completions import completion, events
from tests.loopback import JSON, Handler, listening

MODEL = "llama-3.1-8b-instant"


@dataclass
class Reply:
    """One scripted reply of the fake server."""

    text: str = "Nine percent [GST Guide > Rate]."
    status: int = 200
    finish_reason: str = "stop"
    headers: dict[str, str] = field(default_factory=dict)
    tool_call: tuple[str, dict[str, Any]] | None = None  # The tool's name and its arguments, in place of the text.
    release: threading.Event | None = None  # Until this is set, a stream stops before its last word, and JSON waits.


@dataclass
class FakeGroq:
    """Speaks POST /openai/v1/chat/completions, as JSON and as server-sent events, and keeps what it was sent.

    GET /openai/v1/models lists `models`.
    """

    url: str = ""
    models: list[str] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def next_reply(self, body: dict[str, Any]) -> Reply:
        return self.replies.pop(0) if self.replies else Reply()


@contextmanager
def fake_groq(fake: FakeGroq | None = None) -> Iterator[FakeGroq]:
    """Run the server, or one that answers otherwise, while the body runs."""
    answering = fake or FakeGroq()

    class Groq(_Handler):
        groq = answering

    with listening(Groq) as answering.url:
        yield answering


def groq_server() -> Iterator[FakeGroq]:
    """Yield a server; `groq = pytest.fixture(groq_server, scope="module")` is one for a whole module."""
    with fake_groq() as server:
        yield server


class _Handler(Handler):
    groq: FakeGroq
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "me"} for name in self.groq.models]
        self._json(200 if self.path == "/openai/v1/models" else 404, {"object": "list", "data": listed}, {})

    def do_POST(self) -> None:
        with suppress(ConnectionError):  # The client may leave in the middle.
            self._answer()

    def _answer(self) -> None:
        body = json.loads(self.body())
        self.groq.requests.append(body)
        self.groq.headers.append({name.lower(): value for name, value in self.headers.items()})
        self.groq.authorizations.append(self.headers.get("Authorization"))
        reply = self.groq.next_reply(body)
        if self.path != "/openai/v1/chat/completions":
            self._json(404, {"error": {"message": f"no route {self.path}"}}, {})
        elif reply.status != 200:
            self._json(reply.status, {"error": {"message": "scripted", "type": "test"}}, reply.headers)
        elif body.get("stream"):
            self._events(body, reply)
        else:
            if reply.release:
                reply.release.wait()
            self._json(200, completion(body, reply.text, **_kind(reply)), reply.headers)

    def _json(self, status: int, value: dict[str, Any], headers: dict[str, str]) -> None:
        closing = {"Connection": "close"}  # So that no test leaves a socket open behind it.
        self.reply(json.dumps(value), status=status, headers=JSON | closing | headers)
        self.close_connection = True

    def _events(self, body: dict[str, Any], reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        told = list(events(body, reply.text, at_groq=True, **_kind(reply)))
        for number, event in enumerate(told):
            if number == len(told) - 2 and reply.release:
                reply.release.wait()
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")

    def finish(self) -> None:
        with suppress(ConnectionError):
            super().finish()
        self.rfile.close()


def _kind(reply: Reply) -> dict[str, Any]:
    """Return how the reply ends, and what it says in place of its text."""
    if reply.tool_call is None:
        return {"finish_reason": reply.finish_reason}
    name, arguments = reply.tool_call
    function = {"name": name, "arguments": json.dumps(arguments)}
    called = [{"index": 0, "id": "call_1", "type": "function", "function": function}]
    return {"finish_reason": "tool_calls", "said": {"content": None, "tool_calls": called}}


class WordEmbeddings(Embeddings):
    """Bags of hashed words, unit length: like texts have like vectors, without a model. Counts what it embeds."""

    def __init__(self, dimensions: int = 256) -> None:
        self.dimensions = dimensions
        self.embedded = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.embedded += len(texts)
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.dimensions
        for word in re.findall(r"\w+", text.lower()):
            vector[int(hashlib.sha256(word.encode()).hexdigest(), 16) % self.dimensions] += 1.0
        length = math.sqrt(sum(value * value for value in vector)) or 1.0
        return [value / length for value in vector]
