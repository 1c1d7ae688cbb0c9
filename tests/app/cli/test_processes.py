"""The command as a process of its own: what it looks up, and how it ends where its surroundings are hostile."""

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
WAYPOINT = (sys.executable, "-c", "from app.cli import main; main()")
QUESTION = "What is the GST rate on imports into Singapore?"


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A folder with an index of one document, which commands start in."""
    folder = tmp_path_factory.mktemp("desk")
    corpus = folder / "01_regulatory"
    corpus.mkdir()
    (corpus / "gst.md").write_text("# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n")
    done = waypoint(folder, "ingest", str(corpus))
    assert done.returncode == 0, done.stderr
    return folder


def environment(folder: Path, **variables: str) -> dict[str, str]:
    plain = {"PATH": os.environ["PATH"], "HOME": str(folder), "PYTHONPATH": str(ROOT), "SCOPE_ENABLED": "false"}
    return plain | {"MIN_CHUNKS": "0"} | variables


def waypoint(folder: Path, *words: str, stdout: int = subprocess.PIPE, **variables: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [*WAYPOINT, *words],
        cwd=folder,
        env=environment(folder, **variables),
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        check=False,
    )


@contextmanager
def serving(folder: Path, **variables: str) -> Iterator[str]:
    """Run `waypoint serve` until the body is done, and see it end well."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with (folder / "serve.log").open("w") as log:
        process = subprocess.Popen(
            [*WAYPOINT, "serve", "--port", str(port)], cwd=folder, env=environment(folder, **variables), stderr=log
        )
        try:
            wait_until(lambda: is_ready(url) or process.poll() is not None, limit_s=60)
            assert process.poll() is None, (folder / "serve.log").read_text()
            yield url
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait()


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/ready").is_success
    except httpx.TransportError:
        return False


@pytest.fixture(scope="module")
def watcher(tmp_path_factory) -> Path:
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler to build what watches the resolver")
    library = tmp_path_factory.mktemp("watcher") / "lookups.so"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, ROOT / "tests" / "lookups.c", "-ldl"], check=True)
    return library


def test_no_name_is_looked_up_but_the_configured_ones(tmp_path, groq, watcher):
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "gst.md").write_text("# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n")
    lookups = tmp_path / "lookups"
    variables = {"LD_PRELOAD": str(watcher), "LOOKUPS": str(lookups), "GROQ_API_KEY": "gsk_test"}
    variables |= {"LLM_BASE_URL": groq.url.replace("127.0.0.1", "localhost")}

    assert waypoint(tmp_path, "ingest", str(corpus), **variables).returncode == 0
    assert waypoint(tmp_path, "ask", QUESTION, **variables).returncode == 0
    with serving(tmp_path, **variables) as url:
        assert httpx.post(f"{url}/api/query", json={"query": QUESTION}).is_success

    assert set(lookups.read_text().split()) == {"localhost", "127.0.0.1"}
    kept = {path.name for path in (tmp_path / ".cache").iterdir()}
    assert kept == {"waypoint-copilot"}
