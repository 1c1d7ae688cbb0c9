"""A disk without room, as a small file system in memory that is full: what reads goes on, what writes says why not."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.cli.test_read_only_index import QUESTION, ROOT, STORES
from tests.served import GUIDE

MOUNTS = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
# The folder gets a file system of its own, with the desk in it, and is filled to the last byte.
FULL = """
set -e
mount -t tmpfs -o size=24m full "$1"
cp -R "$2/." "$1"
cd "$1"
cat /dev/zero > fill 2>/dev/null || true
shift 2
exec "$@"
"""
PROGRAM = [sys.executable, "-c", "from app.cli import main; main()"]


def can_mount() -> bool:
    command = [*MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(command, capture_output=True, check=False).returncode == 0


pytestmark = [pytest.mark.slow, pytest.mark.skipif(not can_mount(), reason="no file system can be mounted here")]


@pytest.fixture(params=STORES, ids=["chroma", "memory"])
def environment(request) -> dict[str, str]:
    offline = {"LLM_PROVIDER": "offline", "MIN_CHUNKS": "0", "SCOPE_ENABLED": "false"}
    return {"PATH": os.defpath, "HOME": str(Path.home()), "PYTHONPATH": str(ROOT)} | offline | request.param


@pytest.mark.parametrize("aside", ["", "tmp"], ids=["room for temporary files", "no room at all"])
def test_a_full_disk_stops_ingestion_and_no_question(environment, aside, tmp_path):
    desk, full = tmp_path / "desk", tmp_path / "full"
    (desk / "docs").mkdir(parents=True)
    (desk / "tmp").mkdir()
    full.mkdir()
    (desk / "docs" / "gst.md").write_text(GUIDE)
    subprocess.run([*PROGRAM, "ingest", "docs"], cwd=desk, env=environment, check=True)
    (desk / "docs" / "new.md").write_text("# New\n\nNobody has read this.\n" * 1000)
    environment |= {"TMPDIR": str(full / aside)} if aside else {}

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        command = [*MOUNTS, "sh", "-c", FULL, "sh", str(full), str(desk), *PROGRAM, *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    asked, ingested = run("ask", QUESTION), run("ingest", "docs")

    assert (asked.returncode, asked.stdout.splitlines()[:1]) == (
        0,
        ["The rate of GST on imports into Singapore is 9 %. [GST Guide > Rate]"],
    )
    assert ingested.returncode == 1
    assert "disk" in ingested.stderr
    assert "Traceback" not in asked.stderr + ingested.stderr
