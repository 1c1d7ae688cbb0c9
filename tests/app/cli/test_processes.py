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
from tests.waiting import wait_until

ROOT = Path(__file__).parents[3]
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
    text = "# GST Guide\n\n## Rate\n\nThe rate of GST on imports into Singapore is 9 %.\n"
    done = waypoint(folder, "ingest", str(write_documents(folder / "01_regulatory", {"gst.md": text})))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture(scope="module")
def served(desk) -> Path:
    """The same folder, after a question to `waypoint ask` and one to `waypoint serve`, both logged in full."""
    with fake_groq() as groq:
        variables = {"GROQ_API_KEY": "gsk_test", "LLM_BASE_URL": groq.url.replace("127.0.0.1", "localhost")}
        assert waypoint(desk, "ask", QUESTION, **variables).returncode == 0
        settings = spied_on(desk, LOG_LEVEL="debug", CACHE_ENABLED="true", **variables)
        with service(desk, **settings) as running:
            assert httpx.post(f"{running.url}/api/query", json={"query": QUESTION}).is_success
            running.send(signal.SIGTERM)
            assert running.exit_code() == 0
    return desk


def spied_on(folder: Path, **variables: str) -> dict[str, str]:
    """Return the settings of a process whose look-ups of names are written down."""
    watching = {"LD_PRELOAD": str(folder / "lookups.so"), "LOOKUPS": str(folder / "lookups")}
    return {"HOME": str(folder), "SCOPE_FILE": "off", "MIN_CHUNKS": "0", **watching, **variables}


def waypoint(folder: Path, *words: str, stdout: Any = subprocess.PIPE, **variables: str) -> subprocess.CompletedProcess:
    return run_waypoint(folder, *words, stdout=stdout, **spied_on(folder, **variables))


def test_no_name_is_looked_up_but_the_configured_ones(served):
    if not (served / "lookups.so").exists():
        pytest.skip("there is no C compiler to build what watches the resolver")
    assert set((served / "lookups").read_text().split()) == {"localhost", "127.0.0.1"}


def test_nothing_is_kept_in_the_users_folder_but_our_own_cache(served):
    assert {path.name for path in (served / ".cache").glob("*")} <= {"waypoint-copilot"}


def test_debug_logs_hold_no_word_of_questions_documents_or_answers(served):
    log = (served / "messages.txt").read_text()
    assert '"event": "answer"' in log
    assert [word for word in ("Singapore", "rate of GST", "Nine percent") if word in log] == []


def test_the_service_says_at_start_what_it_works_with(served):
    lines = [json.loads(line) for line in (served / "messages.txt").read_text().splitlines() if line[0] == "{"]
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
        "import app.adapters.chroma; print(os.environ['HOME'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "/dev/null\n"), done.stderr


@pytest.fixture(scope="module")
def asked(desk) -> subprocess.CompletedProcess:
    """One question in a process that writes ASCII, and says last what it imported of what it does not need."""
    program = (
        "import sys\n"
        f"NEEDLESS = set({NEEDLESS!r})\n"
        "from app.cli import main\n"
        "try:\n    main()\n"
        "finally:\n    print(sorted(set(sys.modules) & NEEDLESS), file=sys.stderr)"
    )
    settings = spied_on(desk, RABBITMQ_URL="amqp://127.0.0.1:9/", PYTHONIOENCODING="ascii")
    return run_waypoint(desk, "ask", QUESTION, "--top-k", "3", program=["-c", program], **settings)


def test_one_question_imports_only_what_it_needs(asked):
    assert (asked.returncode, asked.stderr) == (0, "[]\n")


def test_output_that_is_not_utf8_shows_escapes_in_place_of_what_it_cannot_show(asked):
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


@pytest.fixture
def watched(tmp_path):
    """Run `watch_folders` in a thread; yields the folder, what was ingested, and what was complained of."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    calls: list[object] = []
    complaints: list[str] = []
    busy = threading.Event()
    stop = threading.Event()

    def ingest(changed):
        if busy.is_set():
            busy.clear()
            msg = "Another ingestion is at work."
            raise IndexBusyError(msg)
        calls.append(changed)

    thread = threading.Thread(
        target=watch_folders, args=([folder], ingest), kwargs={"complain": complaints.append, "stop": stop}
    )
    thread.start()
    wait_until(lambda: calls == [None])
    yield folder, calls, complaints, busy
    stop.set()
    thread.join()


def taken(calls, path: Path) -> bool:
    return any(changed is not None and path in changed for changed in calls)


def test_changes_are_taken_up_and_those_of_the_rules_mean_all_files(watched):
    folder, calls, _, _ = watched
    (folder / "a.md").write_text("# A")
    wait_until(lambda: taken(calls, folder / "a.md"))
    (folder / ".waypointignore").write_text("x")
    wait_until(lambda: calls[-1] is None)


def test_what_cannot_be_taken_up_now_is_tried_again(watched):
    folder, calls, complaints, busy = watched
    busy.set()
    (folder / "b.md").write_text("# B")
    wait_until(lambda: taken(calls, folder / "b.md"))
    assert complaints == ["Another ingestion is at work. The changes are tried again."]


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
