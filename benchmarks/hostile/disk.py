"""A disk without room, as a small file system in memory that is full: what reads goes on, what writes says why not."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from benchmarks.hostile.trying import DOCUMENTS, OPTIONS, QUESTION, Tried
from benchmarks.processes import PROGRAM, environment

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
STORES = ({"CHROMA_PATH": "store"}, {"VECTOR_STORE_TYPE": "memory", "MEMORY_STORE_PATH": "store/shelf.json"})
ASIDE = {"room for temporary files": "", "no room at all": "tmp"}


def attack(folder: Path) -> list[Tried]:
    """Ask, and ingest, on a full disk; nothing is tried where no file system can be mounted."""
    tried = Tried("commands on a full disk", "questions are answered; ingestion exits with 1 and names the disk")
    for number, (store, (name, aside)) in enumerate((store, one) for store in STORES for one in ASIDE.items()):
        if not can_mount():
            break
        desk = Desk(folder / f"{number}", OPTIONS | {"MIN_CHUNKS": "0"} | store, DOCUMENTS)
        asked, ingested = desk.run("ask", QUESTION, aside=aside), desk.run("ingest", "docs", aside=aside)
        where = f"{store}, {name}"
        tried.add(f"ask: {where}", held=asked.returncode == 0 and "5 %" in asked.stdout)
        says = ingested.returncode == 1 and "disk" in ingested.stderr and "Traceback" not in ingested.stderr
        tried.add(f"ingest: {where}", held=says)
    return [tried]


def can_mount() -> bool:
    """Say whether this user may mount a file system that only its own processes see."""
    command = [*MOUNTS, "mount", "-t", "tmpfs", "none", "/mnt"]
    return bool(shutil.which("unshare")) and subprocess.run(command, capture_output=True, check=False).returncode == 0


class Desk:
    """A folder with documents and their index, whose commands run on a full disk; a document waits to be ingested."""

    def __init__(self, folder: Path, settings: Mapping[str, str], documents: Mapping[str, str]) -> None:
        self.folder, self.full = folder / "desk", folder / "full"
        self.full.mkdir(parents=True)
        (self.folder / "tmp").mkdir(parents=True)
        self._environment = environment(**settings)
        for name, text in documents.items():
            self._write(name, text)
        command = [sys.executable, *PROGRAM, "ingest", "docs"]
        subprocess.run(command, cwd=self.folder, env=self._environment, check=True, capture_output=True)
        self._write("new.md", "# New\n\nNobody has read this.\n" * 1000)

    def run(self, *words: str, aside: str) -> "subprocess.CompletedProcess[str]":
        """Run a command; temporary files go to the usual place, or to a folder of the full disk."""
        command = [*MOUNTS, "sh", "-c", FULL, "sh", str(self.full), str(self.folder), sys.executable, *PROGRAM, *words]
        variables = self._environment | ({"TMPDIR": str(self.full / aside)} if aside else {})
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)

    def _write(self, name: str, text: str) -> None:
        path = self.folder / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
