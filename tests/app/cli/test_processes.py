"""The command as a process of its own: what it looks up, and how it ends where its surroundings are hostile."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.fakes import fake_groq
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
WAYPOINT = (sys.executable, "-c", "from app.cli import main; main()")
NEEDLESS = [
    *("aio_pika", "prometheus_client", "fastapi", "langserve", "redis", "chromadb", "langchain_classic"),
    *("langchain_groq", "onnx", "pypdfium2"),
]
QUESTION = "What is the GST rate on imports into Singapore?"


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A folder with an index of one document, which commands start in."""
    folder = tmp_path_factory.mktemp("desk")
    if compiler := shutil.which("cc"):
        command = [compiler, "-shared", "-fPIC", "-o", folder / "lookups.so", ROOT / "tests" / "lookups.c", "-ldl"]
        subprocess.run(command, check=True)
    corpus = folder / "01_regulatory"
    corpus.mkdir()
    (corpus / "gst.md").write_text("# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n")
    done = waypoint(folder, "ingest", str(corpus))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def served(desk) -> Path:
    """The same folder, after a question to `waypoint ask` and one to `waypoint serve`, both logged in full."""
    with fake_groq() as groq:
        variables = {"GROQ_API_KEY": "gsk_test", "LLM_BASE_URL": groq.url.replace("127.0.0.1", "localhost")}
        assert waypoint(desk, "ask", QUESTION, **variables).returncode == 0
        with serving(desk, LOG_LEVEL="debug", CACHE_ENABLED="true", **variables) as url:
            assert httpx.post(f"{url}/api/query", json={"query": QUESTION}).is_success
    return desk


def environment(folder: Path, **variables: str) -> dict[str, str]:
    plain = {"PATH": os.defpath, "HOME": str(folder), "PYTHONPATH": str(ROOT), "SCOPE_FILE": "off"}
    watched = {"LD_PRELOAD": str(folder / "lookups.so"), "LOOKUPS": str(folder / "lookups"), "MIN_CHUNKS": "0"}
    return plain | watched | variables


def waypoint(folder: Path, *words: str, stdout: Any = subprocess.PIPE, **variables: Any) -> subprocess.CompletedProcess:
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
            wait_until(lambda: is_ready(url) or process.poll() is not None)
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


def test_no_name_is_looked_up_but_the_configured_ones(served):
    if not (served / "lookups.so").exists():
        pytest.skip("there is no C compiler to build what watches the resolver")
    assert set((served / "lookups").read_text().split()) == {"localhost", "127.0.0.1"}


def test_nothing_is_kept_in_the_users_folder_but_our_own_cache(served):
    assert {path.name for path in (served / ".cache").glob("*")} <= {"waypoint-copilot"}


def test_debug_logs_hold_no_word_of_questions_documents_or_answers(served):
    log = (served / "serve.log").read_text()
    assert '"event": "answer"' in log
    assert [word for word in ("Singapore", "rate of GST", "Nine percent") if word in log] == []


def test_the_service_says_at_start_what_it_works_with(served):
    lines = [json.loads(line) for line in (served / "serve.log").read_text().splitlines()]
    [start] = [line for line in lines if line["event"] == "starting"]

    told = {name: start[name] for name in ("provider", "model", "store", "chunks", "without_token")}
    assert told == {
        "provider": "groq",
        "model": "llama-3.1-8b-instant",
        "store": f"the ledger {served / 'storage' / 'chroma' / 'waypoint_kb.ledger.sqlite3'}",
        "chunks": 1,
        "without_token": "internal documents",
    }
    assert start["base_url"].startswith("http://localhost:")


def test_a_user_whom_the_system_does_not_know_can_open_an_index(tmp_path):
    program = (
        "import os, pwd; os.environ.pop('HOME', None); pwd.getpwuid = lambda uid: {}[uid]; "
        "import app.adapters.stores.chroma; print(os.environ['HOME'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "/dev/null\n"), done.stderr


def test_one_question_imports_only_what_it_needs(desk):
    program = (
        "import sys\n"
        f"NEEDLESS = set({NEEDLESS!r})\n"
        "from app.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted(set(sys.modules) & NEEDLESS), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "ask", QUESTION, "--top-k", "3"],
        cwd=desk,
        env=environment(desk, RABBITMQ_URL="amqp://127.0.0.1:9/"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")


def test_output_that_is_not_utf8_shows_escapes_in_place_of_what_it_cannot_show(desk):
    done = waypoint(desk, "ask", QUESTION, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert "Model: offline-extractive \\xb7 outcome: answered" in done.stdout


def test_a_full_disk_is_one_line_and_exit_code_1(desk):
    with open("/dev/full", "w") as full:
        done = waypoint(desk, "ask", QUESTION, stdout=full)
    assert (done.returncode, done.stderr) == (1, "waypoint: [Errno 28] No space left on device\n")


def test_a_reader_who_leaves_is_no_traceback(desk):
    reading, writing = os.pipe()
    os.close(reading)
    done = waypoint(desk, "ask", QUESTION, "--json", stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, "")


def test_a_service_whose_ledger_cannot_be_kept_says_so_in_one_line(desk):
    done = waypoint(desk, "serve", "--port", "1", CHROMA_PATH="/proc/none")
    assert done.returncode == 1
    assert "waypoint: the ledger '/proc/none/waypoint_kb.ledger.sqlite3' cannot be used" in done.stderr
    assert "Traceback" not in done.stderr
