"""What stands in for the outside in tests: a Groq server on loopback, and embeddings that need no model."""

import asyncio
import hashlib
import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, ClassVar

from langchain_core.embeddings import Embeddings

from tests.completions import completion, events
from tests.exchange import Exchange
from tests.faults import ERROR
from tests.faulty import FaultyGroq, running

MODEL = "llama-3.1-8b-instant"


@dataclass
class Reply:
    text: str = "Nine percent [GST Guide > Rate]."
    status: int = 200
    finish_reason: str = "stop"
    headers: dict[str, str] = field(default_factory=dict)
    tool_call: tuple[str, dict[str, Any]] | None = None  # The tool's name and its arguments, in place of the text.
    release: threading.Event | None = None  # Until this is set, a stream stops before its last word, and JSON waits.


@dataclass
class FakeGroq(FaultyGroq):
    """Answers by the replies that it is given, and keeps what it was sent; `GET /openai/v1/models` lists `models`."""

    told_at: ClassVar[str] = "/openai/v1/models"
    models: list[str] = field(default_factory=list)
    replies: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def next_reply(self, body: dict[str, Any]) -> Reply:
        return self.replies.pop(0) if self.replies else Reply()

    def report(self) -> dict[str, Any]:
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "me"} for name in self.models]
        return {"object": "list", "data": listed}

    async def _do(self, exchange: Exchange) -> None:
        self.requests.append(exchange.body)
        self.headers.append(exchange.headers)
        reply = self.next_reply(exchange.body)
        if reply.status != 200:
            await exchange.send_json(reply.status, ERROR, reply.headers)
        elif exchange.streamed:
            await exchange.open_stream()
            told = list(events(exchange.body, reply.text, at_groq=exchange.at_groq, **_kind(reply)))
            for number, event in enumerate(told):
                if number == len(told) - 2:
                    await _until_released(reply, exchange)
                await exchange.write_event(event)
            await exchange.end_stream()
        else:
            await _until_released(reply, exchange)
            await exchange.send_json(200, completion(exchange.body, reply.text, **_kind(reply)), reply.headers)


def fake_groq(fake: FakeGroq | None = None) -> AbstractContextManager[FakeGroq]:
    """Run the server, or one that answers otherwise, while the body runs."""
    return running(fake or FakeGroq())


def groq_server() -> Iterator[FakeGroq]:
    """Yield a server; `groq = pytest.fixture(groq_server, scope="module")` is one for a whole module."""
    with fake_groq() as server:
        yield server


async def _until_released(reply: Reply, exchange: Exchange) -> None:
    while reply.release and not reply.release.is_set():
        if exchange.left:
            return
        await asyncio.sleep(0.01)


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
