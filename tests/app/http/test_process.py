"""The service as real processes, stopped by real signals."""

import json
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import structlog

from app.settings import load_settings
from app.wiring import open_index
from benchmarks.processes import Service, service
from tests.corpora import write_documents
from tests.fakes import FakeGroq, Reply
from tests.processes import forked_service
from tests.served import ANSWER, GUIDE, QUESTION
from tests.streams import merged
from tests.waiting import wait_until

pytestmark = pytest.mark.timeout(400)  # Processes that start on a busy machine take as long as they take.


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    yield
    structlog.reset_defaults()  # The command line sets up logs for its own process, which here is everybody's.


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """A folder with a small index, in a store that several processes may open."""
    folder = tmp_path_factory.mktemp("service")
    desk = write_documents(folder / "desk", {"gst.md": GUIDE})
    open_index(load_settings(_env_file=None, **store(folder))).ingest([desk])
    return folder


def store(folder: Path) -> dict[str, str]:
    return {"vector_store_type": "memory", "chroma_path": str(folder / "store")}


def settings(folder: Path, groq: FakeGroq) -> dict[str, str]:
    model = {"llm_api_key": "gsk_test", "llm_base_url": groq.url, "llm_timeout_s": "600"}
    values = store(folder) | model
    return {name.upper(): value for name, value in values.items()}


@contextmanager
def held_stream(running: Service, groq: FakeGroq) -> Iterator[tuple[Iterator[str], threading.Event]]:
    """Ask for a stream whose model stops before its last word; the body gets the lines to come, and what goes on."""
    release = threading.Event()
    groq.replies[:] = [Reply(ANSWER, release=release)]
    body = {"input": {"question": QUESTION}}
    try:
        with httpx.stream("POST", f"{running.url}/copilot/stream", json=body) as response:
            lines = response.iter_lines()
            next(line for line in lines if '"documents"' in line)
            yield lines, release
    finally:
        release.set()


def test_at_sigterm_a_stream_ends_whole_new_questions_are_refused_and_the_exit_code_is_0(folder, groq):
    values = settings(folder, groq)
    with forked_service(folder, **values) as running, held_stream(running, groq) as (lines, release):
        running.send(signal.SIGTERM)
        wait_until(lambda: running.phase() == "draining")
        drained, alive = (httpx.get(f"{running.url}/health/{name}") for name in ("ready", "live"))
        refused = httpx.post(f"{running.url}/api/query", json={"query": QUESTION})
        release.set()
        rest = list(lines)

        assert (drained.status_code, drained.json()) == (503, {"status": "draining", "checks": {}})
        assert (refused.status_code, refused.headers["connection"]) == (503, "close")
        assert int(refused.headers["retry-after"]) > 0
        assert set(refused.json()) == {"error", "message"}
        assert alive.status_code == 200
        assert "event: end" in rest
        assert merged(_parts(rest))["outcome"] == "answered"
        assert running.exit_code() == 0


def _parts(lines: list[str]) -> list[dict[str, Any]]:
    data = (line.removeprefix("data: ") for line in lines if line.startswith("data: {"))
    return [part for part in map(json.loads, data) if "run_id" not in part]


def test_by_default_nobodys_forwarded_address_is_believed(folder, groq):
    groq.replies[:] = [Reply(ANSWER)] * 2
    with forked_service(folder, **settings(folder, groq), RATE_LIMIT="1/hour") as running:
        statuses = [
            httpx.post(
                f"{running.url}/api/query", json={"query": QUESTION}, headers={"X-Forwarded-For": f"192.0.2.{number}"}
            ).status_code
            for number in range(2)
        ]
    assert statuses == [200, 429]


def test_a_second_signal_stops_at_once(folder, groq):
    with service(folder, **settings(folder, groq)) as running, held_stream(running, groq) as (lines, _):
        running.send(signal.SIGTERM)
        wait_until(lambda: running.phase() == "draining")
        running.send(signal.SIGTERM)

        assert running.exit_code() == 128 + signal.SIGTERM
        with pytest.raises(httpx.TransportError):
            list(lines)


@pytest.mark.slow
def test_every_worker_tells_the_sum_of_what_they_counted(folder, groq):
    with service(folder, "--workers", "2", **settings(folder, groq)) as running:
        for _ in range(20):
            httpx.get(f"{running.url}/api/health").raise_for_status()
        told = {counted(httpx.get(f"{running.url}/metrics").text) for _ in range(10)}
    assert told == {"20.0"}


def counted(metrics: str) -> str:
    return next(line.split()[-1] for line in metrics.splitlines() if 'route="/api/health"' in line and "total" in line)


@pytest.mark.slow
def test_workers_whose_parent_is_killed_drain_and_give_the_address_free(folder, groq):
    with service(folder, "--workers", "2", **settings(folder, groq)) as running:
        workers = running.workers()
        wait_until(lambda: running.messages.read_text().count("Open the page at") == 1)
        running.send(signal.SIGKILL)
        wait_until(lambda: not any(worker.is_running() for worker in workers))
    assert '"event": "drained"' in running.messages.read_text()
    assert running.phase() is None


def test_workers_over_a_folder_of_chroma_are_refused_before_anything_is_opened(waypoint):
    code, _, err = waypoint("serve", "--workers", "2")

    assert code == 2
    assert (
        "start a Chroma server (`chroma run`) and set CHROMA_HOST, or set VECTOR_STORE_TYPE=postgres or memory" in err
    )
    assert not Path("storage").exists()


def test_a_port_that_is_taken_is_a_clear_error(waypoint, monkeypatch, folder):
    for name, value in store(folder).items():
        monkeypatch.setenv(name.upper(), value)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        code, _, err = waypoint("serve", "--port", str(port))

    assert code == 1
    assert f"waypoint: cannot listen on 127.0.0.1:{port} (Address already in use)" in err
