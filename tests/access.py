"""A service on loopback over a public and an internal document, for tests of access and limits."""

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import RedisError

from app.http.server import create_app
from app.http.uvicorn_compat import BoundedConnection
from app.settings import Settings, load_settings
from app.wiring import open_index, open_service
from chains.clock import Clock
from tests.exchange import read_exchange
from tests.fakes import MODEL
from tests.faulty import FaultyGroq, running
from tests.served import served
from tests.waiting import PATIENCE_S

QUESTION = "What is the surcharge on weekends?"
POSTED = {"query": QUESTION}
# Every way to ask, with a body that asks.
ASKED: dict[str, dict[str, Any]] = {
    "/api/query": POSTED,
    "/copilot/invoke": {"input": {"question": QUESTION}},
    "/copilot/batch": {"inputs": [{"question": QUESTION}]},
    "/copilot/stream": {"input": {"question": QUESTION}},
    "/copilot/stream_events": {"input": {"question": QUESTION}},
    "/v1/chat/completions": {"model": MODEL, "messages": [{"role": "user", "content": QUESTION}]},
}


def settings_over(folder: Path, groq_url: str, **overrides: Any) -> Settings:
    """Return settings of a service over `folder`, with a Groq on loopback."""
    chosen: dict[str, Any] = {
        "chroma_path": folder / "store",
        "llm_api_key": "gsk_test",
        "llm_base_url": groq_url,
        "llm_max_retries": 0,
        "llm_fallback": False,
        "scope_file": "off",
        "relevance_threshold": 0,
    }
    return load_settings(_env_file=None, **chosen | overrides)


@contextmanager
def open_redis(url: str) -> Iterator[Redis]:
    """Yield the Redis of this machine; without one the test is skipped."""
    with Redis.from_url(url) as redis:
        try:
            redis.ping()
        except RedisError:
            pytest.skip("no Redis listens on 127.0.0.1:6379")
        yield redis


def write_corpus(folder: Path) -> Path:
    """Write a public and an internal document about the same thing, and index them."""
    for category, rate in (("01_regulatory", "5 %"), ("04_internal_synthetic", "7 %, in confidence")):
        (folder / category).mkdir()
        text = f"---\ntitle: {category} guide\n---\n\n## Rate\n\nThe surcharge on weekends is {rate}."
        (folder / category / "rate.md").write_text(text)
    open_index(settings_over(folder, "http://127.0.0.1:1")).ingest([folder])
    return folder


def serving(
    settings: Settings, *, connection: type[BoundedConnection] = BoundedConnection, clock: Clock | None = None
) -> served:
    """Run the service while the body runs; it gives its address."""
    app = create_app(open_service(settings, clock=clock or Clock()))
    return served(app, connection=connection, proxies="127.0.0.1")


def key_entry(name: str, key: str, scopes: str) -> str:
    return f"{name}:{sha256(key.encode()).hexdigest()}:{scopes}"


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def sources_shown(request: dict[str, Any]) -> str:
    return json.dumps(request["messages"])


@contextmanager
def talking(url: str) -> Iterator["Client"]:
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE_S) as connection:
        yield Client(connection)


JSON = "Content-Type: application/json\r\n"


class Client:
    """A client that says what a well-behaved one would not."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self.after_headers = b""  # What came together with the headers.

    def say(self, text: str) -> None:
        self.connection.sendall(text.encode("latin-1"))

    def ask(self, path: str = "/api/query") -> None:
        body = json.dumps(ASKED.get(path, ASKED["/copilot/stream"]))
        self.say(f"POST {path} HTTP/1.1\r\nHost: x\r\n{JSON}Content-Length: {len(body)}\r\n\r\n{body}")

    def heard(self) -> str:
        """Return the status line and the headers of the answer, in lower case but for the former; empty: hung up."""
        told = b""
        while b"\r\n\r\n" not in told and (piece := self._receive()):
            told += piece
        head, _, self.after_headers = told.partition(b"\r\n\r\n")
        status, _, headers = head.decode("latin-1").partition("\r\n")
        return f"{status}\r\n{headers.lower()}".strip()

    def hears(self, words: str) -> None:
        """Wait until the service says so, after the headers that were heard."""
        told = self.after_headers
        while words.encode() not in told:
            piece = self._receive()
            assert piece, "it hung up"
            told += piece

    def hung_up(self) -> bool:
        while self._receive():
            pass
        return True

    def leave(self) -> None:
        self.connection.close()

    def _receive(self) -> bytes:
        try:
            return self.connection.recv(65536)
        except ConnectionError:
            return b""


@contextmanager
def hanging_groq(first: bytes = b"") -> Iterator["HangingGroq"]:
    """Run a Groq that takes questions, says `first`, and never ends."""
    with running(HangingGroq(first=first)) as groq:
        yield groq


@dataclass
class HangingGroq(FaultyGroq):
    """Counts who asked, and who gave up."""

    first: bytes = b""
    asked: int = 0
    left: int = 0

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        exchange = await read_exchange(reader, writer, pace=self.pace, keep_alive=False)
        await exchange.write(self.first)
        self.asked += 1
        with suppress(ConnectionError):
            await exchange.until_left()
        self.left += 1
        return False
