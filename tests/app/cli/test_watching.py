"""`waypoint ingest PATH --watch`, as a process of its own: what it takes up, and how it ends."""

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.cli.ingest import watch_folders
from chains.errors import IndexBusyError
from tests.waiting import wait_until

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
