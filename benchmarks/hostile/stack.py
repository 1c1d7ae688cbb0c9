"""Two worker processes over a Chroma server, with Redis and RabbitMQ where they are: broken one by one."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx

from benchmarks.hostile.requests import try_requests
from benchmarks.hostile.trying import OPTIONS, QUESTION, Tried, index
from benchmarks.processes import PATIENCE_S, Service, free_port, responds, service, wait_until

EVERY = 8  # Of the malformed requests, all of which one process has had already.
RABBITMQ = "amqp://guest:guest@127.0.0.1:5672/"
HELD = "answered, refused or 503; never 500"


def attack(folder: Path) -> list[Tried]:
    with ExitStack() as stack:
        chroma, port = stack.enter_context(chroma_server(folder / "chroma"))
        index(folder, chroma_host="127.0.0.1", chroma_port=port)
        options = {"CACHE_ENABLED": "true", "CACHE_BACKEND": "ledger", "RABBITMQ_URL": RABBITMQ}
        options |= {"CHROMA_HOST": "127.0.0.1", "CHROMA_PORT": str(port)}
        running = stack.enter_context(service(folder, "--workers", "2", **OPTIONS | options))
        kind = "malformed requests to two workers, a Chroma server and RabbitMQ"
        tried = asyncio.run(try_requests(running.url, kind, every=EVERY))
        return [tried, _ended(running, chroma)]


def _ended(running: Service, chroma: "subprocess.Popen[bytes]") -> Tried:
    """End a worker, then the Chroma server, and ask meanwhile."""
    tried = Tried("servers and workers that end", HELD)
    running.workers()[0].kill()
    for number in range(10):
        tried.add(f"a worker was killed, question {number}", held=_ask(running.url, f"{number}") not in {500, 502})
    chroma.kill()
    chroma.wait()
    for number in range(10, 20):
        tried.add(
            f"the Chroma server is away, question {number}",
            held=_ask(running.url, f"{number}") != httpx.codes.INTERNAL_SERVER_ERROR,
        )
    return tried


def _ask(url: str, case: str = "") -> int:
    body = {"query": f"{QUESTION} {case}".strip()}
    try:
        return httpx.post(f"{url}/api/query", json=body, timeout=PATIENCE_S).status_code
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
