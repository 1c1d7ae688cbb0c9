"""Malformed requests, beside connections that stay open and an ordinary client, to a service with few open files."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx

from benchmarks.hostile.trying import QUESTION, Tried, index
from benchmarks.processes import PATIENCE_S, service

AT_ONCE = 8
HELD_OPEN, QUESTIONS = 1000, 20
MOST_S = 30
NOT_ANSWERED = "closed"
# The service may have 256 files open, until it asks for more.
FEW_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
from app.cli import main
main()
"""
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
    *("[" * 900 + "]" * 900, '{"a":' * 900 + "1" + "}" * 900, "9" * 5000, f"[{','.join(['{}'] * 500)}]"),
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
    "invalid UTF-8": b'{"query": "\xff\xfe"}',
    "twice the same key": b'{"query": "a", "query": 1, "input": {}, "input": 1}',
    "deep JSON": b"[" * 5000 + b"]" * 5000,
    "huge": b" " * 1_000_000,
}


def post(body: bytes, *, path: str = "/api/query", headers: str = "Content-Type: application/json") -> bytes:
    length = "" if "chunked" in headers or "Length" in headers else f"Content-Length: {len(body)}\r\n"
    return f"POST {path} HTTP/1.1\r\nHost: x\r\n{headers}\r\n{length}\r\n".encode("latin-1") + body


CHUNKED, JSON = "Transfer-Encoding: chunked", "Content-Type: application/json"
# What breaks HTTP itself, or says something false of the body.
PROTOCOL = {
    "huge body, declared only": post(b"", path="/chat", headers="Content-Length: 99999999999"),
    "huge chunks": post(b"ffff\r\n" + b" " * 65535 + b"\r\n0\r\n\r\n", headers=CHUNKED),
    "broken chunks": post(b"zz\r\n", headers=CHUNKED),
    "a form": post(b"query=x", headers="Content-Type: application/x-www-form-urlencoded"),
    "a file": post(b"--x\r\n\r\n--x--", headers="Content-Type: multipart/form-data; boundary=x"),
    "XML": post(b"<query/>", headers="Content-Type: application/xml", path="/copilot/invoke"),
    "a charset that there is not": post(b"{}", headers=f"{JSON}; charset=\xff"),
    "compressed": post(b"\x1f\x8b\x08", headers="Content-Encoding: gzip"),
    "a NUL in the path": b"GET /copilot/playground/%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a folder": b"GET /copilot/playground/assets HTTP/1.1\r\nHost: x\r\n\r\n",
    "a way out": b"GET /copilot/playground/..%2f..%2f..%2fetc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "no path": b"GET  HTTP/1.1\r\n\r\n",
    "a method that there is not": b"BREW /api/query HTTP/1.1\r\nHost: x\r\n\r\n",
    "huge headers": b"GET /api/health HTTP/1.1\r\n" + b"X: " + b"x" * 300_000 + b"\r\n\r\n",
    "two lengths": post(b"{}", headers="Content-Length: 5\r\nContent-Length: 6"),
    "length and chunks": post(b"0\r\n\r\n", headers=f"Content-Length: 5\r\n{CHUNKED}"),
    "a token of another tongue": post(b"{}", headers="Authorization: Bearer \xe9\xff"),
}


def requests() -> Iterator[tuple[str, bytes]]:
    yield from PROTOCOL.items()
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


def attack(folder: Path) -> list[Tried]:
    """Send all malformed requests, eight at once, while connections are held open and an ordinary client asks."""
    index(folder)
    options = {"CHROMA_PATH": str(folder / "store"), "LLM_PROVIDER": "offline", "SCOPE_FILE": "off"}
    options |= {"LOG_LEVEL": "error", "RATE_LIMIT": "off"}
    with service(folder, program=("-c", FEW_FILES), **options) as running:
        sent, asked = asyncio.run(_attack(running.url))
    beside = f"questions beside them and {HELD_OPEN:,} open connections"
    return [
        Tried("malformed requests", "answered, refused with 4xx or hung up on; never 5xx", sent),
        Tried(beside, "answered", asked),
    ]


async def _attack(url: str) -> tuple[list[tuple[str, bool]], list[tuple[str, bool]]]:
    turn = asyncio.Semaphore(AT_ONCE)

    async def send(name: str, request: bytes) -> tuple[str, bool]:
        async with turn:
            status = await told(url, request)
        return f"{name}: {status}", status == NOT_ANSWERED or status[0] in "24"

    async def ask() -> list[tuple[str, bool]]:
        async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as client:
            answers = [await client.post("/api/query", json={"query": QUESTION}) for _ in range(QUESTIONS)]
        return [(f"question {n}: {answer.status_code}", answer.is_success) for n, answer in enumerate(answers)]

    async with _holding(url, HELD_OPEN):
        asked = asyncio.create_task(ask())
        sent = await asyncio.gather(*(send(*each) for each in requests()))
        return sent, await asked


@asynccontextmanager
async def _holding(url: str, number: int) -> AsyncIterator[None]:
    """Hold connections open while the body runs: one half says nothing, the other half begins a request."""
    opened = []
    for count in range(number):
        _, writer = await asyncio.open_connection(*_address(url))
        if count % 2:
            writer.write(b"GET /api/health HTTP/1.1\r\nX-Slow:")
        opened.append(writer)
    try:
        yield
    finally:
        for writer in opened:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in opened), return_exceptions=True)


async def told(url: str, request: bytes) -> str:
    """Return the status of the answer, or that there was none."""
    reader, writer = await asyncio.open_connection(*_address(url))
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


def _address(url: str) -> tuple[str, int]:
    host, port = url.removeprefix("http://").split(":")
    return host, int(port)
