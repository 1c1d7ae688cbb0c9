"""An ingestion beside a running service: two real processes on one index, and every question is answered."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from benchmarks.processes import Service, service
from tests.ingest_and_stop import waypoint_ingest
from tests.processes import forked_service

pytestmark = [pytest.mark.service, pytest.mark.slow]

QUESTION = "What is the fee for storage in the depot?"


def titles(running: Service) -> set[str]:
    answer = httpx.post(f"{running.url}/api/query", json={"query": QUESTION, "threshold": 0})
    assert answer.status_code == 200, answer.text
    return {document["title"] for document in answer.json()["relatedDocs"]}


def write(folder: Path, title: str) -> Path:
    file = folder / "docs" / f"{title.lower()}.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"# {title}\n\n## Fees\n\nThe fee for storage in the depot is told by {title}.")
    return file


@pytest.mark.parametrize("store", ["chroma", "memory", "postgres"])
def test_what_is_ingested_while_the_service_runs_is_found_by_the_next_question(request, tmp_path, store):
    shared: dict[str, Any] = {}
    words: tuple[str, ...] = ()
    if store == "postgres":  # Several processes, with caches of their own.
        shared = {"DATABASE_URL": request.getfixturevalue("database_url"), "CACHE_ENABLED": "on"}
        words = ("--workers", "2")
    settings: dict[str, Any] = {
        **shared,
        "VECTOR_STORE_TYPE": store,
        "LLM_PROVIDER": "offline",
        "SCOPE_FILE": "off",
        "MIN_CHUNKS": "0",
    }
    first = write(tmp_path, "Alpha")
    waypoint_ingest(tmp_path, "docs", **settings)
    with (service if words else forked_service)(tmp_path, *words, **settings) as running:
        assert titles(running) == {"Alpha"}

        write(tmp_path, "Beta")
        waypoint_ingest(tmp_path, "docs", **settings)
        assert titles(running) == {"Alpha", "Beta"}

        first.unlink()
        write(tmp_path, "Gamma")
        waypoint_ingest(tmp_path, "--reset", "docs", **settings)
        assert titles(running) == {"Beta", "Gamma"}
        assert running.phase() == "ready"
