"""Send what hostile clients send, beside an ordinary client, and report the replies and how long the other waited.

As a command (`python -m tests.service.hostile`) it prints the figures of docs/measurements.md.
"""

import asyncio
import json
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path

import httpx

from benchmarks import processes
from benchmarks.hostile.requests import post, told
from tests.access import POSTED, write_corpus
from tests.waiting import PATIENCE_S

HELD_OPEN = 1000
QUESTIONS = 200
PAUSE_S = 0.02
# The service may have 256 files open, until it asks for more.
FEW_FILES = """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
from app.cli import main
main()
"""
HEAD = "POST {path} HTTP/1.1\r\nHost: x\r\n"


FORM = "Content-Type: application/x-www-form-urlencoded"
REQUESTS = {
    "huge body": post(b" " * 1_000_000),
    "huge body, declared only": f"{HEAD.format(path='/chat')}Content-Length: 99999999999\r\n\r\n".encode(),
    "huge chunks": post(b"ffff\r\n" + b" " * 65535 + b"\r\n0\r\n\r\n", headers="Transfer-Encoding: chunked"),
    "broken chunks": post(b"zz\r\n", headers="Transfer-Encoding: chunked"),
    "invalid UTF-8": post(b'{"query": "\xff\xfe"}'),
    "half a surrogate pair": post(b'{"query": "\\ud800"}'),
    "deep JSON": post(b"[" * 5000 + b"]" * 5000),
    "deep JSON in a field": post(b'{"query": "x", "history": ' + b"[" * 900 + b"]" * 900 + b"}"),
    "deep JSON for LangServe": post(b'{"input": ' + b'{"a":' * 900 + b"1" + b"}" * 901, path="/copilot/invoke"),
    "no number": post(b'{"input": {"question": "x", "top_k": NaN}}', path="/copilot/invoke"),
    "infinity": post(b'{"input": {"question": "x", "top_k": 1e999}}', path="/copilot/stream"),
    "a huge number": post(b'{"query": "x", "topK": ' + b"9" * 5000 + b"}"),
    "no JSON object": post(b"null", path="/copilot/batch"),
    "a config that is none": post(b'{"input": {"question": "x"}, "config": "x"}', path="/copilot/invoke"),
    "configs that are none": post(b'{"inputs": [{"question": "x"}], "config": [1]}', path="/copilot/batch"),
    "a batch without inputs": post(b'{"inputs": []}', path="/copilot/batch"),
    "a batch too large": post(b'{"inputs": [%s]}' % b",".join([b"{}"] * 500), path="/copilot/batch"),
    "a form": post(b"query=x", headers=FORM),
    "a file": post(b"--x\r\n\r\n--x--", headers="Content-Type: multipart/form-data; boundary=x"),
    "XML": post(b"<query/>", headers="Content-Type: application/xml", path="/copilot/invoke"),
    "a charset that there is not": post(b"{}", headers="Content-Type: application/json; charset=\xff"),
    "compressed": post(b"\x1f\x8b\x08", headers="Content-Encoding: gzip"),
    "a NUL in the path": b"GET /copilot/playground/%00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "a folder": b"GET /copilot/playground/assets HTTP/1.1\r\nHost: x\r\n\r\n",
    "a way out": b"GET /copilot/playground/..%2f..%2f..%2fetc/passwd HTTP/1.1\r\nHost: x\r\n\r\n",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "no path": b"GET  HTTP/1.1\r\n\r\n",
    "a method that there is not": b"BREW /api/query HTTP/1.1\r\nHost: x\r\n\r\n",
    "huge headers": b"GET /api/health HTTP/1.1\r\n" + b"X: " + b"x" * 300_000 + b"\r\n\r\n",
    "two lengths": b"POST /api/query HTTP/1.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}",
    "length and chunks": post(b"0\r\n\r\n", headers="Content-Length: 5\r\nTransfer-Encoding: chunked"),
    "a token of another tongue": post(b"{}", headers="Authorization: Bearer \xe9\xff"),
}


@dataclass
class Report:
    """What the hostile clients were told, by the name of what they did, and how long the others waited, in ms."""

    told: dict[str, str] = field(default_factory=dict)
    held: int = 0
    usual_ms: list[float] = field(default_factory=list)
    attacked_ms: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)


@contextmanager
def service() -> Iterator[str]:
    """Run `waypoint serve` in a process of its own, without a network, while the body runs."""
    settings = {"CHROMA_PATH": "store", "LLM_PROVIDER": "offline", "LOG_LEVEL": "error"}
    with tempfile.TemporaryDirectory() as name:
        folder = write_corpus(Path(name))
        with processes.service(folder, program=("-c", FEW_FILES), **settings) as running:
            yield running.url


async def measure(url: str, *, questions: int, held_open: int) -> Report:
    """Ask without and with hostile clients beside."""
    report = Report()
    report.usual_ms = await _ask(url, questions, report)
    async with holding(url, held_open) as connections:
        misbehaving = asyncio.create_task(_misbehave(url, report))
        report.attacked_ms = await _ask(url, questions, report)
        while len(report.told) < len(REQUESTS):
            report.attacked_ms += await _ask(url, 1, report)
        misbehaving.cancel()
        await asyncio.gather(misbehaving, return_exceptions=True)
        report.held = len(connections)
    return report


async def _ask(url: str, questions: int, report: Report) -> list[float]:
    took_ms = []
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S) as client:
        for _ in range(questions):
            started = time.perf_counter()
            response = await client.post("/api/query", json=POSTED)
            took_ms.append((time.perf_counter() - started) * 1000)
            report.statuses[response.status_code] += 1
    return took_ms


@asynccontextmanager
async def holding(url: str, number: int) -> AsyncIterator[list[asyncio.StreamWriter]]:
    """Hold connections open while the body runs: one half says nothing, the other half begins a request."""
    opened = []
    for count in range(number):
        _, writer = await asyncio.open_connection(*_address(url))
        if count % 2:
            writer.write(b"GET /api/health HTTP/1.1\r\nX-Slow:")
        opened.append(writer)
    try:
        yield opened
    finally:
        for writer in opened:
            writer.close()
        await asyncio.gather(*(writer.wait_closed() for writer in opened), return_exceptions=True)


async def _misbehave(url: str, report: Report) -> None:
    for name, request in cycle(REQUESTS.items()):
        report.told[name] = await told(url, request)
        await asyncio.sleep(PAUSE_S)


def _address(url: str) -> tuple[str, int]:
    host, port = url.removeprefix("http://").split(":")
    return host, int(port)


def p95(took_ms: list[float]) -> float:
    """Return the time that 95 of 100 stay under."""
    return statistics.quantiles(took_ms, n=20)[-1]


def main() -> None:
    """Print what hostile clients were told, and how long others waited."""
    with service() as url:
        report = asyncio.run(measure(url, questions=QUESTIONS, held_open=HELD_OPEN))
    for name, status in report.told.items():
        print(f"{name:30} {status}")
    usual, attacked = p95(report.usual_ms), p95(report.attacked_ms)
    print(f"{report.held} connections held open; answers by status: {json.dumps(report.statuses)}")
    print(f"p95 alone {usual:.1f} ms, beside hostile clients {attacked:.1f} ms: {attacked / usual:.2f} times")


if __name__ == "__main__":
    main()
