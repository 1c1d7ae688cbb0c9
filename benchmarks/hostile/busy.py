"""More slow questions than the service answers at once: what asks nothing is answered meanwhile."""

import json
import socket
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from benchmarks.hostile.trying import QUESTION, Tried, alone, index
from benchmarks.processes import wait_until

QUESTIONS = 145  # A process answers 100 at once.
ROUNDS = 5
WITHIN_S = 5  # A queue of questions would hold a request for as long as a question waits for its turn.
# One path for each kind of route that asks nothing.
UNASKED = (
    *("/health/live", "/health/ready", "/api/health", "/health", "/metrics", "/", "/embed", "/icon"),
    *("/static/page.css", "/api/documents", "/api/me", "/openapi.json"),
)


def attack(folder: Path) -> list[Tried]:
    index(folder)
    tried = Tried("requests beside 145 slow questions", f"answered within {WITHIN_S} s")
    with ExitStack() as stack:
        # The system takes the connections, and nobody reads them.
        model = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=2 * QUESTIONS))
        options = {"LLM_PROVIDER": "groq", "LLM_API_KEY": "gsk_none"}
        options |= {"LLM_BASE_URL": f"http://127.0.0.1:{model.getsockname()[1]}", "LLM_TIMEOUT_S": "600"}
        running = stack.enter_context(alone(folder, **options))
        for _ in range(QUESTIONS):
            stack.enter_context(_asking(running.url))
        wait_until(lambda: b"waypoint_questions_running 100.0" in _get(running.url, "/metrics"))
        for number in range(ROUNDS):
            for path in UNASKED:
                tried.add(f"{path}, round {number}", held=bool(_get(running.url, path)))
    return [tried]


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
