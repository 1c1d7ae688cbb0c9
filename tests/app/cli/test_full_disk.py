"""A full disk: what reads goes on, what writes says why not."""

import os
import shutil
import subprocess

import pytest

from tests.corpora import write_documents
from tests.ingest_and_stop import waypoint_ingest
from tests.processes import run_waypoint
from tests.served import GUIDE, QUESTION

MOUNTS = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
# A folder gets a file system of its own with the desk in it, and is filled to the last byte.
FULL = """
set -e
mount -t tmpfs -o size=24m full "$1"
cp -R "$2/." "$1"
cd "$1"
cat /dev/zero > fill 2>/dev/null || true
shift 2
exec "$@"
"""


def can_mount() -> bool:
    """Say whether this user may mount a file system that only its own processes see."""
    command = [*MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(command, capture_output=True, check=False).returncode == 0


pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_mount(), reason="no file system can be mounted here")]


@pytest.mark.parametrize(
    ("store", "aside"),
    [({}, "tmp"), ({"VECTOR_STORE_TYPE": "memory"}, "")],
    ids=["chroma, no room at all", "memory, room for temporary files"],
)
def test_a_full_disk_stops_ingestion_and_no_question(store, aside, tmp_path):
    desk, full = write_documents(tmp_path / "desk", {"docs/gst.md": GUIDE, "tmp/empty": ""}), tmp_path / "full"
    full.mkdir()
    settings = {"LLM_PROVIDER": "offline", "MIN_CHUNKS": "0", "SCOPE_FILE": "off", "CHROMA_PATH": "store"} | store
    waypoint_ingest(desk, "docs", **settings)
    write_documents(desk, {"docs/new.md": "# New\n\nNobody has read this.\n" * 1000})
    before = [*MOUNTS, "sh", "-c", FULL, "sh", str(full), str(desk)]
    settings |= {"TMPDIR": str(full / aside)} if aside else {}

    asked, ingested = (
        run_waypoint(desk, *words, before=before, **settings) for words in (("ask", QUESTION), ("ingest", "docs"))
    )

    answer = "The rate of GST on imports into Singapore is 9 %. [GST Guide > Rate]"
    assert (asked.returncode, asked.stdout.splitlines()[:1]) == (0, [answer])
    assert ingested.returncode == 1
    assert "disk" in ingested.stderr
    assert "Traceback" not in asked.stderr + ingested.stderr
