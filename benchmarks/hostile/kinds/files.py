"""Hostile files in one ingestion: each is read or named, and the good one beside them is read."""

import json
import os
import subprocess
import sys
from pathlib import Path

from benchmarks.hostile.tried import Tried
from tests.hostile_files import GOOD_FILE, NO_FILES, names, write_hostile_files
from tests.processes import ROOT

LIMIT_S = 1200
# Smaller limits than the defaults, so that the bombs are done in minutes: they are refused at any.
LIMITS = {"INGEST_FILE_TIMEOUT_S": "3", "INGEST_FILE_MEMORY_MB": "512"}


def attack(folder: Path) -> list[Tried]:
    """Read them all with the command; nothing is embedded, which would only take time."""
    tried = Tried("hostile files", "read or named within its limits; the ingestion goes on")
    environment = {"PATH": os.defpath, "PYTHONPATH": str(ROOT), "HOME": str(Path.home()), "LOG_LEVEL": "error"}
    corpus = folder / "hostile"
    corpus.mkdir()
    write_hostile_files(corpus)
    done = subprocess.run(
        [sys.executable, "-c", "from app.cli import main; main()", "ingest", "--dry-run", "--json", str(corpus)],
        cwd=folder,
        env=environment | LIMITS | {"CHROMA_PATH": str(folder / "hostile-store")},
        capture_output=True,
        timeout=LIMIT_S,
        check=False,
    )
    told = (done.stdout + done.stderr).decode("utf-8", "backslashreplace")
    whole = done.returncode in {0, 1} and "Traceback" not in told
    report = json.loads(done.stdout) if whole else {}
    read = report.get("files", 0)
    for name in [*names(), *NO_FILES]:
        tried.add(name, held=whole and read > 0)
    tried.add(GOOD_FILE, held=whole and GOOD_FILE not in told)
    return [tried]
