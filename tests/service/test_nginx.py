"""A stream behind a real nginx, as it comes out of the box: each part arrives when it was sent, not at the end."""

import re
import shutil
import socket
import subprocess
import threading
from collections.abc import AsyncIterator, Iterator
from functools import partial
from pathlib import Path

import anyio.to_thread
import httpx
import pytest
from langchain_core.runnables import RunnableGenerator

from app.http.server import create_app
from app.settings import load_settings
from app.wiring import Parts, Services
from tests.served import served
from tests.waiting import wait_until

pytestmark = pytest.mark.service

PATIENCE_S = 30
CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        {location}
    }}
}}
"""


OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"


def location(upstream: str) -> str:
    """The example of docs/operations.md, in front of another address."""
    [example] = re.findall(r"^```nginx\n(.*?)^```", OPERATIONS.read_text(), re.MULTILINE | re.DOTALL)
    assert "http://127.0.0.1:3000" in example
    return example.replace("http://127.0.0.1:3000", upstream)


class StepByStep:
    """A chain that sends its next part only when it is let."""

    def __init__(self) -> None:
        self.let = threading.Semaphore(0)

    async def parts(self, questions: AsyncIterator[dict]) -> AsyncIterator[dict]:
        async for _ in questions:
            for word in ("It ", "is ", "nine."):
                yield {"answer": word}
                await anyio.to_thread.run_sync(partial(self.let.acquire, timeout=PATIENCE_S), abandon_on_cancel=True)


@pytest.fixture
def steps() -> StepByStep:
    return StepByStep()


@pytest.fixture
def upstream(steps) -> Iterator[str]:
    settings = load_settings(_env_file=None, llm_provider="offline", rate_limit="2/hour")
    services = Services(settings, parts=Parts(chain=RunnableGenerator(steps.parts)))
    with served(create_app(services), proxies="127.0.0.1") as url:
        yield url


@pytest.fixture
def nginx(upstream, tmp_path) -> Iterator[str]:
    program = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if program is None:
        pytest.skip("nginx is not installed (Debian's package nginx-light)")
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    config = tmp_path / "nginx.conf"
    config.write_text(CONFIG.format(folder=tmp_path, port=port, location=location(upstream)))
    with subprocess.Popen([program, "-p", str(tmp_path), "-c", str(config)], stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: _accepts(port))
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _accepts(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def test_every_word_arrives_before_the_next_one_is_sent(nginx, steps):
    body = {"input": {"question": "What is the rate?"}}
    with (
        httpx.Client(base_url=nginx, timeout=PATIENCE_S) as client,
        client.stream("POST", "/copilot/stream", json=body) as response,
    ):
        assert response.headers["content-type"].startswith("text/event-stream")
        assert response.headers["cache-control"] == "no-cache"
        words = []
        for line in response.iter_lines():
            if "answer" in line:  # Each was read while the chain waits to be let go on.
                words.append(line)
                steps.let.release()

    assert len(words) == 3


def test_a_client_cannot_choose_the_address_that_its_questions_are_counted_for(nginx, steps):
    body = {"input": {"question": "What is the rate?"}}
    for _ in range(100):
        steps.let.release()
    statuses = [
        httpx.post(
            f"{nginx}/copilot/stream", json=body, headers={"X-Forwarded-For": f"192.0.2.{number}"}, timeout=PATIENCE_S
        ).status_code
        for number in range(3)
    ]
    assert statuses == [200, 200, 429]
