"""The command as a process of its own: what it looks up, and how it ends where its surroundings are hostile."""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.cli.ingest import watch_folders
from benchmarks.processes import service
from chains.errors import IndexBusyError
from tests.corpora import write_documents
from tests.fakes import fake_groq
from tests.processes import run_waypoint
from tests.served import GUIDE, QUESTION
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
NEEDLESS = [
    *("aio_pika", "prometheus_client", "fastapi", "langserve", "redis", "chromadb", "langchain_classic"),
    *("langchain_groq", "onnx", "pypdfium2"),
]


@pytest.fixture(scope="module")
def desk(tmp_path_factory) -> Path:
    """A folder with an index of one document, which commands start in."""
    folder = tmp_path_factory.mktemp("desk")
    if compiler := shutil.which("cc"):
        command = [compiler, "-shared", "-fPIC", "-o", folder / "lookups.so", ROOT / "tests" / "lookups.c", "-ldl"]
        subprocess.run(command, check=True)
    done = waypoint(folder, "ingest", str(write_documents(folder / "01_regulatory", {"gst.md": GUIDE})))
    assert done.returncode == 0, done.stderr
    return folder


def spied_on(folder: Path, **variables: str) -> dict[str, str]:
    """Return the settings of a process whose look-ups of names are written down."""
    watching = {"LD_PRELOAD": str(folder / "lookups.so"), "LOOKUPS": str(folder / "lookups")}
    return {"HOME": str(folder), "SCOPE_FILE": "off", "MIN_CHUNKS": "0", **watching, **variables}


def waypoint(folder: Path, *words: str, stdout: Any = subprocess.PIPE, **variables: str) -> subprocess.CompletedProcess:
    return run_waypoint(folder, *words, stdout=stdout, **spied_on(folder, **variables))


def test_a_question_and_a_service_look_up_the_configured_names_only_and_log_no_word_of_a_user(desk):
    with fake_groq() as groq:
        variables = {"GROQ_API_KEY": "gsk_test", "LLM_BASE_URL": groq.url.replace("127.0.0.1", "localhost")}
        assert waypoint(desk, "ask", QUESTION, **variables).returncode == 0
        settings = spied_on(desk, LOG_LEVEL="debug", CACHE_ENABLED="true", **variables)
        with service(desk, **settings) as running:
            assert httpx.post(f"{running.url}/api/query", json={"query": QUESTION}).is_success
            running.send(signal.SIGTERM)
            assert running.exit_code() == 0

    if (desk / "lookups.so").exists():  # There is a C compiler to build what watches the resolver.
        assert set((desk / "lookups").read_text().split()) == {"localhost", "127.0.0.1"}
    assert {path.name for path in (desk / ".cache").glob("*")} <= {"waypoint-copilot"}
    log = (desk / "messages.txt").read_text()
    assert '"event": "answer"' in log
    assert [word for word in ("Singapore", "rate of GST", "Nine percent") if word in log] == []

    lines = [json.loads(line) for line in log.splitlines() if line[0] == "{"]
    [start] = [line for line in lines if line["event"] == "starting"]
    told = {
        "provider": "groq",
        "model": "llama-3.1-8b-instant",
        "store": f"the ledger {desk / 'storage' / 'chroma' / 'waypoint_kb.ledger.sqlite3'}",
        "chunks": 1,
        "without_token": "internal documents",
    }
    assert start.items() >= told.items()
    assert start["base_url"].startswith("http://localhost:")


def test_a_user_whom_the_system_does_not_know_can_open_an_index(tmp_path):
    program = (
        "import os, pwd; os.environ.pop('HOME', None); pwd.getpwuid = lambda uid: {}[uid]; "
        "import app.adapters.chroma; print(os.environ['HOME'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "/dev/null\n"), done.stderr


def test_one_question_imports_only_what_it_needs_and_escapes_what_ascii_cannot_show(desk):
    program = (
        "import sys\n"
        f"NEEDLESS = set({NEEDLESS!r})\n"
        "from app.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted(set(sys.modules) & NEEDLESS), file=sys.stderr)"
    )
    settings = spied_on(desk, RABBITMQ_URL="amqp://127.0.0.1:9/", PYTHONIOENCODING="ascii")
    asked = run_waypoint(desk, "ask", QUESTION, "--top-k", "3", program=["-c", program], **settings)
    assert (asked.returncode, asked.stderr) == (0, "[]\n")
    assert "Model: offline-extractive \\xb7 outcome: answered" in asked.stdout


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


@pytest.mark.parametrize(
    ("settings", "ended_with", "told"),
    [
        ({"CHROMA_PATH": "/proc/none"}, 1, "the ledger '/proc/none/waypoint_kb.ledger.sqlite3' cannot be used"),
        ({"AUTH_MODE": "api_key", "API_KEYS": "x"}, 2, "API_KEYS: entry 1 is not of the form name:SHA-256"),
    ],
    ids=["ledger", "API_KEYS"],
)
def test_a_service_that_cannot_start_says_why_in_one_line(waypoint, desk, monkeypatch, settings, ended_with, told):
    monkeypatch.chdir(desk)
    code, _, err = waypoint("serve", "--port", "1", **settings)
    assert code == ended_with
    assert f"waypoint: {told}" in err
    assert "Traceback" not in err


# What a shell starts in the background ignores Ctrl-C, and so do the processes that it starts.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from app.cli import main
main()
"""


def test_changes_are_taken_up_and_tried_again_and_those_of_the_rules_mean_all_files(tmp_path):
    calls: list[Any] = []
    complaints: list[str] = []
    busy, stop = threading.Event(), threading.Event()

    def ingest(changed):
        if busy.is_set():
            busy.clear()
            msg = "Another ingestion is at work."
            raise IndexBusyError(msg)
        calls.append(changed)

    def changed(name: str) -> None:
        (tmp_path / name).write_text("# A")
        wait_until(lambda: any(tmp_path / name in (call or ()) for call in calls))

    told: Any = {"complain": complaints.append, "stop": stop}
    thread = threading.Thread(target=watch_folders, args=([tmp_path], ingest), kwargs=told)
    thread.start()
    try:
        wait_until(lambda: calls == [None])
        changed("a.md")
        busy.set()
        changed("b.md")
        assert complaints == ["Another ingestion is at work. The changes are tried again."]
        (tmp_path / ".waypointignore").write_text("x")
        wait_until(lambda: calls[-1] is None)
    finally:
        stop.set()
        thread.join()


def test_ctrl_c_ends_the_command_cleanly_and_what_changed_is_in_the_index(tmp_path):
    folder = tmp_path / "corpus"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nWords.")
    environment = {"VECTOR_STORE_TYPE": "memory", "PATH": "", "MIN_CHUNKS": "0"}
    command = [sys.executable, "-c", PROGRAM, "ingest", str(folder), "--watch"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env=environment | {"PYTHONPATH": str(Path(__file__).parents[3])},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        assert any(line.startswith("Watching ") for line in lines)
        assert "1 added" in next(line for line in lines if "chunks" in line)
        (folder / "b.md").write_text("# B\n\nWords.")
        assert "1 added" in next(line for line in lines if "chunks" in line)
        (folder / "a.md").unlink()
        assert "1 deleted" in next(line for line in lines if "chunks" in line)
        process.send_signal(signal.SIGINT)
        assert next(lines).startswith("Stopped.")
        assert process.wait() == 0


def test_watching_goes_with_folders_only(waypoint):
    code, _, err = waypoint("ingest", "s3://bucket", "--watch")
    assert (code, "--watch needs local folders" in err) == (2, True)
