"""Harm a Ray cluster while it ingests; compare the index with that of one process: `python -m benchmarks.ray_trial`.

PATH is a folder of documents, by default the sample corpus. The cluster has three nodes on this machine, with one core
each. Batches are small, so that there are many of them to be disturbed. The table stands in docs/ingestion.md.
"""

import json
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Services, sample_corpus
from benchmarks.figures import write_figures
from benchmarks.tables import table
from tests.ray_nodes import add_node, ray_cluster, workers

NODES = 3
KILL_EVERY_S = 2.0
COMMAND = "from chains.ingestion import writing; writing.CHUNKS_A_BATCH = 16; from app.cli import main; main()"
HEAD = (
    "harm",
    "chunks that the last run added, of all",
    "index and records as in one process",
    "exit codes",
    "seconds",
)

Row = tuple[str, str, str, str, str]


@dataclass
class Trial:
    """One index that is made on a cluster, and what happened meanwhile."""

    corpus: Path
    folder: Path
    codes: list[int | None] = field(default_factory=list)
    report: dict[str, Any] = field(default_factory=dict)

    @contextmanager
    def command(self, address: str) -> "Iterator[subprocess.Popen[bytes]]":
        """Run `waypoint ingest --engine ray` while the body harms it; then wait for its end, and keep its report."""
        words = ["ingest", str(self.corpus), "--json", "--engine", "ray", "--ray-address", address]
        out = self.folder / "report.json"
        with out.open("wb") as file, (self.folder / "messages.txt").open("ab") as messages:
            process = subprocess.Popen(
                [sys.executable, "-c", COMMAND, *words],
                cwd=self.folder,
                env={**os.environ, **self.environment},  # noqa: TID251 - handed on.
                stdout=file,
                stderr=messages,
            )
            try:
                yield process
                self.codes.append(process.wait(600))
            finally:
                process.kill()
        if text := out.read_text(encoding="utf-8"):
            self.report = json.loads(text)

    @property
    def environment(self) -> dict[str, str]:
        """Return the settings of the command."""
        return {"CHROMA_PATH": str(self.folder / "store"), "LLM_PROVIDER": "offline"}

    def written(self) -> int:
        """Return how many chunks the records name by now, in the copy that is written into."""
        return max(map(_recorded, self.folder.glob("store/*/*/records.sqlite3")), default=0)

    def wait_until_written(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait until some chunks are in the index, or the command has ended."""
        while not self.written() and process.poll() is None:
            time.sleep(0.1)


def undisturbed(trial: Trial, cluster: Any) -> str:
    """Let the command alone."""
    with trial.command(cluster.address):
        return "none"


def kill_workers(trial: Trial, cluster: Any) -> str:
    """Kill a worker at random every other second."""
    draw, killed = random.Random(7), 0  # noqa: S311 - which worker, not a secret.
    with trial.command(cluster.address) as process:
        while process.poll() is None:
            if found := workers(cluster):
                draw.choice(found).kill()
                killed += 1
            time.sleep(KILL_EVERY_S)
    return f"{killed} workers killed at random"


def remove_node(trial: Trial, cluster: Any) -> str:
    """Take a node away once there is something written, and bring another."""
    with trial.command(cluster.address) as process:
        trial.wait_until_written(process)
        cluster.remove_node(cluster.list_all_nodes()[-1], allow_graceful=False)
    add_node(cluster)
    return "a node leaves"


def kill_command(trial: Trial, cluster: Any) -> str:
    """Kill the command once there is something written, and run it again."""
    with trial.command(cluster.address) as process:
        trial.wait_until_written(process)
        process.kill()
    with trial.command(cluster.address):
        return "the command killed, run again"


def kill_cluster(trial: Trial, cluster: Any) -> str:
    """Kill the head and all nodes once there is something written, and run the command on a new cluster."""
    with trial.command(cluster.address) as process:
        trial.wait_until_written(process)
        cluster.shutdown()
    with ray_cluster(1) as other, trial.command(other.address):
        return "head and nodes killed, run again on a new cluster"


def main() -> None:
    """Run every trial, print the table and keep it."""
    configure_logs("warning")
    corpus = Path(sys.argv[1]).resolve() if sys.argv[1:] else sample_corpus().resolve()
    with tempfile.TemporaryDirectory() as place:
        plain = Path(place) / "plain"
        _services(plain).ingest([corpus])
        expected = contents(plain)
        with ray_cluster(NODES) as cluster:
            harms: list[Callable[[Trial, Any], str]] = [
                undisturbed,
                kill_workers,
                remove_node,
                kill_command,
                kill_cluster,
            ]
            rows = [_row(harm, Trial(corpus, Path(place) / harm.__name__), cluster, expected) for harm in harms]
    print(table(HEAD, rows))
    write_figures("ray", {"corpus": corpus.name, "chunks": len(expected["chunks"]), "rows": rows})


def _row(harm: Callable[[Trial, Any], str], trial: Trial, cluster: Any, expected: dict[str, Any]) -> Row:
    trial.folder.mkdir()
    started = time.perf_counter()
    name = harm(trial, cluster)
    seconds = time.perf_counter() - started
    added, held = trial.report.get("added", "?"), contents(trial.folder) == expected
    codes = ", ".join(map(str, trial.codes))
    print(name, added, held, codes, f"{seconds:.0f}", flush=True)
    return name, f"{added} of {len(expected['chunks'])}", "yes" if held else "NO", codes, f"{seconds:.0f}"


def contents(folder: Path) -> dict[str, Any]:
    """Return the chunks of an index by id, with words and metadata, and its records."""
    index = _services(folder).index.current()
    chunks = index.store.get_by_ids(index.store.ids())
    records, sources = index.records()
    kept = {str(chunk.id): (chunk.page_content, json.dumps(chunk.metadata, sort_keys=True)) for chunk in chunks}
    return {"chunks": kept, "records": sorted(records.list_keys()), "sources": sorted(sources.list_keys())}


def _services(folder: Path) -> Services:
    settings = load_settings(_env_file=None, llm_provider="offline", chroma_path=folder / "store")
    return Services(settings, serving=False)


def _recorded(file: Path) -> int:
    try:
        with closing(sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)) as connection:
            query = "SELECT count(*) FROM upsertion_record WHERE namespace = 'chunks'"
            return int(connection.execute(query).fetchone()[0])
    except sqlite3.Error:
        return 0


if __name__ == "__main__":
    main()
