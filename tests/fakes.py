"""What stands in for the outside in tests: a Groq server on loopback, and embeddings that need no model."""

import hashlib
import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from langchain_core.embeddings import Embeddings

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

    class Handler(_Handler):
        groq = answering

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    answering.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield answering
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    groq: FakeGroq
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "me"} for name in self.groq.models]
        self._json(200 if self.path == "/openai/v1/models" else 404, {"object": "list", "data": listed}, {})

    def do_POST(self) -> None:
        with suppress(ConnectionError):  # The client may leave in the middle.
            self._answer()

    def _answer(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
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
            self._json(200, _completion(body, reply), reply.headers)

    def _json(self, status: int, value: dict[str, Any], headers: dict[str, str]) -> None:
        payload = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.send_header("Connection", "close")  # So that no test leaves a socket open behind it.
        for name, content in headers.items():
            self.send_header(name, content)
        self.end_headers()
        self.close_connection = True
        self.wfile.write(payload)

    def _events(self, body: dict[str, Any], reply: Reply) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        events = list(_events(body, reply))
        for number, event in enumerate(events):
            if number == len(events) - 2 and reply.release:
                reply.release.wait()
            self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
            self.wfile.flush()
        self.wfile.write(b"data: [DONE]\n\n")

    def finish(self) -> None:
        with suppress(ConnectionError):
            super().finish()
        self.rfile.close()

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _usage(body: dict[str, Any], reply: Reply) -> dict[str, int]:
    prompt = sum(len(message["content"] or "") for message in body["messages"]) // 4
    completion = len(reply.text) // 4
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _said(reply: Reply) -> dict[str, Any]:
    if reply.tool_call is None:
        return {"content": reply.text}
    name, arguments = reply.tool_call
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"content": None, "tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]}


def _finish(reply: Reply) -> str:
    return "tool_calls" if reply.tool_call else reply.finish_reason


def _completion(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant"} | _said(reply), "finish_reason": _finish(reply)}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body["model"],
        "choices": [choice],
        "usage": _usage(body, reply),
    }


def _events(body: dict[str, Any], reply: Reply) -> Iterator[dict[str, Any]]:
    common = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    pieces = [_said(reply)] if reply.tool_call else [{"content": word} for word in re.findall(r"\S+\s*", reply.text)]
    for number, piece in enumerate(pieces):
        delta = piece | ({"role": "assistant"} if number == 0 else {})
        yield common | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    last = common | {"choices": [{"index": 0, "delta": {}, "finish_reason": _finish(reply)}]}
    yield last | {"x_groq": {"id": "req_1", "usage": _usage(body, reply)}}
    if (body.get("stream_options") or {}).get("include_usage"):
        yield common | {"choices": [], "usage": _usage(body, reply)}


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
