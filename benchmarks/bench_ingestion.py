"""Compare an ingestion with the bare embedding model on the same texts: `python -m benchmarks.bench_ingestion [PATH]`.

The two run in turn, so that a noisy machine bothers both alike. The ratio of the time of the processor, without that of
the process that parses PDF and the like, tells what an ingestion does beside embedding; reading and writing take turns
with it on the same cores.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from app.observability.logs import configure_logs
from app.settings import load_settings
from app.wiring import Parts, Services, sample_corpus
from benchmarks.figures import write_figures
from benchmarks.tables import table
from chains.ingestion.index import indexed_text

Row = tuple[str, str, str]

RUNS = 3


class Cost(NamedTuple):
    """Seconds on the clock, and of the processor."""

    wall: float
    processor: float


def main() -> None:
    """Measure, print the row and keep it."""
    configure_logs("warning")
    corpus = Path(sys.argv[1]) if sys.argv[1:] else sample_corpus()
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(_env_file=None, chroma_path=Path(folder) / "store", llm_provider="offline")
        row = ingestion(Services(settings), corpus, Path(folder))
    print(table(("what", "measured", "aim"), [row]))
    write_figures("ingestion", {"rows": [row]})


def ingestion(services: Services, corpus: Path, folder: Path) -> Row:
    """Time an ingestion from nothing against the bare model on the same texts, in turn."""
    services.embeddings.embed_query("")  # The model is opened.
    ours, bare = [], []
    texts: list[str] = []
    for number in range(RUNS):
        settings = services.settings.replace(chroma_path=folder / f"{corpus.name}-{number}")
        fresh = Services(settings, parts=Parts(embeddings=services.embeddings))
        ours.append(_cost(partial(fresh.ingest, [corpus])))
        texts = [indexed_text(chunk) for chunk in fresh.store.get_by_ids(fresh.store.ids())]
        bare.append(_cost(partial(services.embeddings.embed_documents, texts)))
    speed, limit = (len(texts) / statistics.median(cost.wall for cost in costs) for costs in (ours, bare))
    pairs = list(zip(ours, bare, strict=True))
    wall = statistics.median(theirs.wall / mine.wall for mine, theirs in pairs)
    processor = statistics.median(theirs.processor / mine.processor for mine, theirs in pairs)
    name = f"ingestion of {len(texts)} chunks of {corpus.name}, chunks/s, the bare model in turn, ratio, of processor"
    return name, f"{speed:.0f}, {limit:.0f}, {wall:.2f}, {processor:.2f}", ">= 0.90"


def _cost(action: Callable[[], object]) -> Cost:
    wall, processor = time.perf_counter(), time.process_time()
    action()
    return Cost(time.perf_counter() - wall, time.process_time() - processor)


if __name__ == "__main__":
    main()
