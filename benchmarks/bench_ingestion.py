"""Rows of `make bench` for an ingestion, beside the bare embedding model on the same texts.

The two run in turn, so that a noisy machine bothers both alike. The ratio of the time of the processor, without that of
the process that parses PDF and the like, tells what an ingestion does beside embedding; reading and writing take turns
with it on the same cores.
"""

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from app.wiring import Parts, Services
from chains.ingestion.index import indexed_text

Row = tuple[str, str, str]

RUNS = 3


class Cost(NamedTuple):
    """Seconds on the clock, and of the processor."""

    wall: float
    processor: float


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
