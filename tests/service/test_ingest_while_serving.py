"""An ingestion beside a running service: two real processes on one index, and every question is answered."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.processes import PATIENCE_S, ROOT, Service, service

pytestmark = pytest.mark.service

QUESTION = "What is the fee for storage in the depot?"


def waypoint_ingest(folder: Path, *words: str, **settings: str) -> None:
    program = "from app.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program, "ingest", *words],
        env={"PATH": os.defpath, "HOME": str(Path.home()), "PYTHONPATH": str(ROOT), **settings},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def titles(running: Service) -> set[str]:
    answer = httpx.post(f"{running.url}/api/query", json={"query": QUESTION, "threshold": 0}, timeout=PATIENCE_S)
    assert answer.status_code == 200, answer.text
    return {document["title"] for document in answer.json()["relatedDocs"]}


def write(folder: Path, title: str) -> Path:
    file = folder / "docs" / f"{title.lower()}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"# {title}\n\n## Fees\n\nThe fee for storage in the depot is told by {title}.")
    return file


@pytest.mark.parametrize("store", ["chroma", "memory"])
def test_what_is_ingested_while_the_service_runs_is_found_by_the_next_question(tmp_path, store):
    settings: dict[str, Any] = {
        "VECTOR_STORE_TYPE": store,
        "LLM_PROVIDER": "offline",
        "SCOPE_ENABLED": "off",
        "MIN_CHUNKS": "0",
    }
    first = write(tmp_path, "Alpha")
    waypoint_ingest(tmp_path, "docs", **settings)
    with service(tmp_path, **settings) as running:
        assert titles(running) == {"Alpha"}

        write(tmp_path, "Beta")
        waypoint_ingest(tmp_path, "docs", **settings)
        assert titles(running) == {"Alpha", "Beta"}

        first.unlink()
        write(tmp_path, "Gamma")
        waypoint_ingest(tmp_path, "--reset", "docs", **settings)
        assert titles(running) == {"Beta", "Gamma"}
        assert running.phase() == "ready"
