"""Measure speed, memory and size, and print them as one table: `make bench`.

Every figure is of this run on this machine. Ratios are of two commands run in turn, so that a noisy machine bothers
both alike.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import httpx
import numpy as np
import psutil

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Parts, Service, open_index, open_service, sample_corpus
from benchmarks.bench_rows import Row, cache_rows, citation_rows, ingestion
from benchmarks.figures import ROOT, write_figures
from benchmarks.house import installed
from benchmarks.offline import questions
from benchmarks.processes import service
from benchmarks.tables import table
from chains.retrieval import ChunkRetriever, HybridRetriever, SimilarityRetriever

REAL_CORPUS = ROOT.parent / "shared" / "kb" / "waypoint"
FEW = 5


def main() -> None:
    """Run every measurement, print the table and keep it; with --quick run what takes seconds, and keep nothing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="few questions, and the sample corpus")
    is_quick = parser.parse_args().quick
    configure_logs("warning")
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(_env_file=None, chroma_path=Path(folder) / "store", llm_provider="offline")
        # Without the memory of questions: the same ones are asked again, and each is embedded anew.
        services = open_service(settings, parts=Parts(embeddings=open_index(settings).embedder))
        corpus = REAL_CORPUS if REAL_CORPUS.is_dir() and not is_quick else sample_corpus()
        services.index.ingest([corpus])
        slow = [] if is_quick else [ingestion(services, corpus, Path(folder)), *cache_rows()]
        asked = questions()[:FEW] if is_quick else questions()
        rows = [*slow, *quick_rows(services, corpus, Path(folder), asked)]
    print(table(("what", "measured", "aim"), rows))
    if not is_quick:
        write_figures("bench", {"rows": rows})


def quick_rows(services: Service, corpus: Path, folder: Path, asked: list[str]) -> list[Row]:
    """Return what takes seconds where few questions are asked."""
    hybrid = HybridRetriever(store=services.index.current(), words=services.index.current())
    return [
        unchanged(services, corpus),
        retrieval(services, corpus, SimilarityRetriever(store=services.index.current()), asked, "p50 <= 5 ms"),
        retrieval(services, corpus, hybrid, asked, "p50 <= 8 ms"),
        serve_memory(folder, asked),
        installed_size(),
        *citation_rows(),
    ]


def retrieval(services: Service, corpus: Path, retriever: ChunkRetriever, asked: list[str], aim: str) -> Row:
    for question in asked[:5]:
        retriever.invoke(question)
    times = [1000 * _seconds(partial(retriever.invoke, question)) for question in asked]
    strategy = type(retriever).__name__.removesuffix("Retriever").lower()
    name = f"warm {strategy} retrieval p50 / p95, {services.index.current().count()} chunks of {corpus.name}"
    return name, "{:.1f} / {:.1f} ms".format(*np.percentile(times, [50, 95])), aim


def unchanged(services: Service, corpus: Path) -> Row:
    times = [_seconds(partial(services.index.ingest, [corpus])) for _ in range(3)]
    return (
        f"ingestion of {services.index.current().count()} chunks that are in the index",
        f"{statistics.median(times):.2f} s",
        "",
    )


def serve_memory(folder: Path, asked: list[str]) -> Row:
    """Return the resident memory of a service that has answered the questions."""
    with service(folder, **_settings(folder)) as running:
        for question in asked:
            httpx.post(f"{running.url}/api/query", json={"query": question}, timeout=60).raise_for_status()
        resident = psutil.Process(running.process.pid).memory_info().rss / 2**20
    return "resident memory of a warm `waypoint serve`", f"{resident:.0f} MB", "< 450 MB"


def installed_size() -> Row:
    """Return what the distributions of requirements.lock take on disk, as installed here."""
    torch = "without" if find_spec("torch") is None else "with"
    size = f"{installed()['MB of a base installation']} MB, {torch} torch"
    return "installed size of the base environment", size, "< 600 MB, no torch"


def _settings(folder: Path) -> dict[str, str]:
    return {"CHROMA_PATH": str(folder / "store"), "LLM_PROVIDER": "offline"}


def _seconds(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
