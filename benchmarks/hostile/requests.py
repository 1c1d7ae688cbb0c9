"""Malformed requests to every route that takes a body, and to none."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.hostile.trying import QUESTION, Tried, alone, index

AT_ONCE = 8
PATIENCE_S = 30
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
        return [asyncio.run(try_requests(running.url))]


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


async def try_requests(url: str, kind: str = "malformed requests", *, every: int = 1) -> Tried:
    """Send every n-th of them, eight at once; an answer of 2xx or 4xx, or none, holds."""
    tried = Tried(kind, "answered, refused with 4xx or hung up on; never 5xx")
    turn = asyncio.Semaphore(AT_ONCE)

    async def send(name: str, request: bytes) -> None:
        async with turn:
            status = await told(url, request)
        tried.add(f"{name}: {status}", held=status == NOT_ANSWERED or status[0] in "24")

    await asyncio.gather(*(send(*each) for each in list(requests())[::every]))
    return tried


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
            async with asyncio.timeout(PATIENCE_S):
                answer = await reader.readline()
    finally:
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()
    return answer.split()[1].decode() if answer else NOT_ANSWERED
