"""Malformed requests, slow questions beside others, and servers that end under a service of two processes."""

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from benchmarks.hostile.trying import OPTIONS, QUESTION, Tried, alone, index
from benchmarks.processes import PATIENCE_S, Service, free_port, responds, service, wait_until

AT_ONCE = 8
MOST_S = 30
NOT_ANSWERED = "closed"
ASKED: dict[str, dict[str, Any]] = {
    "/api/query": {"query": QUESTION, "topK": 3, "threshold": 0.1, "history": []},
    "/chat": {"query": QUESTION, "top_k": 3, "session_id": "s", "model_id": "m"},
    "/copilot/invoke": {"input": {"question": QUESTION}, "config": {}, "kwargs": {}},
    "/copilot/stream": {"input": {"question": QUESTION}, "config": {}, "kwargs": {}},
    "/copilot/stream_events": {"input": {"question": QUESTION}, "config": {}, "kwargs": {}},
    "/copilot/batch": {"inputs": [{"question": QUESTION}], "config": {}, "kwargs": {}},
    "/api/feedback": {"trace_id": "0" * 32, "score": 1, "comment": ""},
}
VALUES = (
    *("null", "0", "-1", "1e999", "NaN", "-Infinity", "true", "[]", "{}", '""', '"  "', '"\\ud800"', '"\\u0000"'),
    *('"\\u202e\\u001b[2J"', "9" * 400, "[[]]", "[null]", '[{"role": "system", "content": "x"}]', '{"a": {"a": 1}}'),
    *(f'"{"x" * 1001}"', f'"{"x" * 20_000}"', "[" * 40 + "]" * 40, '["a", 1, null]', '"</context>"', "1.5"),
)
BODIES = {
    "nothing": b"",
    "no JSON": b"{'query': 'x'}",
    "half": b'{"query": "x',
    "null": b"null",
    "a list": b"[]",
    "a number": b"1",
    "NUL": b"\x00",
    "UTF-16": '{"query": "x"}'.encode("utf-16"),
    "UTF-32": '{"query": "x"}'.encode("utf-32"),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "Latin-1": b'{"query": "\xe9"}',
    "twice the same key": b'{"query": "a", "query": 1, "input": {}, "input": 1}',
}


def attack(folder: Path) -> list[Tried]:
    index(folder)
    with alone(folder) as running:
        return [try_requests(running.url, "malformed requests")]


def requests() -> Iterator[tuple[str, bytes]]:
    for path, asked in ASKED.items():
        for name, body in BODIES.items():
            yield f"{path}: {name}", post(body, path=path)
        for field in asked:
            for value in VALUES:
                yield f"{path}: {field}={value[:40]}", post(_with(asked, field, value), path=path)
        for field in asked.get("input", ()):
            for value in VALUES:
                body = _with(asked, "input", _with(asked["input"], field, value).decode())
                yield f"{path}: input.{field}={value[:40]}", post(body, path=path)


def _with(asked: dict[str, Any], field: str, value: str) -> bytes:
    """Return the body with text in place of a field's value, which need not be JSON."""
    rest = {name: json.dumps(own) for name, own in asked.items()} | {field: value}
    return ("{" + ", ".join(f'"{name}": {text}' for name, text in rest.items()) + "}").encode()


def try_requests(url: str, kind: str, *, every: int = 1) -> Tried:
    """Send every n-th of them, eight at once; an answer of 2xx or 4xx, or none, holds."""

    async def send(name: str, request: bytes, turn: asyncio.Semaphore) -> tuple[str, bool]:
        async with turn:
            status = await told(url, request)
        return f"{name}: {status}", status == NOT_ANSWERED or status[0] in "24"

    async def send_all() -> list[tuple[str, bool]]:
        turn = asyncio.Semaphore(AT_ONCE)
        return await asyncio.gather(*(send(*each, turn) for each in list(requests())[::every]))

    return Tried(kind, "answered, refused with 4xx or hung up on; never 5xx", asyncio.run(send_all()))


def post(body: bytes, *, path: str = "/api/query", headers: str = "Content-Type: application/json") -> bytes:
    length = "" if "chunked" in headers else f"Content-Length: {len(body)}\r\n"
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n{length}\r\n".encode("latin-1") + body


async def told(url: str, request: bytes) -> str:
    """Return the status of the answer, or that there was none."""
    host, port = url.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    answer = b""
    try:
        with suppress(ConnectionError):
            writer.write(request)
            await writer.drain()
        with suppress(ConnectionError):
            async with asyncio.timeout(MOST_S):
                answer = await reader.readline()
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    return answer.split()[1].decode() if answer else NOT_ANSWERED


QUESTIONS = 145  # A process answers 100 at once.
ROUNDS = 5
WITHIN_S = 5  # A queue of questions would hold a request for as long as a question waits for its turn.
# One path for each kind of route that asks nothing.
UNASKED = (
    *("/health/live", "/health/ready", "/api/health", "/health", "/metrics", "/", "/embed", "/icon"),
    *("/static/page.css", "/api/documents", "/api/me", "/openapi.json"),
)


def attack_busy(folder: Path) -> list[Tried]:
    index(folder)
    with ExitStack() as stack:
        # The system takes the connections, and nobody reads them.
        model = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=2 * QUESTIONS))
        options = {"LLM_PROVIDER": "groq", "LLM_API_KEY": "gsk_none"}
        options |= {"LLM_BASE_URL": f"http://127.0.0.1:{model.getsockname()[1]}", "LLM_TIMEOUT_S": "600"}
        running = stack.enter_context(alone(folder, **options))
        for _ in range(QUESTIONS):
            stack.enter_context(_asking(running.url))
        wait_until(lambda: b"waypoint_questions_running 100.0" in _get(running.url, "/metrics"))
        rounds = product(range(ROUNDS), UNASKED)
        cases = ((f"{path}, round {number}", bool(_get(running.url, path))) for number, path in rounds)
        return [Tried(f"requests beside {QUESTIONS} slow questions", f"answered within {WITHIN_S} s", cases)]


def _asking(url: str) -> socket.socket:
    address = urlsplit(url)
    body = json.dumps({"query": QUESTION})
    head = f"POST /api/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    connection = socket.create_connection((str(address.hostname), int(address.port or 0)))
    connection.sendall(f"{head}\r\n\r\n{body}".encode())
    return connection


def _get(url: str, path: str) -> bytes:
    """Return what a path answers in time; nothing where it does not, or refuses."""
    with suppress(httpx.HTTPError):
        return httpx.get(url + path, timeout=WITHIN_S).raise_for_status().content
    return b""


EVERY = 8  # Of the malformed requests, all of which one process has had already.
RABBITMQ = "amqp://guest:guest@127.0.0.1:5672/"


def attack_stack(folder: Path) -> list[Tried]:
    with ExitStack() as stack:
        chroma, port = stack.enter_context(chroma_server(folder / "chroma"))
        index(folder, chroma_host="127.0.0.1", chroma_port=port)
        options = {"CACHE_ENABLED": "true", "CACHE_BACKEND": "ledger", "RABBITMQ_URL": RABBITMQ}
        options |= {"CHROMA_HOST": "127.0.0.1", "CHROMA_PORT": str(port)}
        running = stack.enter_context(service(folder, "--workers", "2", **OPTIONS | options))
        kind = "malformed requests to two workers, a Chroma server and RabbitMQ"
        tried = try_requests(running.url, kind, every=EVERY)
        return [
            tried,
            Tried("servers and workers that end", "answered, refused or 503; never 500", _ended(running, chroma)),
        ]


def _ended(running: Service, chroma: "subprocess.Popen[bytes]") -> Iterator[tuple[str, bool]]:
    """End a worker, then the Chroma server, and ask meanwhile."""
    running.workers()[0].kill()
    for number in range(10):
        yield f"a worker was killed, question {number}", _ask(running.url, number) not in {500, 502}
    chroma.kill()
    chroma.wait()
    for number in range(10, 20):
        yield f"the Chroma server is away, question {number}", _ask(running.url, number) != 500


def _ask(url: str, case: int) -> int:
    try:
        asked = {"query": f"{QUESTION} {case}"}
        return httpx.post(f"{url}/api/query", json=asked, timeout=PATIENCE_S).status_code
    except httpx.TransportError:
        return 0  # The connection of a killed worker.


@contextmanager
def chroma_server(folder: Path) -> Iterator[tuple["subprocess.Popen[bytes]", int]]:
    port, program = free_port(), Path(sys.executable).with_name("chroma")
    command = [str(program), "run", "--host", "127.0.0.1", "--port", str(port), "--path", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: responds(f"http://127.0.0.1:{port}/api/v2/heartbeat"))
            yield process, port
        finally:
            process.kill()
